/* toy_fits.h: toys of an ensemble with free fits: rows of a FITS store.
 *
 *   expected data ─► toy_fits_open: their fit, near which toys' fits end ─► store, ensemble
 *   toy_fits_run: stored rows, then chunks of toys ─► fit ─► errors ─► `see` ─► store, caller */
#pragma once

#include "minima/infer.h"
#include "toys/toy_runner.h"
#include "store/store.h"

#define TOY_FITS_PURPOSE 2 /* random stream; tests use 0 and 1 */

/* Set by the caller; all borrowed. */
struct toy_fits_options {
    const paritas_toys_options *toys;
    const char *what;       /* command, for the store's key */
    const double *expected; /* what toys are drawn around */
    const double *start;    /* of the fit to `expected` */
    unsigned flags;
    const char *algo; /* entry of the store's key, what `measure` finds; NULL: none */
    /* Statistics of n toys by data and fitted parameters, in place of the saturated one. NULL allowed. */
    paritas_status (*measure)(void *user, size_t n, const double *data, const double *parameters,
                              double *statistics);
    /* gets every toy once; unknown vectors are NULL */
    void (*see)(void *user, const struct store_fit *fit);
    void *see_user;              /* of `measure`, too */
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
/* The polished best fit, where toys are drawn. In the arena. `place`: its likelihood is not read. */
paritas_status toy_fits_best(struct infer *infer, struct infer_profile *profile, bool place,
                             const double **point);

/* Is it one place, with flags of `allowed` alone? Is a point of finite numbers? */
paritas_status toy_request_check(paritas_context *context, const paritas_model *model,
                                 const paritas_toys_request *request, unsigned allowed);

/* Close it even after a failure. */
paritas_status toy_fits_open(struct toy_fits *fits, struct infer *infer,
                             const struct toy_fits_options *options);
void toy_fits_close(struct toy_fits *fits);
paritas_status toy_fits_run(struct toy_fits *fits);
