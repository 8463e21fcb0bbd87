/* paritas_losscone.h: surface potentials of the Moon from loss cones of electrons, as Lunar Prospector's
 * Electron Reflectometer saw them.
 *
 * Electrons come down along a magnetic field line and are reflected, except those in the loss cone. At energy
 * E and spacecraft potential V the edge of the cone is at the pitch angle alpha with
 *
 *   sin^2(alpha) = r (1 + U / (E - V))
 *
 *   r   field at the spacecraft / field at the surface
 *   U   potential of the surface
 *
 * (Halekas et al., J. Geophys. Res. 113 (2008) A09102, par. 37; Lillis et al., 2008). Inside the cone only a
 * background is left. A beam of electrons that the surface accelerates may stand along the field.
 *
 * The misfits halekas and lillis are step functions of (U, r). Their minimum is a polygon, the plateau, not a
 * point: the data cannot tell its points apart. The misfit of counts is smooth, so its plateau is one point.
 * The exact search has no start and no seed. It proves:
 *   without a beam   no point has a lower misfit, except on plateaus narrower than rounding
 *   with a beam      all other plateaus have misfits at least as large, with any beam. U and A of the best
 *                    beam within a plateau are numerical: descents from a scan
 * The proof holds to 1e-6 (1 + misfit) in f64, and to 2e-5 (1 + misfit) in f32 on devices, of counts to 1e-4.
 * Cells at right angles to the field are in no cone: cosines from -1e-8 on, in f32 from -2e-4.
 *
 * A sweep has up to 32 energies (rows), each with up to 512 directions (cells), of any instrument.
 * Arrays go sweep by sweep, row by row. The rules of paritas.h hold.
 */
#ifndef PARITAS_LOSSCONE_H
#define PARITAS_LOSSCONE_H

#include "paritas_fit.h"
#include "paritas_sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sweeps and options ------------------------------------------------------------------------- */

#define PARITAS_CHANNEL_ENERGIES 5 /* of the folded edge, a row */

/* Sweeps to be fitted. All arrays are borrowed. */
typedef struct paritas_sweeps {
    size_t size;
    size_t n;
    const double *energy;    /* n x rows: eV. A row is masked unless its energy is a positive number */
    const double *potential; /* n x rows: of the spacecraft, V. NaN, or above the energy: the row is masked */
    const double *cosine;    /* n x rows x cells: of the pitch angle; above 0: incident. NaN: masked */
    /* n x rows x cells: normalised flux. Masked unless it is a positive number up to 1e12: the squares of
     * larger ones would drown all others */
    const double *flux;
    /* n x rows x 5: energies of each row's channel over the row's energy, falling, by
     * paritas_losscone_channels. The folded edge is their mean. NULL, or a row that does not fall: 1 +
     * response_width {1, 1/2, 0, -1/2, -1} */
    const double *channel;
    /* n x rows x cells: counts that a normalised flux of 1 stands for. They tell confidence sets and the
     * bootstrap which cells are noisy; residuals tell the size of the noise. NULL, or not above 0: unknown */
    const double *counts;
    const double *background; /* n x rows: normalised flux that was subtracted; NULL: none */
    /* n: standard deviation of the spacecraft's potential, V, that confidence sets allow for. NULL, or not a
     * positive number: known exactly */
    const double *potential_error;
    size_t rows, cells; /* up to 32 and 512; 0: 15 and 88, Lunar Prospector's */
    /* n x rows x cells: measured counts, background included. With them and `counts` the folded edge has a
     * likelihood of counts. NULL: none; NaN, or above 1e12: the cell is masked there */
    const double *measured;
    /* n: least relative scatter of cells beyond counting: from calibration, and from counts stored coarsely.
     * NULL, or not a positive number: 0.015 */
    const double *scatter;
} paritas_sweeps;
#define PARITAS_SWEEPS_DEFAULT PARITAS_INIT(paritas_sweeps)

/* How fluxes are made comparable between energies. */
#define PARITAS_NORMALISATION_LIST(ITEM)                                                                   \
    ITEM(PARITAS_NORMALISATION_RATIO, 0, "ratio", "divided by the mean of the row's valid incident cells") \
    ITEM(PARITAS_NORMALISATION_MAX, 1, "max", "divided by the largest of them")                            \
    ITEM(PARITAS_NORMALISATION_PAIRS, 2, "pairs",                                                          \
         "each reflected cell divided by the incident one at the mirrored pitch angle")
