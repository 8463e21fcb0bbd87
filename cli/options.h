/* options.h: command lines from tables. A command lists groups of options. Parsing, checks, --help and
 * docs/command-line.md all come from the same rows: a new option is one row. */
#ifndef PARITAS_CLI_OPTIONS_H
#define PARITAS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paritas_context.h"

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
    OPTION_PART,   /* a number between 0 and 1 */
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
    const char *otherwise; /* the default, shown by --help; NULL: none */
    const char *needs;     /* "--store FILE": this option must be given too */
};

struct option_group {
    const char *title;
    const struct option *options;
    const char *needs; /* of all its options: "--toys", or "--calc toys" for this value of --calc */
};

struct session;
struct table;
struct writer;

/* What a command computes for one model, or for each patch of a patch set.
 *
 *   command line ─► check ─► model, data ─► analyse ─► write_keys (JSON), write_text, or write_cells (a row)
 */
struct analysis {
    size_t result_size;
    bool needs_poi;
    /* What the tables of options cannot say of a command line; NULL: nothing. */
    paritas_status (*check)(struct session *session);
    /* Answers for the session's model and job into `result`, which is cleared. Notes what did not converge.
     * Of a patch set: called from several threads, each with a session; the result may not point into it. */
    paritas_status (*analyse)(struct session *session, void *result);
    /* The command's keys, into an open object; write_provenance's follow. In one line a patch. */
    void (*write_keys)(struct session *session, struct writer *writer, const void *result);
    void (*write_text)(struct session *session, const void *result);
    /* Columns and cells of a row a patch; NULL: the command takes no patch set. */
    const char *headers, *formats;
    void (*write_cells)(struct table *table, const void *result);
};

#define GROUPS_MAX 8
struct command {
    const char *name;
    const char *operands;    /* "WORKSPACE", "[WORKSPACE]": may be missing, "STORE...": one or more */
    size_t operands_most;    /* fewer than `operands` says; 0: what it says */
    const char *summary;     /* one line, for the overview */
    const char *description; /* more, for --help; may be NULL */
    struct option_group groups[GROUPS_MAX]; /* ended by one without options */
    int (*run)(struct session *session);    /* a paritas_status; NULL: the command is an analysis */
    struct analysis analysis, by_toys;      /* by_toys: with --calc toys */
    /* runs over many days: keeps memory of one for the next */
    bool days;
};

/* One option as given, or its default. */
struct given {
    const struct option *option;
    const char *text;   /* value; NAMED: the name, ended at '='; PAIR: the first word */
    const char *second; /* PAIR */
    double number;      /* NUMBER, PART, COUNT, NAMED */
    uint64_t whole;     /* WHOLE */
    int choice;         /* CHOICE: its place among the words, from 0 */
};

struct arguments {
    const struct command *command;
    const char **operands;
    size_t n_operands;
    struct given *given; /* in the order of the command line */
    size_t n_given;
    struct given *defaults; /* of options with one */
    size_t n_defaults;
};

typedef enum parse_outcome { PARSE_OK, PARSE_HELP, PARSE_WRONG, PARSE_MEMORY } parse_outcome;

/* Parses what follows the command's name. Values are borrowed from argv, which is changed (NAME=V is split).
 * WRONG: a sentence and a hint are on stderr. Freed by arguments_free in any case. */
parse_outcome arguments_parse(const struct command *command, int argc, char **argv,
                              struct arguments *arguments);
void arguments_free(struct arguments *arguments);
/* An option of a command by its name, or by its letter where that is not 0; NULL: it has none. */
const struct option *find_option(const struct command *command, const char *name, size_t length, char letter);
/* Do the options go together (`needs`)? Else a sentence is on stderr. */
bool options_complete(const struct arguments *arguments);
/* A usage error found after parsing: prints sentence and hint. */
void usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of several, the last counts. */
const struct given *option_given(const struct arguments *arguments, const char *name); /* NULL: not given */
/* The option as given, else its default; NULL where it has none. */
const struct given *option_value(const struct arguments *arguments, const char *name);
/* The same of options whose default is found at run time. */
bool option_flag(const struct arguments *arguments, const char *name);
const char *option_text(const struct arguments *arguments, const char *name, const char *otherwise);
double option_number(const struct arguments *arguments, const char *name, double otherwise);
uint64_t option_whole(const struct arguments *arguments, const char *name, uint64_t otherwise);
size_t option_count(const struct arguments *arguments, const char *name, size_t otherwise);
/* The constant of an enumeration ("paritas_minimizer") that a choice names. */
int option_constant(const struct arguments *arguments, const char *name, const char *enumeration,
                    int otherwise);
/* The next repetition of an option; start with *at = 0. NULL after the last. */
const struct given *option_next(const struct arguments *arguments, const char *name, size_t *at);

/* The place of a word among those between bars, from 0; -1: it is none of them. */
int option_choice(const char *choices, const char *text);
/* A finite number in plain decimal notation, nothing else. */
bool number_of_text(const char *text, double *number);

void help_write(const struct command *command);

#endif
