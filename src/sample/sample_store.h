/* sample_store.h: a run of chains in a file, so that it can go on after a kill.
 *
 *   run.npz ── key, key_values      texts: what the draws depend on
 *           ├─ parameters           names
 *           ├─ values               a row a draw: chain after chain
 *           ├─ fields, draws        names of paritas_draw's members, and a row of them a draw
 *           └─ state                a row a chain: the sampler's
 *
 * The file is replaced in one step, so it is always whole. PATH-lock has the lock against a second run. */
#pragma once

#include "minima/infer.h"
#include "paritas_sample.h"

struct store_run;

struct sample_store {
    paritas_context *context;
    const char *path; /* NULL: nothing is kept */
    char *lock_path;
    int lock; /* -1: not held */
    struct store_run *run;
    const paritas_sample_options *options;
    const paritas_sample_answers *answers;
    double *states; /* chains x state_size */
    size_t state_size, n_parameters;
    size_t kept; /* draws of a chain that there are rows for: the file's, if it was read */
    double due;  /* when the next copy is due */
};

/* Opens the store that `options` name, if any. With `resume` it fills states, parameters and draws from an
 * existing file; *found: there was one. Close it even after a failure. INVALID_ARGUMENT: the file exists
 * without `resume`, or another run made it; INVALID_INPUT: it is damaged; UNWRITABLE. */
paritas_status sample_store_open(struct infer *infer, const paritas_sample_options *options,
                                 const paritas_sample_answers *answers, double *states,
                                 struct sample_store *store, bool *found);
/* Writes the file, if that is due or must be `now`. */
paritas_status sample_store_keep(struct sample_store *store, bool now);
void sample_store_close(struct sample_store *store);

/* What the draws of a run depend on, in the arena of `infer` (sample_key.c). */
paritas_status sample_key_make(struct infer *infer, const paritas_sample_options *options,
                               struct store_run **run);
/* Compares the entries that a file names with those of this run: INVALID_ARGUMENT, with the differences. */
paritas_status sample_key_check(paritas_context *context, const char *path, const struct store_run *run,
                                const struct store_run *there);
