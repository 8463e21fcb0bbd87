/* toy_fits.h: toys of an ensemble with free fits: rows of a FITS store.
 *
 *   expected data ─► toy_fits_open: their fit, near which toys' fits end ─► store, ensemble
 *   toy_fits_run: stored rows, then chunks of toys ─► fit ─► errors ─► `see` ─► store, caller */
#pragma once

#include "minima/infer.h"
#include "toys/toy_runner.h"
#include "store/store.h"

/* Set by the caller; all borrowed. */
struct toy_fits_options {
    const paritas_toys_options *toys;
    const char *what;       /* command, for the store's key */
    const double *expected; /* what toys are drawn around */
    const double *start;    /* of the fit to `expected` */
    unsigned flags;
    /* gets every toy once; unknown vectors are NULL */
    void (*see)(void *user, const struct store_fit *fit);
    void *see_user;
    paritas_toy_fits_taker take; /* gets newly fitted toys; NULL allowed */
    void *take_user;
};

struct toy_fits {
    struct infer *infer;
    struct toy_fits_options options;
    struct ensemble ensemble;
    struct store *store; /* NULL allowed */
    paritas_toys_tally tally;
};

/* Finds expected data, in the arena. fix_aux: auxiliary data as observed. */
paritas_status toy_fits_expect(struct infer *infer, const paritas_toys_options *options, const double *point,
                               double **expected);
/* The polished best fit, where toys are drawn. In the arena. */
paritas_status toy_fits_best(struct infer *infer, struct infer_profile *profile, const double **point);

/* Close it even after a failure. */
paritas_status toy_fits_open(struct toy_fits *fits, struct infer *infer,
                             const struct toy_fits_options *options);
void toy_fits_close(struct toy_fits *fits);
paritas_status toy_fits_run(struct toy_fits *fits);
