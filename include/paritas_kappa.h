/* paritas_kappa.h: the electrons around a spacecraft: kappa distributions fitted to spectra, and the
 * potential that their currents give the spacecraft.
 *
 * An isotropic kappa distribution (Vasyliunas, J. Geophys. Res. 73 (1968) 2839) has a density n (1/m^3),
 * kappa and a thermal speed theta (m/s):
 *
 *   f(v) = n Gamma(kappa + 1) / ((pi kappa)^1.5 Gamma(kappa - 1/2) theta^3)
 *          (1 + (v / theta)^2 / kappa)^-(kappa + 1)
 *
 * Fluxes are omnidirectional: 4 pi v^2 f / m in 1/(cm^2 s eV). Temperatures are T = kappa / (kappa - 1.5) m
 * theta^2 / 2 in eV. The electron's mass is CODATA's of 2018, m = 9.1093837015e-31 kg = 5.685630103565723e-12
 * eV s^2/m^2.
 *
 * A spectrum has up to 64 rows, each with an energy of its own. The rules of paritas.h hold.
 */
#ifndef PARITAS_KAPPA_H
#define PARITAS_KAPPA_H

#include "paritas_fit.h"
#include "paritas_sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kappa distributions ------------------------------------------------------------------------ */

/* A distribution. This struct does not grow, so it has no `size`. */
#define PARITAS_KAPPA_PLASMA_FIELDS(FIELD, R)                         \
    FIELD(R, double, density, , "density", "1/m^3", "from 1 to 1e15") \
    FIELD(R, double, kappa, , "kappa", "", "above 1.5, at most 1000") \
    FIELD(R, double, theta, , "theta", "m/s", "thermal speed, from 1e4 to 1e9")
typedef struct paritas_kappa_plasma {
    PARITAS_KAPPA_PLASMA_FIELDS(PARITAS_MEMBER, )
} paritas_kappa_plasma;

/* Fluxes of n distributions, all at the same n_energies energies (eV, above 0, at most 1e9). flux: n x
 * n_energies, in the precision of the context. */
PARITAS_API paritas_status paritas_kappa_flux(paritas_context *context, size_t n,
                                              const paritas_kappa_plasma *plasma, size_t n_energies,
                                              const double *energy, double *flux);
/* Temperature (eV) of a thermal speed, and the thermal speed of a temperature. NaN where kappa is not above
 * 1.5 or the other number not above 0. */
PARITAS_API double paritas_kappa_temperature(double kappa, double theta);
PARITAS_API double paritas_kappa_theta(double kappa, double temperature);

/* ---- spectra from sweeps ------------------------------------------------------------------------ */

#define PARITAS_SPECTRUM_ROWS_MOST 64 /* energies */

/* What the sensor's cells are. Start from PARITAS_CELLS_DEFAULT. */
typedef struct paritas_cells {
    size_t size;
    /* 88 inclinations, degrees. The magnitude tells the ring: of 16, 16, 8 or 4 cells (11.25, 33.75, 56.25,
     * 78.75) */
    const double *theta;
    const double *solid_angle; /* 88: sr; NULL: of the rings' zones, exactly */
    double geometric_factor;   /* cm^2 sr */
    double accumulation;       /* s of a row, which the cells of a ring share */
} paritas_cells;
#define PARITAS_CELLS_DEFAULT \
    {sizeof(paritas_cells), NULL, NULL, PARITAS_SWEEP_GEOMETRIC_FACTOR, PARITAS_SWEEP_ACCUMULATION}

/* n sweeps, and where their spectra go. Arrays after `omni` may be NULL. Start from
 * PARITAS_SPECTRUM_REQUEST_DEFAULT. */
