/* options.c: the parser and the help text. */
#include "options.h"

#include "paritas_records.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool number_of_text(const char *text, double *number)
{
    /* the program never leaves the C locale, so strtod reads a point; what else it takes (nan, inf,
     * hexadecimal) is kept out here */
    if (text[0] == '\0' || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    char *end;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

/* Between a command and its operands, where it has any. */
static const char *blank_before(const struct command *command)
{
    return command->operands[0] != '\0' ? " " : "";
}

void usage_error(const struct command *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("paritas: ", stderr);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\nusage: paritas %s%s%s [options]; `paritas %s --help` lists them\n", command->name,
            blank_before(command), command->operands, command->name);
}

static const struct option *find_option(const struct command *command, const char *name, size_t length,
                                        char letter)
{
    for (const struct option_group *group = command->groups; group->options != NULL; group++)
        for (const struct option *option = group->options; option->name != NULL; option++) {
            if (letter != 0 && option->letter == letter) return option;
            if (letter == 0 && strlen(option->name) == length && memcmp(option->name, name, length) == 0)
                return option;
        }
    return NULL;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; length > 0; at++) {
        size_t span = strcspn(at, "|");
        if (span == length && memcmp(at, text, length) == 0) return true;
        at += span;
        if (*at == '\0') break;
    }
    return false;
}

/* Checks and converts the value of an option. */
static bool read_value(const struct command *command, struct given *given, char *text)
{
    const struct option *option = given->option;
    given->text = text;
    if (option->kind == OPTION_NUMBER && !number_of_text(text, &given->number)) {
        usage_error(command, "%s takes a number, not '%s'", option->name, text);
        return false;
    }
    if (option->kind == OPTION_COUNT) {
        bool digits = text[0] != '\0' && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 9;
        given->number = digits ? strtod(text, NULL) : 0.0;
        if (given->number < 1.0) {
            usage_error(command, "%s takes a whole number from 1 to 999999999, not '%s'", option->name, text);
            return false;
        }
    }
    if (option->kind == OPTION_WHOLE) {
        errno = 0;
        const bool digits = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
        given->whole = digits ? strtoull(text, NULL, 10) : 0;
        if (!digits || errno != 0) {
            usage_error(command, "%s takes a whole number, not '%s'", option->name, text);
            return false;
        }
    }
    if (option->kind == OPTION_CHOICE && !is_choice(option->value, text)) {
        usage_error(command, "%s takes %s, not '%s'", option->name, option->value, text);
        return false;
    }
    if (option->kind == OPTION_NAMED) {
        char *equals = strrchr(text, '=');
        if (equals == NULL || equals == text || !number_of_text(equals + 1, &given->number)) {
            usage_error(command, "%s takes %s with a number, not '%s'", option->name, option->value, text);
            return false;
        }
        *equals = '\0';
    }
    return true;
}

parse_outcome arguments_parse(const struct command *command, int argc, char **argv,
                              struct arguments *arguments)
{
    memset(arguments, 0, sizeof *arguments);
    arguments->command = command;
    arguments->operands = calloc((size_t)argc + 1, sizeof *arguments->operands);
    arguments->given = calloc((size_t)argc + 1, sizeof *arguments->given);
    if (arguments->operands == NULL || arguments->given == NULL) return PARSE_MEMORY;
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            arguments->operands[arguments->n_operands++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return PARSE_HELP;
        bool is_long = word[1] == '-';
        size_t length = is_long ? strcspn(word, "=") : 2;
        const struct option *option = find_option(command, word, length, is_long ? 0 : word[1]);
        if (option == NULL) {
            usage_error(command, "%s has no option %.*s", command->name, (int)length, word);
            return PARSE_WRONG;
        }
        struct given *given = &arguments->given[arguments->n_given++];
        given->option = option;
        char *attached = word[length] == '\0' ? NULL : word + length + is_long;
        if (option->kind == OPTION_FLAG) {
            if (attached == NULL) continue;
            usage_error(command, "%s takes no value", option->name);
            return PARSE_WRONG;
        }
        int wanted = option->kind == OPTION_PAIR ? 2 : attached == NULL;
        if (i + wanted >= argc || (wanted > 0 && strncmp(argv[i + 1], "--", 2) == 0) ||
            (attached != NULL && wanted == 2)) {
            usage_error(command, "%s needs a value: %s %s", option->name, option->name, option->value);
            return PARSE_WRONG;
        }
        if (!read_value(command, given, attached != NULL ? attached : argv[i + 1])) return PARSE_WRONG;
        if (wanted == 2) given->second = argv[i + 2];
        i += wanted;
    }
    if (arguments->n_operands < command->operands_min) {
        usage_error(command, "%s needs %s", command->name, command->operands);
        return PARSE_WRONG;
    }
    if (arguments->n_operands > command->operands_max) {
        usage_error(command, "%s takes %s; '%s' is one too many", command->name,
                    command->operands_max > 0 ? command->operands : "no operands",
                    arguments->operands[command->operands_max]);
        return PARSE_WRONG;
    }
    return PARSE_OK;
}

