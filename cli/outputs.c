/* outputs.c: compares what is written with what is read. */
#include "outputs.h"
#include "base/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files that are not there yet are the same if their paths are, behind links. */
static bool same_file(const char *a, const char *b)
{
    struct platform_info one, other;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    const bool there = platform_info(a, &one), is_there = platform_info(b, &other);
    if (there != is_there) return false;
    if (there) return one.kind == PLATFORM_FILE && one.volume == other.volume && one.number == other.number;
    char *real = platform_behind_links(a), *other_real = platform_behind_links(b);
    const bool same = real && other_real && strcmp(real, other_real) == 0;
    free(real);
    free(other_real);
    return same;
}

static bool refuse(const struct arguments *arguments, const char *name, const char *path, const char *as)
{
    usage_error(arguments->command,
                "%s %s: the command %s that file, and would write over it: give another name", name, path,
                as);
    return false;
}

/* LABEL=CARD is a file, too. */
static bool is_operand(const char *operand, const char *path)
{
    const char *equals = platform_exists(operand) ? NULL : strchr(operand, '=');
    return same_file(operand, path) || (equals && same_file(equals + 1, path));
}

static bool is_apart(const struct arguments *arguments, const struct given *output)
{
    const char *name = output->option->name, *path = output->text;
    for (size_t i = 0; i < arguments->n_operands && !arguments->command->in_place; i++)
        if (is_operand(arguments->operands[i], path)) return refuse(arguments, name, path, "reads");
    for (const struct given *given = arguments->given; given < arguments->given + arguments->n_given;
         given++) {
        const enum option_kind kind = given->option->kind;
        if (given->option == output->option || !same_file(given->text ? given->text : "-", path)) continue;
        if (kind == OPTION_INPUT || kind == OPTION_FILE) return refuse(arguments, name, path, "reads");
        if (kind == OPTION_OUTPUT) return refuse(arguments, name, path, "keeps something else in");
    }
    return true;
}

bool outputs_apart(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->n_given; i++)
        if (arguments->given[i].option->kind == OPTION_OUTPUT && !is_apart(arguments, &arguments->given[i]))
            return false;
    return true;
}

paritas_status refuse_read_output(struct session *session)
{
    struct platform_info info;
    const struct arguments *arguments = session->arguments;
    for (const struct given *given = arguments->given; given < arguments->given + arguments->n_given; given++)
        if (given->option->kind == OPTION_OUTPUT && platform_info(given->text, &info) &&
            paritas_has_read(session->context, &info))
            return usage_failure(session,
                                 "%s %s: histograms of the datacard are in that file, and would be lost: "
                                 "give another name",
                                 given->option->name, given->text);
    return PARITAS_OK;
}
