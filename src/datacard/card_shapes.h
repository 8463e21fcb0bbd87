/* card_shapes.h: histograms that a card names. */
#pragma once

#include "datacard/card.h"

struct root_file;

struct card_file {
    struct card_file *next;
    const char *path; /* as the card says */
    struct root_file *file;
};

/* The line and the file of a process in a channel. */
struct card_place {
    uint32_t channel, column;
    const struct card_shapes *shapes; /* NULL: of none yet */
    struct root_file *file;           /* NULL: not known, or another for each nuisance */
};

struct card_files {
    struct card *card;
    const char *mass;
    struct card_file *first;
    struct card_place last; /* asked for: a process has many histograms */
};

/* As Combine takes it in: contents in single precision, without underflow and overflow. */
struct card_template {
    uint32_t n_bins;
    double *bins;
    double *errors;  /* NULL: of a variation */
    double integral; /* of the contents as they were */
    double sum;      /* of `bins` */
};

enum card_direction { CARD_NOMINAL, CARD_UP, CARD_DOWN };

/* `column` CARD_NONE: the data. */
struct card_wanted {
    uint32_t channel, column;
    const struct card_nuisance *nuisance;
    enum card_direction direction;
};

/* The line `shapes` of a process in a channel; NULL: none. */
const struct card_shapes *card_shapes_find(const struct card *card, const char *channel, const char *process);
/* Whether the process' histogram depends on $MASS. */
bool card_shapes_has_mass(const struct card *card, const char *channel, const char *process);
paritas_status card_template_read(struct card_files *files, const struct card_wanted *wanted,
                                  struct card_template *made);
paritas_status card_template_exists(struct card_files *files, const struct card_wanted *wanted, bool *exists);
void card_files_close(struct card_files *files);