typedef struct paritas_spectrum_request {
    size_t size;
    const paritas_cells *cells; /* with its theta; NULL with a grid of another instrument */
    size_t n;
    const double *energy; /* n x 15: eV */
    /* n x 15 x 88: 1/(cm^2 s sr eV). Masked: not finite, or the archive's marks of missing and flagged fluxes
     * (not 0, magnitude below 1e-90) */
    const double *flux;
    const double
        *cosine; /* n x 15 x 88: of the pitch angle with its polarity, above 0: incident; NaN: masked */
    /* n x 15: 2 sum of flux x solid angle over the unmasked incident cells, divided by the part of the
     * hemisphere that they cover. A masked cell counts as the mean of the others. A negative flux counts as
     * it is. NaN: no cell */
    double *omni;
    double *coverage; /* n x 15: that part of the hemisphere, 1 where nothing is masked */
    /* n x 15: counts behind a flux of 1: omni^2 over its Poisson variance, for a flux that is the same in
     * these cells */
    double *sensitivity;
    /* n x 15: pseudo-counts of all unmasked cells of both hemispheres: flux x geometric factor x energy x the
     * cell's share of the time. Rounded to whole numbers (half to even); negative ones are 0 */
    double *counts;
    double *error; /* n x 15: their square root */
    /* Another instrument's sweeps have grid.rows for 15 and grid.cells for 88: up to 64 energies and 65536
     * directions, 0: 15, 88. Then `cells` is not read; these are rows x cells numbers: solid angles (sr) and
     * exposures (cm^2 sr s: geometric factor x efficiency x time). A cell whose number is not above 0 does
     * not exist. Hemispheres have 2 pi; counts = flux x exposure x energy */
    paritas_sweep_grid grid;
    const double *solid_angle, *exposure;
    /* n: background in the fluxes, counts/s of a cell (paritas_er_find_background). NULL: none. A grid of
     * another instrument takes none: its exposures do not tell the time */
    const double *rate;
    double *background; /* n x 15: its omnidirectional flux, already subtracted from `omni`; may be NULL */
} paritas_spectrum_request;
#define PARITAS_SPECTRUM_REQUEST_DEFAULT PARITAS_INIT(paritas_spectrum_request)

/* Spectra of the incident hemisphere; the other is taken to mirror it. A row whose energy is not a positive
 * number has NaN everywhere (counts 0). */
PARITAS_API paritas_status paritas_kappa_spectrum(paritas_context *context,
                                                  const paritas_spectrum_request *request);

/* ---- fits --------------------------------------------------------------------------------------- */

/* What a fit minimises. mu = sensitivity x model, N = sensitivity x flux.
 *   counts    twice the negative log-likelihood above its value at mu = N. Counts N have mean mu and variance
 *             mu + (systematic mu)^2 (negative binomial; Poisson where systematic is 0). With probability
 *             `dead` a row did not measure, and has no count for that reason. So an empty row tells something
 *             where few counts were expected, and decides nothing where many were
 *   original  sum of [w (ln(model + 1e-6) - ln(flux + 1e-6))]^2, to compare with fits made that way, with
 *             w = 1 / (s + 1e-6), s = e / (flux + 1e-6) + 1e-6,
 *             e = flux / (N + 1e-6) x sqrt(N + (0.05^2 + 0.1^2) N^2), pseudo-counts N. A row without a count
 *             gets the weight 5e5 and decides the fit. Contexts in f32 fit these on the host in f64
 *   none      the same with w = 1; errors are scaled by the residuals */
#define PARITAS_KAPPA_WEIGHTS_LIST(ITEM)                                                       \
    ITEM(PARITAS_KAPPA_WEIGHTS_COUNTS, 0, "counts", "likelihood of counts")                    \
    ITEM(PARITAS_KAPPA_WEIGHTS_ORIGINAL, 1, "original", "weighted logarithms, for comparison") \
    ITEM(PARITAS_KAPPA_WEIGHTS_NONE, 2, "none", "logarithms of equal weight")
typedef enum paritas_kappa_weights { PARITAS_KAPPA_WEIGHTS_LIST(PARITAS_ENUMERATOR) } paritas_kappa_weights;

/* The density. */
#define PARITAS_KAPPA_DENSITY_LIST(ITEM)                                                                     \
    ITEM(PARITAS_KAPPA_DENSITY_FITTED, 0, "fitted", "fitted with the others")                                \
    ITEM(PARITAS_KAPPA_DENSITY_ESTIMATE, 1, "estimate",                                                      \
         "fixed at 1e4 sum of flux / speed x 0.5 energy over the rows, which lacks what is below the first " \
         "energy")
