/* card.h: a CMS datacard, as read.
 *
 *   text ──► card_lines_read ──► card_read ──► struct card ──► card_workspace_make
 *            lines of words      meaning,      tables          JSON document
 *                                edits
 *
 * All of it lies in one arena. A refusal is INVALID_INPUT "FILE:LINE:COLUMN: reason". */
#pragma once

#include "base/expression.h"
#include "paritas_workspace.h"

#include <stdint.h>

#define CARD_NONE UINT32_MAX

struct card_word {
    const char *text;
    uint32_t column; /* of its first byte, from 1 */
};

struct card_line {
    struct card_line *next;
    uint32_t number; /* from 1 */
    uint32_t n;      /* words */
    struct card_word *words;
};

/* What a line has in one column. */
struct card_value {
    bool none;             /* "-", or without effect */
    bool two;              /* low/high */
    double low, high;      /* equal for one number */
    const char *histogram; /* in place of the nuisance's name, which an edit changed; NULL: the name */
};

enum card_law {
    CARD_LNN,
    CARD_LNU,
    CARD_GMN,
    CARD_GMM,
    CARD_TRG,
    CARD_UNIF,
    CARD_SHAPE,
    CARD_SHAPE_N,
    CARD_SHAPE_U,
    CARD_SHAPE_2, /* shape1, shape2: as CARD_SHAPE, in a wider range */
    CARD_SHAPE_OR_LNN,
    CARD_LAWS
};
extern const char *const card_law_names[CARD_LAWS];

struct card_parameter; /* card_workspace.h */

struct card_nuisance {
    struct card_nuisance *next;
    const struct card_line *line; /* where it was written */
    uint32_t first_word;          /* of its values in the line; CARD_NONE: made by an edit */
    const char *name;
    enum card_law law;
    double numbers[2]; /* gmN: N; unif: a, b */
    bool frozen;
    struct card_value *values;        /* one a column */
    struct card_parameter *parameter; /* while a workspace is made; NULL: without effect */
};

struct card_channel {
    const char *name;
    double observed;
    const struct card_word *observed_word; /* NULL: no line `observation` */
    bool fake, counts;                     /* counts: yields stand in the card */
    bool monte_carlo;                      /* has a line autoMCStats */
    bool with_signal;
    double threshold;
    int mode;
    uint32_t n_bins; /* 0: not known yet */
};

struct card_column {
    uint32_t channel;
    const char *process;
    bool signal;
    const struct card_poi *poi; /* that scales it; NULL: none */
    bool off;                   /* a map scales it by 0 */
    double rate;
    uint32_t word; /* of the tables' lines */
};

/* A parameter of interest. */
struct card_poi {
    struct card_poi *next;
    const char *name;
    double start, lower, upper;
    bool fixed; /* without a range */
};

struct card_shapes {
    struct card_shapes *next;
    const struct card_line *line;
    const char *process, *channel, *file;
    const char *nominal, *systematic; /* NULL: not given */
};

/* A factor of processes, or an argument of formulas (pattern NULL). */
struct card_rate {
    struct card_rate *next;
    const struct card_line *line;
    const char *name;
    const char *channel, *process; /* patterns */
    const char *formula;           /* NULL: a value */
    const char **arguments;        /* of the formula */
    uint32_t n_arguments;
    struct expression expression; /* its names: arguments in use */
    bool open, known;             /* while values are found: is being found, is found */
    bool constant;                /* extArg [const] */
    bool frozen;                  /* by an edit */
    double start, lower, upper;   /* bounds: NaN if not given; start of a formula: its value */
    double widths[2];             /* param: below and above; 0: no constraint */
};

enum card_count { CARD_IMAX, CARD_JMAX, CARD_KMAX, CARD_COUNTS };

struct card {
    paritas_context *context;
    struct arena *arena;
    const char *path; /* for messages */
    bool exact;       /* without Combine's roundings */
    struct card_line *lines;
    const struct card_line *counts[CARD_COUNTS];
    const struct card_line *observation, *bins, *columns_bin, *columns_process, *columns_number, *rate;
    struct card_channel *channels;
    struct card_column *columns;
    struct card_poi *pois; /* in their order; of interest is the first, or one after the other */
    uint32_t n_channels, n_columns, n_nuisance_lines;
    struct card_shapes *shapes;
    struct card_nuisance *nuisances;
    struct card_rate *rates;
    bool edited; /* so the number of nuisances does not count */
};