typedef enum paritas_normalisation { PARITAS_NORMALISATION_LIST(PARITAS_ENUMERATOR) } paritas_normalisation;

/* Misfits. */
#define PARITAS_LOSSCONE_METHOD_LIST(ITEM)                                                                \
    ITEM(PARITAS_LOSSCONE_METHOD_HALEKAS, 0, "halekas",                                                   \
         "sum of squared differences of ln(flux + 1e-6) and ln(model + 1e-6)")                            \
    ITEM(PARITAS_LOSSCONE_METHOD_LILLIS, 1, "lillis",                                                     \
         "mean square difference of flux and model, over cells with a flux between 0.07 and 0.79 of the " \
         "row's largest incident one")                                                                    \
    ITEM(PARITAS_LOSSCONE_METHOD_COUNTS, 2, "counts",                                                     \
         "deviance of measured counts from the channel's response; folded edge, exact search")            \
    ITEM(PARITAS_LOSSCONE_METHOD_AUTO, 3, "auto",                                                         \
         "counts for the folded edge of sweeps with measured counts, else halekas")
typedef enum paritas_losscone_method {
    PARITAS_LOSSCONE_METHOD_LIST(PARITAS_ENUMERATOR)
} paritas_losscone_method;

/* What the instrument does to the edge of the cone. */
#define PARITAS_LOSSCONE_RESPONSE_LIST(ITEM)                                                         \
    ITEM(PARITAS_LOSSCONE_RESPONSE_HARD, 0, "hard", "nothing: electrons have the energy of the row") \
    ITEM(PARITAS_LOSSCONE_RESPONSE_FOLDED, 1, "folded",                                              \
         "the model is averaged over five energies within response_width of the row's energy; no beam")
typedef enum paritas_losscone_response {
    PARITAS_LOSSCONE_RESPONSE_LIST(PARITAS_ENUMERATOR)
} paritas_losscone_response;

/* How the minimum is found.
 *   exact  branch and bound: the global minimum, proven up to the result's gap
 *   de     differential evolution, best/1/bin with F = 0.5, CR = 0.9, from one Sobol set and 400 points of a
 *          Latin hypercube. It can miss the minimum. A sweep ends after 10 generations that together gained
 *          less than 1e-5 of its misfit */
#define PARITAS_LOSSCONE_SEARCH_LIST(ITEM)                                   \
    ITEM(PARITAS_LOSSCONE_SEARCH_EXACT, 0, "exact", "proven global minimum") \
    ITEM(PARITAS_LOSSCONE_SEARCH_DE, 1, "de", "differential evolution")
typedef enum paritas_losscone_search {
    PARITAS_LOSSCONE_SEARCH_LIST(PARITAS_ENUMERATOR)
} paritas_losscone_search;

