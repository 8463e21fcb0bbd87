/* commands.h: every command, in the order of the overview. */
#ifndef PARITAS_CLI_COMMANDS_H
#define PARITAS_CLI_COMMANDS_H

#include "options.h"

#define COMMAND_LIST(X)                                                                                     \
    X(fit)                                                                                                  \
    X(nll)                                                                                                  \
    X(scan)                                                                                                 \
    X(hypotest)                                                                                             \
    X(hypotest_toys)                                                                                        \
    X(toys)                                                                                                 \
    X(limit)                                                                                                \
    X(significance) X(ranking) X(gof) X(predict) X(inspect) X(digest) X(sort) X(combine) X(prune) X(rename) \
        X(patchset) X(merge) X(devices) X(parity) X(bench) X(losscone_fit) X(losscone_profile)              \
            X(losscone_synthesize) X(losscone_inject) X(kappa_fit)

#define X(name) extern const struct command command_##name;
COMMAND_LIST(X)
#undef X

#endif
