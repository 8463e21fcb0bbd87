/* options.h: command lines from tables: parser, checks, --help, docs/command-line.md. */
#pragma once

#include "option_tables.h"

#define EXIT_NOT_CONVERGED 1
#define EXIT_USAGE 2
#define EXIT_INPUT 3
#define EXIT_DEVICE 4
#define EXIT_OUTPUT 5

struct given {
    const struct option *option;
    const char *text; /* value; NAMED: the name; PAIR: the first word */
    const char *second;
    double number, upper; /* NUMBER, PART, COUNT, NAMED; RANGE: both */
    uint64_t whole;
    int choice; /* CHOICE: index of the word */
};

struct arguments {
    const struct command *command;
    const char **operands;
    size_t n_operands;
    struct given *given;
    size_t n_given;
    struct given *defaults;
    size_t n_defaults;
};

typedef enum parse_outcome { PARSE_OK, PARSE_HELP, PARSE_WRONG, PARSE_MEMORY } parse_outcome;

/* Borrows values from argv and splits NAME=V there. WRONG: told on stderr. Always call arguments_free. */
parse_outcome arguments_parse(const struct command *command, int argc, char **argv,
                              struct arguments *arguments);
void arguments_free(struct arguments *arguments);
/* Checks `needs`; else prints to stderr. */
bool options_complete(const struct arguments *arguments);
void usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of several, the last counts. NULL: not given. */
const struct given *argument_given(const struct arguments *arguments, const char *name);
/* The same, or the default. */
const struct given *argument_value(const struct arguments *arguments, const char *name);

/* Plain finite decimal number. */
bool number_of_text(const char *text, double *number);

void help_write(const struct command *command);
