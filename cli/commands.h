/* commands.h: all commands, in the overview's order. To add one: command_NAME.c and a line here. */
#pragma once

#include "options.h"

/* clang-format off: one a line */
#define COMMAND_LIST(COMMAND)    \
    COMMAND(fit)                 \
    COMMAND(nll)                 \
    COMMAND(scan)                \
    COMMAND(contour)             \
    COMMAND(hypotest)            \
    COMMAND(hypotest_toys)       \
    COMMAND(toys)                \
    COMMAND(generate)            \
    COMMAND(limit)               \
    COMMAND(interval)            \
    COMMAND(significance)        \
    COMMAND(look_elsewhere)      \
    COMMAND(ranking)             \
    COMMAND(sample)              \
    COMMAND(gof)                 \
    COMMAND(compatibility)       \
    COMMAND(predict)             \
    COMMAND(simplify)            \
    COMMAND(unfold)              \
    COMMAND(inspect)             \
    COMMAND(digest)              \
    COMMAND(sort)                \
    COMMAND(combine)             \
    COMMAND(prune)               \
    COMMAND(rename)              \
    COMMAND(convert)             \
    COMMAND(patchset)            \
    COMMAND(merge)               \
    COMMAND(devices)             \
    COMMAND(parity)              \
    COMMAND(bench)               \
    COMMAND(losscone_fit)        \
    COMMAND(losscone_profile)    \
    COMMAND(losscone_synthesize) \
    COMMAND(losscone_inject)     \
    COMMAND(kappa_fit)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command command_##name;
COMMAND_LIST(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* ended by NULL */
extern const struct command *const commands[];

/* Replaces the library's names in back quotes (`resume`, `n`) by options (--resume, --ntoys), in
 * message[0..room): by those of the command (NULL: none) first. */
char *name_options(const struct command *command, size_t room, char *message);
#define NAME_OPTIONS(command, message) name_options(command, sizeof(message), message)
