/* workspaces.h: workspaces to try: random ones with every modifier, and the published analyses. Knows no test
 * framework. */
#ifndef PARITAS_TESTS_FIT_WORKSPACES_H
#define PARITAS_TESTS_FIT_WORKSPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* splitmix64: the same numbers on every machine. */
struct random {
    uint64_t state;
};
uint64_t random_next(struct random *random);
double random_uniform(struct random *random, double low, double high);
double random_normal(struct random *random);
/* 0 .. n-1 */
unsigned random_below(struct random *random, unsigned n);

/* What a random workspace may contain. */
enum workspace_traits {
    TRAIT_WIDE = 1, /* channels of more than 8 and 16 bins */
    /* several gammas a bin: staterror and shapesys, on the same and on different samples */
    TRAIT_SETS = 2,
    TRAIT_FREE_SHAPE = 4, /* shapefactors, one of them in channels of different lengths */
    TRAIT_LUMI = 8,
    TRAIT_DEAD = 16,  /* bins without rate or uncertainty */
    TRAIT_ZEROS = 32, /* zero and fractional counts */
    TRAIT_NO_POI = 64,
    TRAIT_ALL = 127,
    TRAIT_CODES = 128,  /* interpolations of their own; takes no draw */
    TRAIT_LAWS = 256,   /* constraints beyond pyhf's; takes no draw */
    TRAIT_MCSTAT = 512, /* errors that add to rates, in most channels */
    TRAIT_CARDS = 1024  /* what datacards ask of normsys, histosys and samples; takes no draw */
};

/* JSON text of workspace `seed` with some of `traits`; the caller frees it. NULL: no memory. */
char *random_workspace(uint64_t seed, unsigned traits);

/* Few bins, few events, large uncertainties, many to one side; samples without events, empty bins, a
 * parameter of interest that may be negative. Minima often lie where a rate is 0. As random_workspace. */
char *nasty_workspace(uint64_t seed);

/* A workspace whose signal is `scale` times an ordinary one, with every kind of modifier on it; the
 * background's shapes vary as little. */
char *tiny_workspace(double scale);

/* Few bins and 130 constrained parameters: a Hessian costs much more than a gradient. */
char *costly_workspace(uint64_t seed);

/* A published analysis: a file and perhaps a patch. */
struct published {
    const char *name, *path, *patch;
    bool large; /* more than 100 parameters */
};
extern const struct published published[];
extern const size_t n_published;

#endif
