/* option_tables.h: tables of options and commands. To add an option: one row. Options of the library's
 * structs have their rows from its lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paritas_context.h"

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_INPUT,  /* "-": standard input */
    OPTION_FILE,   /* read, or a word in its place */
    OPTION_OUTPUT, /* written; "-": standard output */
    OPTION_NUMBER, /* finite */
    OPTION_COUNT,  /* integer from 1 */
    OPTION_WHOLE,  /* integer below 2^64 */
    OPTION_PART,   /* in (0, 1) */
    OPTION_NAMED,  /* NAME=NUMBER */
    OPTION_HELD,   /* the same, or NAME, whose number is NaN */
    OPTION_PAIR,
    OPTION_RANGE, /* LO:HI, or one number */
    OPTION_CHOICE /* one of the words in `value`, between bars */
} option_kind;

struct option {
    const char *name; /* "--mu"; NULL: end of table */
    option_kind kind;
    const char *value; /* shown in help */
    const char *help;
    const char *otherwise; /* default in the help; NULL: none */
    const char *needs;     /* requires this option: "--store FILE" */
    char letter;           /* 'j' for -j; 0: none */
    const char *library;   /* "paritas_losscone_options": its list says kind, value, help and default */
    const char *words;     /* "paritas_test_statistic": a choice of its words, by default the first */
};

/* All rows of a list, or one: LIBRARY_ROWS(PARITAS_LOSSCONE_OPTIONS, paritas_losscone_options). options_take
 * (session.h) reads their values. */
#define LIBRARY_ROWS(LIST, S) LIST(OPTION_ROW, OTHER_ROW, S){.name = ""}
#define LIBRARY_ROW(word, S) {.name = word, .library = #S}
#define QUICK_ROW {"--quick", OPTION_FLAG, NULL, "use only the usual start for every fit, as --starts 1"}
#define OPTION_ROW(S, type, member, otherwise, lower, upper, word, unit, doc) LIBRARY_ROW(word, S),
#define OTHER_ROW(S, type, member, doc)

struct option_group {
    const char *title;
    const struct option *options;
    const char *needs;   /* required by all options: "--toys", or "--calc toys" for that value */
    const char *without; /* options that this command does not take, between bars: "--shard|--store" */
};

struct session;
struct table;
struct writer;

/* Several parameters of interest: refused; an answer for each, with the others free; one answer of all. */
enum several_pois { POIS_ONE, POIS_IN_TURN, POIS_TOGETHER };

/* An analysis of one model, or of each patch of a set.
 *
 *   command line ─► check ─► model, data ─► analyse ─► write_keys (JSON), write_text or write_cells */
struct analysis {
    size_t result_size;
    bool needs_poi;
    enum several_pois several; /* what several --poi ask for */
    /* Checks beyond the tables of options; may be NULL. */
    paritas_status (*check)(struct session *session);
    /* Fills `result` (cleared before). Notes failed fits. Patch sets: several threads, a session each;
     * `result` may not point into it. */
    paritas_status (*analyse)(struct session *session, void *result);
    /* Called once before the answers to several toys: what all of them share, into session->prepared. May be
     * NULL. */
    paritas_status (*prepare)(struct session *session);
    /* Writes keys into an open object, one line a patch; write_provenance's follow. */
    void (*write_keys)(struct session *session, struct writer *writer, const void *result);
    void (*write_text)(struct session *session, const void *result);
    /* of a patch's row, behind `quantity` of the data; NULL: takes no patch set */
    const char *headers, *formats;
    const char *(*quantity)(const struct session *session);
    void (*write_cells)(struct table *table, const void *result);
    /* of a patch's line of --csv: keys of its JSON, between bars; "limit_exp*5": five numbers. `error` says
     * why a patch failed */
    const char *columns;
};

/* Index of a text among choices between bars; -1: it is none. */
int option_choice(const char *choices, const char *text);
/* Does the group of a command take the option? Members without a word have rows without a name. */
bool group_takes(const struct option_group *group, const struct option *option);
#define EACH_OPTION(command, group, option)                                             \
    for (const struct option_group *group = (command)->groups; group->options; group++) \
        for (const struct option *option = group->options; option->name; option++)      \
            if (group_takes(group, option))

#define GROUPS_MAX 10
struct command {
    const char *name;
    const char *operands; /* "WORKSPACE"; "[WORKSPACE]": optional; "STORE...": one or more */
    size_t operands_most; /* at most so many; 0: as `operands` says */
    const char *summary;
    const char *description;                /* may be NULL */
    struct option_group groups[GROUPS_MAX]; /* the last has no options */
    int (*run)(struct session *session);    /* a paritas_status; NULL: an analysis */
    struct analysis analysis, by_toys;      /* by_toys: --calc toys */
    bool in_place;                          /* the answer may replace the operand */
    bool whole_sets;                        /* takes a patch set as a whole; an analysis by its cells */
    /* runs over many days: recycles memory */
    bool days;
};

/* By name, or by letter if not 0; NULL: none. */
const struct option *find_option(const struct command *command, const char *name, size_t length, char letter);
/* Has the option the word of the next one, its upper end? */
bool is_range(const paritas_option *option);
/* What the row's list says of it; NULL: the row is the program's own. */
const paritas_option *option_of_library(const struct option *row);
