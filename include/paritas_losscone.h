/* paritas_losscone.h: surface potentials of the Moon from loss cones of electrons, as Lunar Prospector's
 * Electron Reflectometer saw them.
 *
 * Electrons that come down along a magnetic field line are reflected, but for those whose pitch angle lies in
 * the loss cone, which the field's growth towards the surface and the surface's potential U open: at energy E
 * and spacecraft potential V the cone's edge has sin^2(alpha) = r (1 + U / (E - V)), r = field at the
 * spacecraft / field at the surface (Halekas et al., J. Geophys. Res. 113 (2008) A09102, par. 37; Lillis et
 * al., 2008). Inside the cone only a background is left; a beam of electrons that the surface accelerates may
 * stand along the field.
 *
 * The misfit is a step function of (U, r), so its minimum is not a point but a polygon, the plateau: what
 * data can say of U and r is the extent of that polygon. The exact search knows neither start nor seed.
 * Proven is: without a beam, that no point has a lesser misfit, but for plateaus narrower than rounding; with
 * a beam, that no plateau which it left out can have one, whatever its beam, while U and A of the best beam
 * within a plateau are numerical, by descents from a scan. In f64 to 1e-6 (1 + misfit), on devices in f32 to
 * 2e-5 (1 + misfit). Cells at right angles to the field are in no cone: those with cosines from -1e-8 on, in
 * f32 from -2e-4.
 *
 * Arrays: a sweep has PARITAS_SWEEP_ENERGIES rows of PARITAS_SWEEP_CELLS cells, sweep by sweep, row by row.
 * The rules of paritas.h hold.
 */
#ifndef PARITAS_LOSSCONE_H
#define PARITAS_LOSSCONE_H

#include "paritas.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_SWEEP_ENERGIES 15
#define PARITAS_SWEEP_CELLS 88

/* ---- loss cones: data --------------------------------------------------------------------------- */

/* Sweeps to be fitted. All arrays are borrowed. */
typedef struct paritas_sweeps {
    size_t n;
    const double *energy; /* n x 15: eV. A row of an energy that is not a positive number is masked */
    /* n x 15: of the spacecraft, V. A row where it is NaN, or above the energy, is masked */
    const double *potential;
    const double *cosine; /* n x 15 x 88: of the pitch angle; above 0: incident. NaN: masked */
    /* n x 15 x 88: normalised. What is not a positive number up to 1e12 is masked: squares of larger ones
     * would drown all else */
    const double *flux;
} paritas_sweeps;

/* How fluxes are made comparable between energies.
 *   ratio   divided by the mean of the row's valid incident cells
 *   max     by the largest of them
 *   pairs   each reflected cell by the incident one at the mirrored pitch angle */
#define PARITAS_NORMALISATION_LIST(X) \
    X(RATIO, 0, "ratio")              \
    X(MAX, 1, "max")                  \
    X(PAIRS, 2, "pairs")
typedef enum paritas_normalisation {
#define X(name, value, word) PARITAS_NORMALISE_##name = value,
    PARITAS_NORMALISATION_LIST(X)
#undef X
} paritas_normalisation;

/* Misfits.
 *   halekas  sum of the squared differences of ln(flux + 1e-6) and ln(model + 1e-6)
 *   lillis   mean square difference of flux and model, over the cells whose flux is between 0.07 and 0.79 of
 *            the row's largest incident one */
#define PARITAS_LOSSCONE_METHOD_LIST(X) \
    X(HALEKAS, 0, "halekas")            \
    X(LILLIS, 1, "lillis")
typedef enum paritas_losscone_method {
#define X(name, value, word) PARITAS_##name = value,
    PARITAS_LOSSCONE_METHOD_LIST(X)
#undef X
} paritas_losscone_method;

/* What the instrument does to the edge of the cone.
 *   hard    nothing: the row's energy is the electrons' energy
 *   folded  the model is averaged over five energies across the instrument's response, +-25 % of the energy;
 *           without beam */
#define PARITAS_RESPONSE_LIST(X) \
    X(HARD, 0, "hard")           \
    X(FOLDED, 1, "folded")
typedef enum paritas_response {
#define X(name, value, word) PARITAS_RESPONSE_##name = value,
    PARITAS_RESPONSE_LIST(X)
#undef X
} paritas_response;

/* How the minimum is found.
 *   exact  branch and bound: the global minimum, proven up to the result's gap (see above for beams and f32)
 *   de     differential evolution, best/1/bin with F = 0.5, CR = 0.9, from one Sobol set and 400 points of a
 *          Latin hypercube: the usual way, and it can miss. A sweep ends after
 *          10 generations that together gained less than 1e-5 of its misfit */
#define PARITAS_LOSSCONE_SEARCH_LIST(X) \
    X(EXACT, 0, "exact")                \
    X(DE, 1, "de")
typedef enum paritas_losscone_search {
#define X(name, value, word) PARITAS_SEARCH_##name = value,
    PARITAS_LOSSCONE_SEARCH_LIST(X)
#undef X
} paritas_losscone_search;