void arguments_free(struct arguments *arguments)
{
    free(arguments->operands);
    free(arguments->given);
}

const struct given *option_given(const struct arguments *arguments, const char *name)
{
    for (size_t i = arguments->n_given; i-- > 0;)
        if (strcmp(arguments->given[i].option->name, name) == 0) return &arguments->given[i];
    return NULL;
}

bool option_flag(const struct arguments *arguments, const char *name)
{
    return option_given(arguments, name) != NULL;
}

const char *option_text(const struct arguments *arguments, const char *name, const char *otherwise)
{
    const struct given *given = option_given(arguments, name);
    return given != NULL ? given->text : otherwise;
}

double option_number(const struct arguments *arguments, const char *name, double otherwise)
{
    const struct given *given = option_given(arguments, name);
    return given != NULL ? given->number : otherwise;
}

uint64_t option_whole(const struct arguments *arguments, const char *name, uint64_t otherwise)
{
    const struct given *given = option_given(arguments, name);
    return given != NULL ? given->whole : otherwise;
}

size_t option_count(const struct arguments *arguments, const char *name, size_t otherwise)
{
    const struct given *given = option_given(arguments, name);
    return given != NULL ? (size_t)given->number : otherwise;
}

int option_constant(const struct arguments *arguments, const char *name, const char *enumeration,
                    int otherwise)
{
    int value = otherwise;
    paritas_enumeration_value(paritas_enumeration_find(enumeration), option_text(arguments, name, ""),
                              &value);
    return value;
}

const struct given *option_next(const struct arguments *arguments, const char *name, size_t *at)
{
    while (*at < arguments->n_given) {
        const struct given *given = &arguments->given[(*at)++];
        if (strcmp(given->option->name, name) == 0) return given;
    }
    return NULL;
}

#define HELP_COLUMN 32
#define HELP_WIDTH 118

/* Text from `column`, wrapped at blanks. */
static void write_wrapped(const char *text, int column)
{
    int at = column;
    while (*text != '\0') {
        int span = (int)strcspn(text, " ");
        if (at > column && at + 1 + span > HELP_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", span, text);
        at += span;
        text += span;
        text += strspn(text, " ");
    }
    putchar('\n');
}

void help_write(const struct command *command)
{
    printf("usage: paritas %s%s%s [options]\n\n", command->name, blank_before(command), command->operands);
    write_wrapped(command->summary, 0);
    if (command->description != NULL) {
        putchar('\n');
        write_wrapped(command->description, 0);
    }
    for (const struct option_group *group = command->groups; group->options != NULL; group++) {
        printf("\n%s:\n", group->title);
        for (const struct option *option = group->options; option->name != NULL; option++) {
            int at = option->letter != 0 ? printf("  -%c, %s", option->letter, option->name)
                                         : printf("  %s", option->name);
            if (option->kind != OPTION_FLAG) at += printf(" %s", option->value);
            if (at >= HELP_COLUMN) at = printf("\n") - 1;
            printf("%*s", HELP_COLUMN - at, "");
            write_wrapped(option->help, HELP_COLUMN);
        }
    }
    printf("\nExit codes: 0 answered; 1 a fit did not converge; 2 wrong command line; 3 wrong input; 4 no "
           "such device; 5 output not "
           "written.\n");
}
