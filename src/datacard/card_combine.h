/* card_combine.h: several cards become one, as a text.
 *
 *   cards ──► card_read ──► struct combination ──► header, shapes, tables ──► card_combine.c
 *                                             ──► nuisances, other lines  ──► card_combine_lines.c
 *
 * Words are carried over as they are written. Only channels get other names, and files other paths. */
#pragma once

#include "datacard/card.h"
#include "base/json/json.h"

/* One card of a combination. */
struct card_part {
    struct card card;
    const char *label;
    const char **names;    /* new ones of its channels */
    uint32_t first_column; /* among all */
};

/* A nuisance of some of the cards: one line. */
struct card_joined {
    struct card_joined *next;
    const struct card_part *part; /* that has it first */
    const struct card_part *last; /* whose values it has taken: a second line of that card is another line */
    const struct card_line *line;
    const char *name, *law, *key; /* key: the name without [nofloat] */
    const char **values;          /* one a column; NULL: none */
};

struct combination {
    paritas_context *context;
    struct arena *arena;
    struct card_part *parts;
    size_t n_parts;
    const char *folder; /* of the combined card; NULL: the working folder */
    uint32_t n_channels, n_columns;
    const char **channels, **processes, **numbers, **rates; /* one a column */
    struct card_joined *nuisances;
    struct text *out;
};

/* Fills `nuisances` from the lines of all cards (card_combine_lines.c). */
paritas_status card_nuisances_join(struct combination *all);
/* Writes a name, its law and what stands before the values into `room` bytes. */
void card_joined_head(const struct card_joined *joined, size_t room, char *text);
/* Writes the other lines below `rate`, then the edits. */
paritas_status card_lines_carry(struct combination *all);

/* ---- card_combine_paths.c ---- */

/* A file of histograms, seen from the folder of the combined card. NULL: out of memory. */
const char *card_path_moved(const struct combination *all, const struct card_part *part, const char *file);
/* `text` with the channel's name in place of $CHANNEL. NULL: out of memory. */
const char *card_without_channel(const struct combination *all, const char *text, const char *channel);