/* Options of all functions on loss cones. Start from PARITAS_LOSSCONE_OPTIONS_DEFAULT. */
typedef struct paritas_losscone_options {
    size_t size;
    paritas_losscone_method method;
    paritas_response response;
    paritas_losscone_search search;
    double potential_lower, potential_upper; /* bounds of U, V */
    double ratio_lower, ratio_upper;         /* of r */
    double amplitude_lower, amplitude_upper; /* of the beam's amplitude; equal: fixed, both 0: no beam */
    double beam_width;                       /* eV; at least 1e-3, or 0: no beam */
    double beam_sigma;                       /* degrees */
    double background;                       /* model inside the cone; above 0 */
    double response_width;                   /* half width of the energy response, as a part of the energy */
    /* of the exact search, a sweep; what is left unproven then is in the result's gap */
    unsigned box_limit;
    /* of de and of the bootstrap; keyed by the number of the sweep, so that batches do not matter */
    uint64_t seed;
    uint64_t first;                   /* number of the first sweep given */
    unsigned population, generations; /* of de: 4 to 1024, and up to 1000000 */
} paritas_losscone_options;
#define PARITAS_LOSSCONE_OPTIONS_DEFAULT \
    {sizeof(paritas_losscone_options),   \
     PARITAS_HALEKAS,                    \
     PARITAS_RESPONSE_HARD,              \
     PARITAS_SEARCH_EXACT,               \
     -2000.0,                            \
     20.0,                               \
     0.3,                                \
     1.1,                                \
     0.0,                                \
     5.0,                                \
     15.0,                               \
     7.5,                                \
     0.05,                               \
     0.25,                               \
     20000,                              \
     42,                                 \
     0,                                  \
     50,                                 \
     500}

/* ---- loss cones: fits --------------------------------------------------------------------------- */

/* Outcome of a sweep. Numbers exist with FITTED, MISFIT and AT_LIMIT only. */
#define PARITAS_SWEEP_LIST(X)                                            \
    X(FITTED, 0, "fitted")                                               \
    X(NO_CELLS, 1, "no_cells")           /* none is left by the masks */ \
    X(TOO_FEW_CELLS, 2, "too_few_cells") /* Lillis: below 5 */           \
    X(MISFIT, 3, "misfit")               /* Lillis: above 2 */           \
    X(AT_LIMIT, 4, "at_limit")           /* of boxes (see the gap) or generations */
typedef enum paritas_sweep_status {
#define X(name, value, word) PARITAS_SWEEP_##name = value,
    PARITAS_SWEEP_LIST(X)
#undef X
} paritas_sweep_status;

#define PARITAS_PLATEAU_VERTICES 16

typedef struct paritas_losscone_result {
    paritas_sweep_status status;
    unsigned cells; /* how many entered the misfit */
    /* at the minimum: of Halekas the sum, of Lillis divided by (cells - 3) */
    double misfit;
    /* a point of the minimum. Where exact, the plateau's centre, unless a beam makes the misfit change within
     * the plateau: where it is least */
    double potential, ratio, amplitude;
    /* of the plateau, what recovers the truth best: the centre of gravity in r and r U; of de the point */
    double potential_centre, ratio_centre;
    /* extent of the plateau; of de, which knows none, the point */
    double potential_lower, potential_upper;
    double ratio_lower, ratio_upper;
    /* misfit may be lower by no more than this: 0 where proven to 1e-6 (1 + misfit), in f32 to 2e-5 (1 +
     * misfit); NaN of de */
    double gap;
    /* bounded; plateaus evaluated. Of de: evaluations, generations */
    unsigned boxes, solved;
    unsigned vertices;                          /* of the plateau; where it has more, the first 16 */
    double vertex[PARITAS_PLATEAU_VERTICES][2]; /* U, r, around the plateau */
} paritas_losscone_result;

PARITAS_API const char *paritas_losscone_method_name(paritas_losscone_method method); /* "halekas", ... */
PARITAS_API const char *paritas_response_name(paritas_response response);
PARITAS_API const char *paritas_losscone_search_name(paritas_losscone_search search);
PARITAS_API const char *paritas_sweep_status_name(paritas_sweep_status status); /* "fitted", ... */

/* Fits every sweep; results: n. `options` may be NULL. */
PARITAS_API paritas_status paritas_losscone_fit(paritas_context *context, const paritas_sweeps *sweeps,
                                                const paritas_losscone_options *options,
                                                paritas_losscone_result *results);

/* Where the misfit, minimised over r and A, is at most the minimum + a threshold: up to 8 intervals of U. */
#define PARITAS_CONFIDENCE_INTERVALS 8
typedef struct paritas_confidence {
    double threshold; /* above the minimum, in units of the misfit */
    /* more than 8 are joined at the narrowest breaks */
    unsigned intervals;
    double lower[PARITAS_CONFIDENCE_INTERVALS], upper[PARITAS_CONFIDENCE_INTERVALS];
    /* the set reaches a bound of U: one-sided, or with both unidentifiable on that side */
    int at_lower_bound, at_upper_bound;
} paritas_confidence;