typedef enum paritas_kappa_density { PARITAS_KAPPA_DENSITY_LIST(PARITAS_ENUMERATOR) } paritas_kappa_density;

/* The model is folded with Gaussians in ln E of standard deviation asinh(response / 2) / sqrt(2 ln 2). The
 * sums go over the spectrum's own energies; the weights of each row add up to 1. Energies a factor of 1.64
 * apart sample a Gaussian of 0.21 coarsely: it smears with 60 % of the true variance. */
#define PARITAS_KAPPA_OPTIONS(OPTION, OTHER, S)                                                             \
    OPTION(S, paritas_kappa_weights, weights, PARITAS_KAPPA_WEIGHTS_COUNTS, PARITAS_NO_BOUND,               \
           PARITAS_NO_BOUND, "--weights", "",                                                               \
           "kappa fits: likelihood of counts, or weighted logarithms for comparison")                       \
    OPTION(S, paritas_kappa_density, density, PARITAS_KAPPA_DENSITY_FITTED, PARITAS_NO_BOUND,               \
           PARITAS_NO_BOUND, "--density", "",                                                               \
           "density: fitted with kappa and theta, or fixed at a sum over the spectrum")                     \
    OPTION(S, double, kappa_lower, 2.5, PARITAS_ABOVE(1.5), PARITAS_TO(1000.0), "--kappa-lower", "",        \
           "lower bound of kappa")                                                                          \
    OPTION(S, double, kappa_upper, 6.0, PARITAS_ABOVE(1.5), PARITAS_TO(1000.0), "--kappa-upper", "",        \
           "upper bound of kappa")                                                                          \
    OPTION(S, double, theta_lower, 1e6, PARITAS_FROM(1e4), PARITAS_TO(1e9), "--speed-lower", "m/s",         \
           "lower bound of the thermal speed theta")                                                        \
    OPTION(S, double, theta_upper, 1e8, PARITAS_FROM(1e4), PARITAS_TO(1e9), "--speed-upper", "m/s",         \
           "upper bound of theta")                                                                          \
    OPTION(S, double, response, 0.5, PARITAS_FROM(0.0), PARITAS_TO(10.0), "--channel-width", "",            \
           "relative width (full, at half maximum) of the energy channels, with which the distribution is " \
           "folded; 0: none")                                                                               \
    OPTION(S, double, systematic, 0.11180339887498949, PARITAS_FROM(0.0), PARITAS_TO(10.0), "--systematic", \
           "", "relative error of each row in addition to its counting error")                              \
    OPTION(S, double, dead, 0.05, PARITAS_FROM(0.0), PARITAS_BELOW(1.0), "--dead", "",                      \
           "probability that a row did not measure, and has no count for that reason")                      \
    OPTION(S, unsigned, max_iterations, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "", "of a fit; 0: 100")

