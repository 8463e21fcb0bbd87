/* toy_fits.h: toys of one ensemble, each with its free fit: rows of a store of the kind FITS.
 *
 *   expected data ─► toy_fits_open: the fit to them, near which toys' fits end ─► store, ensemble
 *   toy_fits_run: rows that the store has, then chunks of toys ─► fit ─► errors ─► `see` ─► store, caller */
#ifndef PARITAS_INFER_TOY_FITS_H
#define PARITAS_INFER_TOY_FITS_H

#include "infer/infer.h"
#include "infer/toy_runner.h"
#include "store/store.h"

/* What the caller sets; all is borrowed. */
struct toy_fits_options {
    const paritas_toys_options *toys;
    const char *what;       /* the command, in the store's key */
    const double *expected; /* n_data: what the toys are drawn around */
    const double *start;    /* of the fit to it */
    unsigned flags;         /* PARITAS_TOYS_... */
    /* every toy once; its vectors are NULL where they are not known */
    void (*see)(void *user, const struct store_fit *fit);
    void *see_user;
    paritas_toy_fits_taker take; /* toys that this call fits; NULL: none */
    void *take_user;
};

struct toy_fits {
    struct infer *infer;
    struct toy_fits_options options;
    struct ensemble ensemble;
    struct store *store; /* NULL: none */
    paritas_toys_tally tally;
};

/* What is expected at a point, in the arena; auxiliary data as observed where fix_aux. */
paritas_status toy_fits_expect(struct infer *infer, const paritas_toys_options *options, const double *point,
                               double **expected);
/* The best fit to the base job's data as closely as numbers allow, in the arena: the point that toys are
 * drawn at. */
paritas_status toy_fits_best(struct infer *infer, struct infer_profile *profile, const double **point);

/* Close it also after a failure. */
paritas_status toy_fits_open(struct toy_fits *fits, struct infer *infer,
                             const struct toy_fits_options *options);
void toy_fits_close(struct toy_fits *fits);
paritas_status toy_fits_run(struct toy_fits *fits);

#endif