/* Confidence sets around results that paritas_losscone_fit found exactly. thresholds: n; NULL: 4 s^2, with
 * s^2 = misfit / (cells - 3) of each sweep (of Lillis: 4 misfit / (cells - 3)). sets: n. Resolution `step`
 * apart from the plateau, which always belongs: V; 0: 1 V, with the folded response, whose plateaus are that
 * narrow, 0.2 V; more where bounds are very wide. */
PARITAS_API paritas_status paritas_losscone_confidence(paritas_context *context, const paritas_sweeps *sweeps,
                                                       const paritas_losscone_options *options,
                                                       const paritas_losscone_result *results,
                                                       const double *thresholds, double step,
                                                       paritas_confidence *sets);

/* Thresholds for confidence sets of coverage `level` by the parametric bootstrap: each of `draws` times the
 * model at the plateau's centre (and the best amplitude there) with noise of the size of the residuals is
 * fitted anew, and the misfit at the true U above its minimum noted; the threshold is the level's quantile.
 * Of a draw whose search reached the limit of boxes the largest is noted that it may be, so that thresholds
 * are then too high rather than too low. thresholds: n, NaN where there is no fit. */
PARITAS_API paritas_status paritas_losscone_bootstrap(paritas_context *context, const paritas_sweeps *sweeps,
                                                      const paritas_losscone_options *options,
                                                      const paritas_losscone_result *results, unsigned draws,
                                                      double level, double *thresholds);

/* The misfit's least value over r and A at each of n_potentials values of U, exact but for slivers of r below
 * 2e-6. misfit: n x n_potentials; ratio, amplitude: the same, or NULL. */
PARITAS_API paritas_status paritas_losscone_profile(paritas_context *context, const paritas_sweeps *sweeps,
                                                    const paritas_losscone_options *options,
                                                    size_t n_potentials, const double *potentials,
                                                    double *misfit, double *ratio, double *amplitude);

/* ---- loss cones: the model ---------------------------------------------------------------------- */

/* The misfit of every sweep at every one of n_points points (U, r, A), by the formula, cell by cell: n x
 * n_points, NaN where no or too few cells are left. cells: n, or NULL. */
PARITAS_API paritas_status paritas_losscone_misfit(paritas_context *context, const paritas_sweeps *sweeps,
                                                   const paritas_losscone_options *options, size_t n_points,
                                                   const double *points, double *misfit, unsigned *cells);
/* The model of sweep k at points[k] (U, r, A): n x 15 x 88. Fluxes of the sweeps are not looked at. edge: n x
 * 15, the cone's angle alpha in degrees (hard response only), or NULL. */
PARITAS_API paritas_status paritas_losscone_model(paritas_context *context, const paritas_sweeps *sweeps,
                                                  const paritas_losscone_options *options,
                                                  const double *points, double *model, double *edge);
/* Cosines of pitch angles from directions of cells and the field in one frame. theta: 88 inclinations in
 * degrees; field: n x 15 x 3; polarity: n x 15, +1 or -1, else the row is NaN (NULL: -1 everywhere); azimuth:
 * n x 15 x 88 in degrees. cosine: n x 15 x 88. In f64 on every device. */
PARITAS_API paritas_status paritas_losscone_cosines(paritas_context *context, size_t n, const double *theta,
                                                    const double *field, const double *polarity,
                                                    const double *azimuth, double *cosine);
/* Fluxes normalised, and masked for a method (negative and other fluxes that the method does not take become
 * NaN). flux: measured, NaN where there is none. normalised: may be flux. */
PARITAS_API paritas_status paritas_losscone_normalise(paritas_context *context, size_t n,
                                                      paritas_normalisation normalisation,
                                                      const double *cosine, const double *flux,
                                                      double *normalised);
PARITAS_API paritas_status paritas_losscone_mask(paritas_context *context, size_t n,
                                                 paritas_losscone_method method, const double *cosine,
                                                 const double *flux, double *normalised);

/* ---- loss cones: beams -------------------------------------------------------------------------- */

/* A beam of electrons that comes up along the field. Numbers exist where one was found. */
typedef struct paritas_beam {
    int found;
    unsigned row;  /* of its energy */
    double energy; /* eV */
    double ratio;  /* mean normalised flux there */
    /* of the surface if its electrons started at rest there: the spacecraft's less energy, V */
    double potential;
} paritas_beam;

/* Looks for a beam in every sweep: beams n. Means are taken of the normalised fluxes at pitch angles from 150
 * degrees on (at least 5 cells; zeros count, NaN and negative fluxes do not). The highest of the rows from 20
 * to 500 eV is a beam if it is at least 2 and 1.2 times both neighbours in energy, one of which is at least
 * 1.5, if no more than 4 rows in succession reach half of it, and if the mean above 400 eV and twice its
 * energy is at most half of it. On the host. */
PARITAS_API paritas_status paritas_losscone_beam(paritas_context *context, const paritas_sweeps *sweeps,
                                                 paritas_beam *beams);

#ifdef __cplusplus
}
#endif
#endif