#define PARITAS_LOSSCONE_FIT_OPTIONS(OPTION, OTHER, S)                                                      \
    OPTION(S, paritas_losscone_method, method, PARITAS_LOSSCONE_METHOD_AUTO, PARITAS_NO_BOUND,              \
           PARITAS_NO_BOUND, "--method", "",                                                                \
           "misfit of logarithms of the flux, or of the flux between 0.07 and 0.79 of the incident")        \
    OPTION(S, paritas_losscone_response, response, PARITAS_LOSSCONE_RESPONSE_HARD, PARITAS_NO_BOUND,        \
           PARITAS_NO_BOUND, "", "", "what the instrument does to the edge of the cone")                    \
    OPTION(S, paritas_losscone_search, search, PARITAS_LOSSCONE_SEARCH_EXACT, PARITAS_NO_BOUND,             \
           PARITAS_NO_BOUND, "--search", "", "proven global minimum, or differential evolution")            \
    OPTION(S, double, potential_lower, -2000.0, PARITAS_FROM(-1e6), PARITAS_TO(1e6), "--potential-lower",   \
           "V", "lower bound of the surface potential U")                                                   \
    OPTION(S, double, potential_upper, 20.0, PARITAS_FROM(-1e6), PARITAS_TO(1e6), "--potential-upper", "V", \
           "upper bound of U")                                                                              \
    OPTION(S, double, ratio_lower, 0.3, PARITAS_FROM(1e-6), PARITAS_TO(1e3), "--ratio-lower", "",           \
           "lower bound of the ratio r of the field at the spacecraft to that at the surface")              \
    OPTION(S, double, ratio_upper, 1.1, PARITAS_FROM(1e-6), PARITAS_TO(1e3), "--ratio-upper", "",           \
           "upper bound of r")                                                                              \
    OPTION(S, double, amplitude_lower, 0.0, PARITAS_FROM(0.0), PARITAS_TO(1e3), "--amplitude-lower", "",    \
           "lower bound of the beam's amplitude")                                                           \
    OPTION(S, double, amplitude_upper, 5.0, PARITAS_FROM(0.0), PARITAS_TO(1e3), "--amplitude-upper", "",    \
           "its upper bound; equal bounds fix the amplitude; both 0: no beam")                              \
    OPTION(S, double, beam_width, 15.0, PARITAS_ZERO_OR_FROM(1e-3), PARITAS_NO_BOUND, "--beam-width", "eV", \
           "width of the beam in energy; 0: no beam")                                                       \
    OPTION(S, double, beam_sigma, 7.5, PARITAS_FROM(0.0), PARITAS_NO_BOUND, "--beam-sigma", "degrees",      \
           "width of the beam in pitch angle; 0: all angles")                                               \
    OPTION(S, double, background, 0.05, PARITAS_ABOVE(0.0), PARITAS_TO(1.0), "--background", "",            \
           "normalised flux inside the cone")                                                               \
    OPTION(S, double, response_width, 0.25, PARITAS_FROM(0.0), PARITAS_BELOW(1.0), "--response-width", "",  \
           "half width of the energy response, as a part of the energy")                                    \
    OPTION(S, unsigned, box_limit, 20000, PARITAS_FROM(1), PARITAS_NO_BOUND, "--box-limit", "",             \
           "boxes of the exact search, a sweep; the gap says what is then unproven")                        \
    OPTION(S, uint64_t, seed, 42, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--seed", "",                         \
           "seed of de and of the bootstrap")                                                               \
    OPTION(S, uint64_t, first, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                               \
           "number of the first sweep given: a sweep has the same random numbers in any batch")             \
    OPTION(S, unsigned, population, 50, PARITAS_FROM(4), PARITAS_TO(1024), "--population", "",              \
           "population size of de")                                                                         \
    OPTION(S, unsigned, generations, 500, PARITAS_NO_BOUND, PARITAS_TO(1000000), "--generations", "",       \
           "generations of de, at most")
#define PARITAS_LOSSCONE_SET_OPTIONS(OPTION, OTHER, S)                                                      \
    OPTION(S, double, potential_errors, 2.0, PARITAS_FROM(0.0), PARITAS_TO(10.0), "--potential-errors", "", \
           "sets allow for this many standard errors of a spacecraft potential from the plasma")
#define PARITAS_LOSSCONE_OPTIONS(OPTION, OTHER, S) \
    PARITAS_LOSSCONE_FIT_OPTIONS(OPTION, OTHER, S) PARITAS_LOSSCONE_SET_OPTIONS(OPTION, OTHER, S)

/* Options of all functions on loss cones. Start from PARITAS_LOSSCONE_OPTIONS_DEFAULT. */
typedef struct paritas_losscone_options {
    size_t size;
    PARITAS_LOSSCONE_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_losscone_options;
#define PARITAS_LOSSCONE_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_losscone_options, PARITAS_LOSSCONE_OPTIONS)

/* ---- fits --------------------------------------------------------------------------------------- */

/* Outcome of a sweep. Numbers exist with FITTED, MISFIT and AT_LIMIT only. */
#define PARITAS_SWEEP_STATUS_LIST(ITEM)                                                           \
    ITEM(PARITAS_SWEEP_FITTED, 0, "fitted", "the minimum was found")                              \
    ITEM(PARITAS_SWEEP_NO_CELLS, 1, "no_cells", "the masks leave no cell")                        \
    ITEM(PARITAS_SWEEP_TOO_FEW_CELLS, 2, "too_few_cells", "lillis: fewer than 5 cells")           \
    ITEM(PARITAS_SWEEP_MISFIT, 3, "misfit", "lillis: a misfit above 2")                           \
    ITEM(PARITAS_SWEEP_AT_LIMIT, 4, "at_limit", "the limit of boxes or generations; see the gap") \
    ITEM(PARITAS_SWEEP_TOO_FEW_ROWS, 5, "too_few_rows",                                           \
         "counts: cells of one row, which do not tell U from r")
typedef enum paritas_sweep_status { PARITAS_SWEEP_STATUS_LIST(PARITAS_ENUMERATOR) } paritas_sweep_status;

/* What speaks against a fit. The flags of a fit are added up; 0: the fit is good.
 *
 * Noise: cells of a row are ordered by pitch angle, incident ones as they are given. Neighbours to which the
 * model gives one level differ by noise alone (Rice, Ann. Statist. 12 (1984) 1215): noise^2 is half their
 * mean squared difference.
 * Edge: the evidence is (N ln(L / M) - k ln N) / 2 (Schwarz, Ann. Statist. 6 (1978) 461). N cells, the misfit
 * L of two levels a row, the cone's misfit M and its k parameters enter. The levels pay nothing for their
 * freedom. If polarity is wrong, the hole is among the incident cells, and the levels win.
 * Other model: it wins by the same measure, by more than ln N. */
#define PARITAS_QUALITY_FLAG_LIST(ITEM)                                                                     \
    ITEM(PARITAS_QUALITY_NO_FIT, 1, "no_fit", "the sweep has no fit; its status says why")                  \
    ITEM(PARITAS_QUALITY_AT_LIMIT, 2, "at_limit", "the search ended at its limit: the minimum is unproven") \
    ITEM(PARITAS_QUALITY_POTENTIAL_AT_BOUND, 4, "potential_at_bound",                                       \
         "the plateau reaches a bound of U, and the truth may lie beyond")                                  \
    ITEM(PARITAS_QUALITY_RATIO_AT_BOUND, 8, "ratio_at_bound",                                               \
         "the plateau comes within 0.01 of a bound of r; of the upper bound only with its centre within "   \
         "0.05; of counts: the lower bound lies within one standard error of r, too")                       \
    ITEM(PARITAS_QUALITY_AMPLITUDE_AT_BOUND, 16, "amplitude_at_bound",                                      \
         "the amplitude is at its upper bound, and half of it fits worse by more than 4 s^2")               \
    ITEM(PARITAS_QUALITY_MISFIT, 32, "misfit",                                                              \
         "the misfit is more than twice what the noise and a model good to 10 % allow")                     \
    ITEM(PARITAS_QUALITY_NO_EDGE, 64, "no_edge",                                                            \
         "two levels a row, one for each hemisphere, describe the sweep as well as a cone does")            \
    ITEM(PARITAS_QUALITY_FILLED_CONE, 128, "filled_cone",                                                   \
         "fluxes in the cone are nearer 1 than the background: there is no hole")                           \
    ITEM(PARITAS_QUALITY_OTHER_MODEL, 256, "other_model", "the other model of the instrument fits better")  \
    ITEM(PARITAS_QUALITY_SMEARED_EDGE, 512, "smeared_edge",                                                 \
         "of counts: cells at the edge differ from the model by more than 12 % of the incident flux, with " \
         "the hard edge all reflected cells by more than 5 %: the field's direction may be wrong")          \
    ITEM(PARITAS_QUALITY_FEW_ROWS, 1024, "few_rows",                                                        \
         "reflected cells of no more energies than U and r are free: they fit any cone")
typedef enum paritas_quality_flag { PARITAS_QUALITY_FLAG_LIST(PARITAS_ENUMERATOR) } paritas_quality_flag;

#define PARITAS_PLATEAU_VERTICES 16

#define PARITAS_LOSSCONE_RESULT_FIELDS(FIELD, R)                                                             \
    FIELD(R, paritas_sweep_status, status, , "status", "", "outcome of the sweep")                           \
    FIELD(R, unsigned, cells, , "cells", "", "cells that entered the misfit")                                \
    FIELD(R, double, misfit, , "misfit", "", "at the minimum; of lillis divided by (cells - 3)")             \
    FIELD(R, double, potential_centre, , "potential", "V",                                                   \
          "U at the plateau's centre of gravity, the best estimate; of de its point")                        \
    FIELD(R, double, potential_lower, , "potential_lower", "V", "least U of the plateau; of de its point")   \
    FIELD(R, double, potential_upper, , "potential_upper", "V", "largest U of the plateau; of de its point") \
    FIELD(R, double, ratio_centre, , "ratio", "", "r at the plateau's centre of gravity; of de its point")   \
    FIELD(R, double, ratio_lower, , "ratio_lower", "", "least r of the plateau; of de its point")            \
    FIELD(R, double, ratio_upper, , "ratio_upper", "", "largest r of the plateau; of de its point")          \
    FIELD(R, double, potential, , "potential_at_minimum", "V",                                               \
          "U where a beam makes the misfit least within the plateau; else the centre")                       \
    FIELD(R, double, ratio, , "ratio_at_minimum", "", "r there")                                             \
    FIELD(R, double, amplitude, , "amplitude", "", "of the beam there")                                      \
    FIELD(R, double, gap, , "gap", "", "the misfit may be lower by at most this; 0: proven; NaN of de")      \
    FIELD(R, unsigned, boxes, , "boxes", "", "boxes that the search bounded; of de evaluations")             \
    FIELD(R, unsigned, solved, , "solved", "", "plateaus that it evaluated; of de generations")              \
    FIELD(R, unsigned, vertices, , "", "", "corners of the plateau; where there are more, 16 of them")       \
    FIELD(R, double, vertex, [PARITAS_PLATEAU_VERTICES][2], "", "V, 1",                                      \
          "U, r of the corners, around the plateau")                                                         \
    FIELD(R, double, noise, , "noise", "",                                                                   \
          "size of a cell's noise, of the logarithm (lillis: of the flux), from differences of neighbours")  \
    FIELD(R, double, edge_evidence, , "edge_evidence", "",                                                   \
          "ln of the odds for a cone against two levels a row; above 0: there is an edge")                   \
    FIELD(R, double, cone_level, , "cone_level", "",                                                         \
          "normalised flux in the cone, geometric mean (lillis: mean); NaN if no cell is in it")             \
    FIELD(R, unsigned, flags, , "", "", "sum of paritas_quality_flag, without OTHER_MODEL; 0: good")         \
    FIELD(R, double, deviance, , "deviance", "",                                                             \
          "of the measured counts of reflected cells at the minimum; NaN without counts")                    \
    FIELD(R, double, excess, , "excess", "",                                                                 \
          "deviance per degree of freedom, of all cells or of those at the edge, whichever is more, and at " \
          "least 1; sets of counts allow for it; NaN without a likelihood of counts")
typedef struct paritas_losscone_result {
    size_t size;
    PARITAS_LOSSCONE_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_losscone_result;

/* Fits every sweep; results: n. `options` may be NULL. */
PARITAS_API paritas_status paritas_losscone_fit(paritas_context *context, const paritas_sweeps *sweeps,
                                                const paritas_losscone_options *PARITAS_OR_NULL options,
                                                paritas_losscone_result *results);

/* The flags of a fit beside `other`, the fit of the same sweep with the other response; NULL: none. Without a
 * result: PARITAS_QUALITY_NO_FIT. */
PARITAS_API unsigned paritas_quality_flags(const paritas_losscone_result *result,
                                           const paritas_losscone_result *PARITAS_OR_NULL other);
/* The words of flags, joined by `+`: "ratio_at_bound+misfit"; "good" without flags. */
#define PARITAS_QUALITY_TEXT 160
PARITAS_API void paritas_quality_words(unsigned flags, char text[PARITAS_QUALITY_TEXT]);

/* ---- confidence sets ---------------------------------------------------------------------------- */

#define PARITAS_CONFIDENCE_INTERVALS 8

/* The U whose misfit, minimised over r and A, is at most the minimum + a threshold. */
#define PARITAS_CONFIDENCE_FIELDS(FIELD, R)                                                              \
    FIELD(R, double, threshold, , "threshold", "", "above the minimum, in units of the misfit")          \
    FIELD(R, unsigned, intervals, , "", "", "how many; more than 8 are joined at the narrowest breaks")  \
    FIELD(R, double, lower, [PARITAS_CONFIDENCE_INTERVALS], "", "V", "lower ends of the intervals of U") \
    FIELD(R, double, upper, [PARITAS_CONFIDENCE_INTERVALS], "", "V", "upper ends")                       \
    FIELD(R, paritas_truth, at_lower_bound, , "at_lower_bound", "",                                      \
          "the set is open at the lower bound of U")                                                     \
    FIELD(R, paritas_truth, at_upper_bound, , "at_upper_bound", "", "the set is open at the upper bound of U")
typedef struct paritas_confidence {
    size_t size;
    PARITAS_CONFIDENCE_FIELDS(PARITAS_MEMBER, )
} paritas_confidence;

/* Confidence sets around results that paritas_losscone_fit found exactly.
 *   thresholds   n; NULL: 3.84 excess min(excess, 3) for the method counts. For the others it is 4 s^2, with
 *                the folded response and `channel` 6 s^2. s^2 is misfit / (cells - 3), or, with `counts`, the
 *                mean square of the noise where the cells tell U if that is larger
 *   step         resolution of the ends, V; 0: 1 V, with the folded response 0.05 V because its plateaus are
 *                narrow. More if the bounds are wide. The plateau always belongs to the set
 *   sets         n
 * If the spacecraft's potential is off by 1 V, U is off by about 0.6 V, since the edges stay where they are.
 * The slope of a sweep comes from a least squares fit of U and ln r to its edges. An interval of half width h
 * gets the half width sqrt(h^2 + e^2), with e = slope potential_errors potential_error. */
PARITAS_API paritas_status paritas_losscone_confidence(
    paritas_context *context, const paritas_sweeps *sweeps,
    const paritas_losscone_options *PARITAS_OR_NULL options, const paritas_losscone_result *results,
    const double *PARITAS_OR_NULL thresholds, double step, paritas_confidence *sets);

/* Thresholds for confidence sets of coverage `level`, by the parametric bootstrap. Each draw is the model at
 * the plateau's centre (with the best amplitude there) and noise of the size of the residuals. It is fitted
 * again; the misfit at the true U above its minimum is noted. The threshold is the level's quantile times a
 * measured factor: 1.2, with the folded response and `channel` 1.45. If a draw's search reaches the limit of
 * boxes, the largest possible value is noted: the threshold may be too high, not too low. thresholds: n, NaN
 * where there is no fit. */
PARITAS_API paritas_status paritas_losscone_bootstrap(paritas_context *context, const paritas_sweeps *sweeps,
                                                      const paritas_losscone_options *PARITAS_OR_NULL options,
                                                      const paritas_losscone_result *results, unsigned draws,
                                                      double level, double *thresholds);

/* What decides the threshold of a set. */
#define PARITAS_CONFIDENCE_KIND_LIST(ITEM)                                                                \
    ITEM(PARITAS_CONFIDENCE_KIND_NONE, 0, "none", "no sets")                                              \
    ITEM(PARITAS_CONFIDENCE_KIND_RESIDUALS, 1, "residuals", "the default of paritas_losscone_confidence") \
    ITEM(PARITAS_CONFIDENCE_KIND_BOOTSTRAP, 2, "bootstrap", "paritas_losscone_bootstrap")                 \
    ITEM(PARITAS_CONFIDENCE_KIND_THRESHOLD, 3, "threshold", "it is given")
typedef enum paritas_confidence_kind {
    PARITAS_CONFIDENCE_KIND_LIST(PARITAS_ENUMERATOR)
} paritas_confidence_kind;

/* Which sets are made beside fits. */
typedef struct paritas_losscone_sets {
    size_t size;
    paritas_confidence_kind confidence;
    double threshold; /* if it is given */
    double step;      /* resolution, V; 0: the default of paritas_losscone_confidence */
    double level;     /* of the bootstrap */
    unsigned draws;
} paritas_losscone_sets;
#define PARITAS_LOSSCONE_SETS_DEFAULT \
    {sizeof(paritas_losscone_sets), PARITAS_CONFIDENCE_KIND_RESIDUALS, 0.0, 0.0, 0.68, 40}

/* Fits every sweep with the options' response, and makes the sets. The folded model has no beam. With the
 * bootstrap the method auto is halekas. Fits by differential evolution have no plateau: its ends are NaN.
 * results, confidence: n; confidence may be NULL without sets. */
PARITAS_API paritas_status paritas_losscone_answer(paritas_context *context, const paritas_sweeps *sweeps,
                                                   const paritas_losscone_options *PARITAS_OR_NULL options,
                                                   const paritas_losscone_sets *PARITAS_OR_NULL sets,
                                                   paritas_losscone_result *results,
                                                   paritas_confidence *confidence);
/* The options of one response, as paritas_losscone_answer takes them. */
PARITAS_API void paritas_losscone_options_of(const paritas_losscone_options *given,
                                             paritas_losscone_response response,
                                             paritas_losscone_options *options);
/* Nonzero: the result has numbers. */
PARITAS_API int paritas_losscone_fitted(const paritas_losscone_result *result);
/* The response that fits a sweep better: of the lesser deviance if both fits have one, else of the lesser
 * misfit. -1: one of them is NULL or has no numbers. */
PARITAS_API int paritas_losscone_preferred(const paritas_losscone_result *PARITAS_OR_NULL hard,
                                           const paritas_losscone_result *PARITAS_OR_NULL folded);
/* Quality of a sweep: of the preferred fit. If none is preferred, of the hard one, or of the other if that is
 * NULL. */
PARITAS_API unsigned paritas_losscone_flags(const paritas_losscone_result *PARITAS_OR_NULL hard,
                                            const paritas_losscone_result *PARITAS_OR_NULL folded);

/* The least misfit over r and A at each of n_potentials values of U, exact except for slivers of r below
 * 2e-6. misfit: n x n_potentials; ratio, amplitude: the same, or NULL. */
PARITAS_API paritas_status paritas_losscone_profile(paritas_context *context, const paritas_sweeps *sweeps,
                                                    const paritas_losscone_options *PARITAS_OR_NULL options,
                                                    size_t n_potentials, const double *potentials,
                                                    double *misfit, double *PARITAS_OR_NULL ratio,
                                                    double *PARITAS_OR_NULL amplitude);

/* ---- the model ---------------------------------------------------------------------------------- */

/* The misfit of every sweep at every one of n_points points (U, r, A), cell by cell from the formula. misfit:
 * n x n_points, NaN where too few cells are left. cells: n, or NULL. The method auto is halekas here. */
PARITAS_API paritas_status paritas_losscone_misfit(paritas_context *context, const paritas_sweeps *sweeps,
                                                   const paritas_losscone_options *PARITAS_OR_NULL options,
                                                   size_t n_points, const double *points, double *misfit,
                                                   unsigned *PARITAS_OR_NULL cells);
/* The model of sweep k at points[k] (U, r, A): n x rows x cells. The sweeps' fluxes are not read. edge: n x
 * rows, the cone's angle alpha in degrees (hard response only), or NULL. */
PARITAS_API paritas_status paritas_losscone_model(paritas_context *context, const paritas_sweeps *sweeps,
                                                  const paritas_losscone_options *PARITAS_OR_NULL options,
                                                  const double *points, double *model,
                                                  double *PARITAS_OR_NULL edge);
/* Cosines of pitch angles, from directions of cells and the field in one frame.
 *   grid       rows and cells; NULL: 15 and 88
 *   theta      an inclination a cell, degrees
 *   field      n x rows x 3
 *   polarity   n x rows: +1 or -1, else the row is NaN; NULL: -1 everywhere
 *   azimuth    n x rows x cells, degrees
 *   cosine     n x rows x cells; computed in f64 on every device */
PARITAS_API paritas_status paritas_losscone_cosines(paritas_context *context, size_t n,
                                                    const paritas_sweep_grid *PARITAS_OR_NULL grid,
                                                    const double *theta, const double *field,
                                                    const double *PARITAS_OR_NULL polarity,
                                                    const double *azimuth, double *cosine);
/* Normalises fluxes (n x rows x cells; grid NULL: 15 x 88). flux: measured, NaN where there is none.
 * normalised: may be flux. */
PARITAS_API paritas_status paritas_losscone_normalise(paritas_context *context, size_t n,
                                                      const paritas_sweep_grid *PARITAS_OR_NULL grid,
                                                      paritas_normalisation normalisation,
                                                      const double *cosine, const double *flux,
                                                      double *normalised);
/* Energies of channels for the folded edge, weighted by the measured spectrum: for `sweeps.channel`. A
 * channel is a Gaussian in ln E whose half width at half maximum is the options' response_width, times the
 * flux. ln flux is the parabola in ln E nearest to the row and its neighbours: seven rows in all, for counts
 * three. The mean of the folded edge over five energies has six levels. Each energy lies where the mean over
 * the whole channel is halfway, in logarithms, between two of them. `sweeps`: their fluxes and channels are
 * not read. flux: n x rows x cells, measured, NaN where there is none; incident cells at energies above the
 * spacecraft's potential count. channel: n x rows x 5, over the row's energy, falling; NaN where there is no
 * spectrum */
PARITAS_API paritas_status paritas_losscone_channels(paritas_context *context, const paritas_sweeps *sweeps,
                                                     const paritas_losscone_options *PARITAS_OR_NULL options,
                                                     const double *flux, double *channel);
/* Masks normalised fluxes that a method does not take (negative ones among them): they become NaN. */
PARITAS_API paritas_status paritas_losscone_mask(paritas_context *context, size_t n,
                                                 const paritas_sweep_grid *PARITAS_OR_NULL grid,
                                                 paritas_losscone_method method, const double *cosine,
                                                 const double *flux, double *normalised);

/* ---- beams -------------------------------------------------------------------------------------- */

/* A beam of electrons that comes up along the field. Numbers exist where one was found. */
#define PARITAS_BEAM_FIELDS(FIELD, R)                                    \
    FIELD(R, paritas_truth, found, , "found", "", "there is a beam")     \
    FIELD(R, unsigned, row, , "row", "", "row of its energy")            \
    FIELD(R, double, energy, , "energy", "eV", "its energy")             \
    FIELD(R, double, ratio, , "ratio", "", "mean normalised flux there") \
    FIELD(R, double, potential, , "potential", "V",                      \
          "of the surface, if the beam's electrons started there at rest: spacecraft potential - energy")
typedef struct paritas_beam {
    size_t size;
    PARITAS_BEAM_FIELDS(PARITAS_MEMBER, )
} paritas_beam;

/* Looks for a beam in every sweep, on the host. beams: n. For each row the normalised fluxes at pitch angles
 * from 150 degrees on are averaged. This needs 5 cells; zeros count, NaN and negative fluxes do not. The
 * highest row from 20 to 500 eV is a beam if
 *   - its mean is at least 2, and 1.2 times both neighbours in energy, one of which is at least 1.5
 *   - at most 4 rows in succession reach half of it
 *   - the mean above both 400 eV and twice its energy is at most half of it. */
PARITAS_API paritas_status paritas_losscone_beam(paritas_context *context, const paritas_sweeps *sweeps,
                                                 paritas_beam *beams);

#define PARITAS_LOSSCONE_ENUMERATIONS(ENUMERATION)                                                  \
    ENUMERATION(paritas_normalisation, PARITAS_NORMALISATION_LIST, "How fluxes are normalised.")    \
    ENUMERATION(paritas_losscone_method, PARITAS_LOSSCONE_METHOD_LIST, "Misfits of loss cones.")    \
    ENUMERATION(paritas_losscone_response, PARITAS_LOSSCONE_RESPONSE_LIST,                          \
                "The instrument's energy response.")                                                \
    ENUMERATION(paritas_losscone_search, PARITAS_LOSSCONE_SEARCH_LIST, "How the minimum is found.") \
    ENUMERATION(paritas_sweep_status, PARITAS_SWEEP_STATUS_LIST, "Outcome of a sweep.")             \
    ENUMERATION(paritas_confidence_kind, PARITAS_CONFIDENCE_KIND_LIST, "Thresholds of sets.")       \
    ENUMERATION(paritas_quality_flag, PARITAS_QUALITY_FLAG_LIST, "What speaks against a fit.")
#define PARITAS_LOSSCONE_RECORDS(RECORD)                                                              \
    RECORD(paritas_losscone_result, PARITAS_LOSSCONE_RESULT_FIELDS, "Fit of one sweep.")              \
    RECORD(paritas_confidence, PARITAS_CONFIDENCE_FIELDS, "Confidence set of the surface potential.") \
    RECORD(paritas_beam, PARITAS_BEAM_FIELDS, "A beam in a sweep.")
PARITAS_LOSSCONE_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
