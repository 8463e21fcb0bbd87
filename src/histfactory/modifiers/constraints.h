/* constraints.h: the laws of kernels/histfactory/histfactory_constraints.h on the host: their words, and the
 * data that they expect. */
#pragma once

#include "histfactory/histfactory_constraints.h"

#include <stdbool.h>
#include <stddef.h>

/* m(y): the mean of a measurement, of a count over tau. */
struct hf_scale {
    double (*mean)(double y);
    double (*slope)(double y, double turn); /* dm/dx where dy/dx is `turn` */
    double (*inverse)(double mean);         /* y */
    double (*inverse_slope)(double mean);
};

struct hf_constraint_kind {
    const char *word, *inspected;
    enum hf_datum datum;
    enum hf_domain domain;
    int row; /* of AFFINE; 0: a law of x */
    const struct hf_scale *scale;
};

/* Laws by hf_constraint. */
extern const struct hf_constraint_kind hf_constraint_kinds[HF_CONSTRAINT_COUNT];

/* Finds the first law of a word: of x, if there is one. HF_CONSTRAINT_COUNT: there is none. */
hf_constraint hf_constraint_of_word(const char *word);
/* Finds the law of the same word whose numbers are given: of y, if there is one. */
hf_constraint hf_constraint_given(hf_constraint constraint);
/* Words of laws for messages, as "a", "b" or "c": all, or those that `has` is true of. Returns `text`. */
const char *hf_constraint_words(bool (*has)(hf_constraint constraint), const char *last, char text[96]);
