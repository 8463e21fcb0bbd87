/* options.h: command lines from tables. A command lists groups of options; parsing, checking and --help all
 * read the same tables. */
#ifndef PARITAS_CLI_OPTIONS_H
#define PARITAS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_NOT_CONVERGED 1
#define EXIT_USAGE 2
#define EXIT_INPUT 3
#define EXIT_DEVICE 4
#define EXIT_OUTPUT 5

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_INPUT,  /* a file that is read; "-" is standard input */
    OPTION_NUMBER, /* finite */
    OPTION_COUNT,  /* a whole number from 1 */
    OPTION_WHOLE,  /* a whole number below 2^64 */
    OPTION_NAMED,  /* NAME=NUMBER */
    OPTION_PAIR,   /* two words */
    OPTION_CHOICE  /* one of `value`, which lists them between bars */
} option_kind;

struct option {
    const char *name; /* "--mu"; NULL ends a table */
    char letter;      /* 'j' for -j; 0: none */
    option_kind kind;
    const char *value; /* what the help calls the value */
    const char *help;
};

struct option_group {
    const char *title;
    const struct option *options;
};

struct session;

#define GROUPS_MAX 8
struct command {
    const char *name;
    const char *operands; /* "WORKSPACE", for the usage line */
    size_t operands_min, operands_max;
    const char *summary;                    /* one line, for the overview */
    const char *description;                /* more, for --help; may be NULL */
    struct option_group groups[GROUPS_MAX]; /* ended by one without options */
    int (*run)(struct session *session);    /* a paritas_status */
    /* runs over days that are alike: memory of one is kept for the next */
    bool days;
};

/* One option as given. */
struct given {
    const struct option *option;
    const char *text;   /* value; NAMED: the name, ended at '='; PAIR: the first word */
    const char *second; /* PAIR */
    double number;      /* NUMBER, COUNT, NAMED */
    uint64_t whole;     /* WHOLE */
};

struct arguments {
    const struct command *command;
    const char **operands;
    size_t n_operands;
    struct given *given; /* in the order of the command line */
    size_t n_given;
};

typedef enum parse_outcome { PARSE_OK, PARSE_HELP, PARSE_WRONG, PARSE_MEMORY } parse_outcome;

/* Parses what follows the command's name. Values are borrowed from argv, which is changed (NAME=V is split).
 * WRONG: a sentence and a hint are on stderr. Freed by arguments_free in any case. */
parse_outcome arguments_parse(const struct command *command, int argc, char **argv,
                              struct arguments *arguments);
void arguments_free(struct arguments *arguments);
/* A usage error found after parsing: prints sentence and hint. */
void usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of several, the last counts. */
const struct given *option_given(const struct arguments *arguments, const char *name); /* NULL: not given */
bool option_flag(const struct arguments *arguments, const char *name);
const char *option_text(const struct arguments *arguments, const char *name, const char *otherwise);
double option_number(const struct arguments *arguments, const char *name, double otherwise);
uint64_t option_whole(const struct arguments *arguments, const char *name, uint64_t otherwise);
size_t option_count(const struct arguments *arguments, const char *name, size_t otherwise);
/* The constant of an enumeration ("paritas_minimizer") that a choice names. */
int option_constant(const struct arguments *arguments, const char *name, const char *enumeration,
                    int otherwise);
/* Walks the repetitions of an option: start with *at = 0; NULL after the last. */
const struct given *option_next(const struct arguments *arguments, const char *name, size_t *at);

/* A finite number in plain decimal notation, nothing else. */
bool number_of_text(const char *text, double *number);

void help_write(const struct command *command);

#endif