/* ---- text (card_text.c) ---- */

paritas_status card_lines_read(struct card *card, const char *text, size_t length);
/* Refuses a word of a line; CARD_NONE: the line. */
paritas_status card_refuse(const struct card *card, const struct card_line *line, uint32_t word,
                           const char *format, ...) PRINTF_LIKE(4, 5);
/* A finite number as people write it: "5.", "+.5", "1e-3". Reads all of the text, or returns false. */
bool card_number(const char *text, double *value);
/* Names become JSON, so they must be UTF-8. */
paritas_status card_check_name(const struct card *card, const struct card_line *line, uint32_t word);
bool card_same(const char *a, const char *b);      /* NULL is like no text */
bool card_same_word(const char *a, const char *b); /* upper and lower case alike */
/* Text of `length` bytes, or all; NULL: out of memory, as all functions that return texts. */
char *card_copy(struct card *card, const char *text);
/* "-", "--": nothing in this column */
bool card_is_dash(const char *text);
/* Rounds as printing with 6 digits does, and with 6 decimals. */
double card_six_digits(double value);
double card_six_decimals(double value);
/* A number as Combine keeps it; as it is, if the card is exact. */
enum card_rounding { CARD_SIX_DIGITS, CARD_SIX_DECIMALS, CARD_SINGLE };
double card_rounded(const struct card *card, enum card_rounding rounding, double value);

/* ---- patterns (card_pattern.c) ---- */

bool card_matches_wildcard(const char *pattern, const char *text); /* "*", "?", "[ab]" */
enum card_match { CARD_MATCHES, CARD_DIFFERS, CARD_NO_PATTERN };
/* A regular expression on the whole text; "*" matches all. NO_PATTERN: not understood, or too long to try. */
enum card_match card_matches_expression(const char *expression, const char *text);

/* ---- meaning ---- */

/* Fills the card from its lines, and applies its edits. */
paritas_status card_read(struct card *card);
paritas_status card_read_tables(struct card *card); /* card_tables.c */
/* Decides what scales each process (card_maps.c). */
paritas_status card_maps_apply(struct card *card, const paritas_names *maps);
/* Has the process a rate, or could a count of 0 give it one? (card_parameters.c) */
bool card_is_present(const struct card *card, uint32_t column);
paritas_status card_check_nuisance_count(const struct card *card);
paritas_status card_read_nuisance(struct card *card, const struct card_line *line); /* card_nuisances.c */
paritas_status card_read_rate(struct card *card, const struct card_line *line);     /* card_rates.c */
paritas_status card_read_argument(struct card *card, const struct card_line *line); /* param, extArg */
paritas_status card_read_auto_stats(struct card *card, const struct card_line *line);
paritas_status card_edit(struct card *card, const struct card_line *line); /* card_edits.c */
bool card_is_edit(const struct card_line *line);                           /* card_read.c */
/* One column's value of a law: "-", "1.1", "0.9/1.1". */
paritas_status card_read_value(struct card *card, const struct card_line *line, uint32_t word,
                               enum card_law law, struct card_value *value);
bool card_law_of(const char *text, enum card_law *law);
bool card_is_shape(enum card_law law);
/* Formulas (card_formulas.c): reads one, with its arguments "a,b" in the next word. */
paritas_status card_read_formula(struct card *card, struct card_rate *rate, uint32_t word);
/* A param or extArg has the value, range and law of rateParams of its name. */
void card_join_rates(struct card *card); /* card_rates.c */
/* Finds the values of all formulas. */
paritas_status card_find_values(struct card *card);
/* The formula with names in place of @0, @1. */
paritas_status card_formula_text(struct card *card, const struct card_rate *rate, const char **text);
struct card_rate *card_rate_named(const struct card *card, const char *name);
/* A nuisance without values; NULL: out of memory. */
struct card_nuisance *card_add_nuisance(struct card *card, const struct card_line *line, const char *name,
                                        enum card_law law);
/* "k" and "[nofloat]" apart; a digit in front gets "theta". */
const char *card_parameter_name(struct card *card, const char *text);