/* Options of fits. Start from PARITAS_KAPPA_OPTIONS_DEFAULT. */
typedef struct paritas_kappa_options {
    size_t size;
    PARITAS_KAPPA_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_kappa_options;
#define PARITAS_KAPPA_OPTIONS_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_kappa_options, PARITAS_KAPPA_OPTIONS)

/* Spectra to be fitted. All arrays n x rows, borrowed. A row is masked if its energy is not a positive number
 * or its flux not finite. With weights `counts` it also needs a positive sensitivity, with `original` finite
 * counts. A negative flux counts as 0, or, with weights `counts`, as down to the background. */
typedef struct paritas_spectra {
    size_t size;
    size_t n;
    const double *energy;      /* eV */
    const double *flux;        /* omnidirectional */
    const double *sensitivity; /* for weights `counts`; else NULL */
    const double *counts;      /* for weights `original`; else NULL */
    /* eV: of the channel, which is `response` wide relative to it. Needed if `energy` and `flux` are those
     * before the spacecraft's potential drew the electrons in. NULL: the energies */
    const double *channel;
    size_t rows; /* up to 64; 0: 15, Lunar Prospector's */
    /* subtracted from `flux`, which no plasma brings; NULL: none. Weights `counts` know its noise: N =
     * sensitivity x (flux + background) has the mean sensitivity x (model + background) */
    const double *background;
} paritas_spectra;
#define PARITAS_SPECTRA_DEFAULT PARITAS_INIT(paritas_spectra)

/* Outcome of a spectrum. Numbers of the plasma exist with FITTED only; the result's `fit` says why a fit
 * failed. */
#define PARITAS_SPECTRUM_STATUS_LIST(ITEM)                                                                \
    ITEM(PARITAS_SPECTRUM_FITTED, 0, "fitted", "the minimum was found")                                   \
    ITEM(PARITAS_SPECTRUM_NO_ROWS, 1, "no_rows", "all rows are masked")                                   \
    ITEM(PARITAS_SPECTRUM_TOO_FEW_ROWS, 2, "too_few_rows", "fewer rows with a flux than free parameters") \
    ITEM(PARITAS_SPECTRUM_NOT_FITTED, 3, "not_fitted", "the fit failed, or its density is outside the limits")
typedef enum paritas_spectrum_status {
    PARITAS_SPECTRUM_STATUS_LIST(PARITAS_ENUMERATOR)
} paritas_spectrum_status;

/* Errors are one standard deviation, from the exact second derivatives at the minimum. A parameter that is
 * held or at a bound has the error NaN; the others' errors then hold for its value. */
#define PARITAS_KAPPA_RESULT_FIELDS(FIELD, R)                                                    \
    FIELD(R, paritas_spectrum_status, status, , "plasma_status", "", "outcome of the spectrum")  \
    FIELD(R, paritas_fit_status, fit, , "", "", "outcome of the fit")                            \
    FIELD(R, unsigned, iterations, , "", "", "of the fit")                                       \
    FIELD(R, double, density, , "density", "1/m^3", "density")                                   \
    FIELD(R, double, density_error, , "density_error", "1/m^3", "its error")                     \
    FIELD(R, double, kappa, , "kappa", "", "kappa")                                              \
    FIELD(R, double, kappa_error, , "kappa_error", "", "its error")                              \
    FIELD(R, paritas_parameter_state, kappa_state, , "kappa_state", "", "free, or at a bound")   \
    FIELD(R, double, theta, , "theta", "m/s", "thermal speed")                                   \
    FIELD(R, double, theta_error, , "theta_error", "m/s", "its error")                           \
    FIELD(R, paritas_parameter_state, theta_state, , "theta_state", "", "free, or at a bound")   \
    FIELD(R, double, temperature, , "temperature", "eV", "temperature")                          \
    FIELD(R, double, temperature_error, , "temperature_error", "eV", "its error")                \
    FIELD(R, double, misfit, , "plasma_misfit", "",                                              \
          "what was minimised; of weights counts roughly a chi-square")                          \
    FIELD(R, unsigned, rows, , "plasma_rows", "", "rows that are not masked")                    \
    FIELD(R, unsigned, empty_rows, , "plasma_empty_rows", "", "of these, rows without a flux")   \
    FIELD(R, int, dof, , "", "", "rows less free parameters")                                    \
    FIELD(R, double, edm, , "", "", "estimated distance to the minimum, in units of the misfit") \
    FIELD(R, double, density_estimate, , "", "1/m^3", "the density that density=estimate holds") \
    FIELD(R, double, covariance, [3][3], "", "",                                                 \
          "of ln density, kappa, ln theta; 0 of what is fixed or at a bound")
typedef struct paritas_kappa_result {
    size_t size;
    PARITAS_KAPPA_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_kappa_result;

/* Fits every spectrum; results: n. `options` may be NULL. */
PARITAS_API paritas_status paritas_kappa_fit(paritas_context *context, const paritas_spectra *spectra,
                                             const paritas_kappa_options *PARITAS_OR_NULL options,
                                             paritas_kappa_result *results);
/* What a fit minimises, at n_points points, the same for every spectrum. misfit: n x n_points, NaN where no
 * row is left. If the density is held at the estimate, the points' densities are not read. */
PARITAS_API paritas_status paritas_kappa_misfit(paritas_context *context, const paritas_spectra *spectra,
                                                const paritas_kappa_options *PARITAS_OR_NULL options,
                                                size_t n_points, const paritas_kappa_plasma *points,
                                                double *misfit);
/* The energy response of n_energies energies: n_energies x n_energies, row-major; relative width as in the
 * options. */
PARITAS_API paritas_status paritas_kappa_response(paritas_context *context, double response,
                                                  size_t n_energies, const double *energy, double *matrix);

/* ---- currents and the spacecraft's potential ---------------------------------------------------- */

/* How the currents in shade are integrated.
 *   converged  to rounding
 *   sums       trapezoids on 500 energies from 1 to 20000 eV. They begin at the first energy not below |U|,
 *              so the current jumps where U passes an energy. Brent's method finds the root to 1e-3 V,
 *              between 0 V and -1500 V (or 1.5, 1.5^2 .. 1.5^10 times that). For comparison with potentials
 *              made that way: in hot plasma they differ by 10 V */
#define PARITAS_CURRENTS_LIST(ITEM)                                           \
    ITEM(PARITAS_CURRENTS_CONVERGED, 0, "converged", "integrals to rounding") \
    ITEM(PARITAS_CURRENTS_SUMS, 1, "sums", "sums over 500 energies, for comparison")
typedef enum paritas_currents { PARITAS_CURRENTS_LIST(PARITAS_ENUMERATOR) } paritas_currents;

#define PARITAS_POTENTIAL_OPTIONS(OPTION, OTHER, S)                                                          \
    OPTION(S, paritas_currents, currents, PARITAS_CURRENTS_CONVERGED, PARITAS_NO_BOUND, PARITAS_NO_BOUND,    \
           "--currents", "", "currents in shade: exact integrals, or sums over 500 energies for comparison") \
    OPTION(S, double, sun_lower, 10.0, PARITAS_FROM(0.0), PARITAS_TO(1e9), "", "eV",                         \
           "least energy of the electrons that count in sunlight")                                           \
    OPTION(S, double, sun_upper, 20000.0, PARITAS_FROM(0.0), PARITAS_TO(1e9), "", "eV",                      \
           "their largest energy")                                                                           \
    OPTION(S, double, shade_lower, 1.0, PARITAS_FROM(0.0), PARITAS_TO(1e9), "", "eV",                        \
           "least energy of those that count in shade; of sums the lower end of the grid")                   \
    OPTION(S, double, shade_upper, 20000.0, PARITAS_FROM(0.0), PARITAS_TO(1e9), "", "eV",                    \
           "their largest energy; of sums the upper end")                                                    \
    OPTION(S, double, secondary_energy, 3.0, PARITAS_FROM(1e-3), PARITAS_TO(1e3), "", "eV",                  \
           "temperature of secondary electrons: a positive spacecraft keeps some")                           \
    OPTION(S, unsigned, refits, 20, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--refits", "",                      \
           "in sunlight: repeated fits, at most, each with energies corrected by the last potential")        \
    OPTION(S, paritas_truth, liouville, 1, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                       \
           "fluxes of shifted spectra times (E - U) / E, as the density in phase space asks; 0: energies "   \
           "alone are shifted")

/* Options of potentials. Start from PARITAS_POTENTIAL_OPTIONS_DEFAULT. A spectrum in sunlight is fitted again
 * until potential and shift agree to 1 mV. With `refits` 0 and 1 no agreement is asked for; earlier work used
 * 1, and shifted the energies alone. */
typedef struct paritas_potential_options {
    size_t size;
    PARITAS_POTENTIAL_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_potential_options;
#define PARITAS_POTENTIAL_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_potential_options, PARITAS_POTENTIAL_OPTIONS)

/* Outcome of a potential. Numbers other than the shift exist with FOUND only. */
#define PARITAS_POTENTIAL_STATUS_LIST(ITEM)                                                            \
    ITEM(PARITAS_POTENTIAL_FOUND, 0, "found", "the currents balance")                                  \
    ITEM(PARITAS_POTENTIAL_NO_DISTRIBUTION, 1, "no_distribution",                                      \
         "the spectrum was not fitted, or its numbers are outside the limits of paritas_kappa_plasma") \
    ITEM(PARITAS_POTENTIAL_ABOVE_RANGE, 2, "above_range",                                              \
         "in sunlight: so few electrons that 150 V are not enough")                                    \
    ITEM(PARITAS_POTENTIAL_BELOW_ZERO, 3, "below_zero",                                                \
         "in sunlight: more electrons than photoelectrons at 0 V")                                     \
    ITEM(PARITAS_POTENTIAL_NO_BALANCE, 4, "no_balance", "in shade: no root in the range")              \
    ITEM(PARITAS_POTENTIAL_AT_BOUND, 5, "distribution_at_bound",                                       \
         "theta was fitted to a bound, so the currents are those of the bound")                        \
    ITEM(PARITAS_POTENTIAL_NOT_SETTLED, 6, "not_settled",                                              \
         "in sunlight: no shift is the potential that it leads to; `shift` is the last one tried")
typedef enum paritas_potential_status {
    PARITAS_POTENTIAL_STATUS_LIST(PARITAS_ENUMERATOR)
} paritas_potential_status;

#define PARITAS_POTENTIAL_FIELDS(FIELD, R)                                                                   \
    FIELD(R, paritas_potential_status, status, , "spacecraft_potential_status", "", "outcome")               \
    FIELD(R, paritas_truth, sunlit, , "", "", "in sunlight")                                                 \
    FIELD(R, double, potential, , "", "V", "of the spacecraft")                                              \
    FIELD(                                                                                                   \
        R, double, error, , "spacecraft_potential_error", "V",                                               \
        "one standard deviation from the distribution's covariance, with what the shift does in turn; NaN "  \
        "without a covariance and where the shift decides all. Jumps between stable potentials are not in "  \
        "it")                                                                                                \
    FIELD(R, double, ambiguity, , "spacecraft_potential_ambiguity", "V",                                     \
          "from spectra in sunlight with an error above 1.4 V: spread about the potential of shifts from 8 " \
          "V below to 40 V above, by their odds; else 0")                                                    \
    FIELD(R, double, shift, , "spacecraft_potential_shift", "V",                                             \
          "energies of the spectrum were lowered by this for the fit")                                       \
    FIELD(R, double, second, , "spacecraft_potential_second", "V",                                           \
          "in shade: another stable potential below 0, possible if it was negative before; NaN: none")       \
    FIELD(R, double, temperature, , "plasma_temperature", "eV",                                              \
          "of the plasma: in sunlight of the distribution, in shade plus potential / (kappa - 1.5)")         \
    FIELD(R, double, electrons, , "", "A/m^2", "current of electrons, in")                                   \
    FIELD(R, double, emitted, , "", "A/m^2",                                                                 \
          "current out: photoelectrons in sunlight, secondaries in shade")                                   \
    FIELD(R, double, ions, , "", "A/m^2", "current of ions, in; left out in sunlight: 0")
typedef struct paritas_potential {
    size_t size;
    PARITAS_POTENTIAL_FIELDS(PARITAS_MEMBER, )
} paritas_potential;

/* Photoelectrons that leave a spacecraft at this potential (V), A/m^2: 1.07e-6 exp(-U/5) + 1.6e-8 exp(-U/60).
 * And the potential of such a current, NaN outside 0 .. 150 V. */
PARITAS_API double paritas_photoelectron_current(double potential);
PARITAS_API double paritas_photoelectron_potential(double current);
/* Secondary electrons per electron of this energy (eV): 11.1 z exp(-2 sqrt z), z = E / 500 eV (Sternglass,
 * 1954); 0 below 0. */
PARITAS_API double paritas_secondary_yield(double energy);
/* Electrons of a distribution between two energies (eV; the upper one may be infinite) onto a plane, A/m^2.
 * It is the integral of e flux / 4, in closed form. NaN outside the limits of paritas_kappa_plasma, or where
 * energies do not ascend from 0. */
PARITAS_API double paritas_electron_current(const paritas_kappa_plasma *plasma, double lower, double upper);
/* Currents of electrons, secondaries and ions of a spacecraft in shade, at n_potentials potentials (V), the
 * same for all n plasmas. Their spectra were measured at the spacecraft. currents: n x n_potentials x 3,
 * A/m^2. NaN at and below -(kappa - 1.5) T, where the plasma would be left without temperature. */
PARITAS_API paritas_status paritas_shade_currents(paritas_context *context, size_t n,
                                                  const paritas_kappa_plasma *plasma,
                                                  const paritas_potential_options *PARITAS_OR_NULL options,
                                                  size_t n_potentials, const double *potentials,
                                                  double *currents);

/* The potential at which the currents balance. `options` may be NULL. results: n.
 *   plasma      n: in sunlight the plasma's distribution, in shade the one at the spacecraft
 *   covariance  n x 3 x 3, of ln density, kappa, ln theta as in paritas_kappa_result; or NULL
 *   sunlit      n: nonzero in sunlight
 * In sunlight electrons and photoelectrons balance between 0 and 150 V. In shade electrons, secondaries and
 * protons do. If electrons prevail at 0 V, the answer is the first stable potential below 0. Otherwise the
 * spacecraft charges up to the stable potential above 0. */
PARITAS_API paritas_status paritas_spacecraft_potential(
    paritas_context *context, size_t n, const paritas_kappa_plasma *plasma,
    const double *PARITAS_OR_NULL covariance, const unsigned char *sunlit,
    const paritas_potential_options *PARITAS_OR_NULL options, paritas_potential *results);
/* The same from spectra: fit, then potential. In sunlight the spectrum is fitted again and again with all
 * energies less the potential (rows at or below it are masked). A shifted kappa distribution is another kappa
 * distribution: the balance of currents tells the shift, a spectrum alone does not. In cold and tenuous
 * plasma, beyond about 25 V, more than one shift may balance: the lowest is found. Or none does, because fits
 * jump where a row falls below the potential, or from one minimum to another. Such spectra are NOT_SETTLED.
 * fits: n, the last fit of each: in sunlight the plasma's distribution, in shade the one at the spacecraft.
 * Options may be NULL. results: n. */
PARITAS_API paritas_status paritas_spacecraft_potential_of_spectra(
    paritas_context *context, const paritas_spectra *spectra, const unsigned char *sunlit,
    const paritas_kappa_options *PARITAS_OR_NULL kappa,
    const paritas_potential_options *PARITAS_OR_NULL options, paritas_kappa_result *fits,
    paritas_potential *results);

#define PARITAS_KAPPA_ENUMERATIONS(ENUMERATION)                                                     \
    ENUMERATION(paritas_kappa_weights, PARITAS_KAPPA_WEIGHTS_LIST, "What a kappa fit minimises.")   \
    ENUMERATION(paritas_kappa_density, PARITAS_KAPPA_DENSITY_LIST, "Where the density comes from.") \
    ENUMERATION(paritas_spectrum_status, PARITAS_SPECTRUM_STATUS_LIST, "Outcome of a spectrum.")    \
    ENUMERATION(paritas_currents, PARITAS_CURRENTS_LIST, "How currents are integrated.")            \
    ENUMERATION(paritas_potential_status, PARITAS_POTENTIAL_STATUS_LIST, "Outcome of a potential.")
#define PARITAS_KAPPA_RECORDS(RECORD)                                                       \
    RECORD(paritas_kappa_plasma, PARITAS_KAPPA_PLASMA_FIELDS, "A kappa distribution.")      \
    RECORD(paritas_kappa_result, PARITAS_KAPPA_RESULT_FIELDS, "Kappa fit of one spectrum.") \
    RECORD(paritas_potential, PARITAS_POTENTIAL_FIELDS, "Potential of the spacecraft.")
PARITAS_KAPPA_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
