/* paritas_kappa.h: the electrons around a spacecraft: kappa distributions fitted to spectra, and the
 * potential that their currents give the spacecraft.
 *
 * An isotropic kappa distribution (Vasyliunas, J. Geophys. Res. 73 (1968) 2839) has a density n (1/m^3),
 * kappa and a thermal speed theta (m/s):
 *
 *   f(v) = n Gamma(kappa + 1) / ((pi kappa)^1.5 Gamma(kappa - 1/2) theta^3) (1 + (v / theta)^2 /
 *   kappa)^-(kappa + 1)
 *
 * Fluxes are omnidirectional, 4 pi v^2 f / m in 1/(cm^2 s eV); temperatures T = kappa / (kappa - 1.5) m
 * theta^2 / 2 in eV. The electron's mass is CODATA's of 2018, m = 9.1093837015e-31 kg = 5.685630103565723e-12
 * eV s^2/m^2, everywhere.
 *
 * A spectrum has PARITAS_SPECTRUM_ENERGIES rows, each with an energy of its own. The rules of paritas.h hold.
 */
#ifndef PARITAS_KAPPA_H
#define PARITAS_KAPPA_H

#include "paritas.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_SPECTRUM_ENERGIES 15
#define PARITAS_SPECTRUM_CELLS 88

/* ---- kappa distributions -------------------------------------------------------------------------- */

typedef struct paritas_kappa_plasma {
    double density; /* 1/m^3; from 1 to 1e15 */
    double kappa;   /* above 1.5, at most 1000 */
    double theta;   /* m/s; from 1e4 to 1e9 */
} paritas_kappa_plasma;

/* The fluxes of n distributions at n_energies energies (eV, above 0, at most 1e9), the same for all: n x
 * n_energies, in the precision of the context. */
PARITAS_API paritas_status paritas_kappa_flux(paritas_context *context, size_t n,
                                              const paritas_kappa_plasma *plasma, size_t n_energies,
                                              const double *energy, double *flux);
/* Temperature (eV) of a thermal speed, and the thermal speed of a temperature; NaN where kappa is not above
 * 1.5 or the other number not above 0. */
PARITAS_API double paritas_kappa_temperature(double kappa, double theta);
PARITAS_API double paritas_kappa_theta(double kappa, double temperature);

/* ---- spectra from sweeps -------------------------------------------------------------------------- */

/* What the sensor's 88 cells are. */
typedef struct paritas_cells {
    size_t size;
    /* 88: inclination in degrees; its magnitude tells the ring, of 16, 16, 8 or 4 cells (11.25, 33.75, 56.25,
     * 78.75) */
    const double *theta;
    const double *solid_angle; /* 88: sr; NULL: of the rings' zones, exactly */
    double geometric_factor;   /* cm^2 sr */
    double accumulation;       /* s of a row, which the cells of a ring share */
} paritas_cells;
#define PARITAS_CELLS_DEFAULT {sizeof(paritas_cells), NULL, NULL, 0.02, 2.5}

/* Spectra of the incident hemisphere, of which the other is taken for a mirror. From n sweeps: energy n x 15
 * (eV), flux n x 15 x 88 (1/(cm^2 s sr eV); masked is what is not finite, and the archive's marks of missing
 * and flagged fluxes, not 0 and below 1e-90), cosine n x 15 x 88 (of the pitch angle with its polarity, above
 * 0: incident; NaN: masked).
 *
 *   omni         n x 15: 2 sum of flux x solid angle over the incident cells that are not masked, over the
 *                part of the hemisphere that they cover: a masked cell counts as the mean
 *                of the others and lowers nothing. A negative flux counts as it is. NaN where no cell is left
 *   coverage     n x 15: that part, 1 where nothing is masked
 *   sensitivity  n x 15: counts that stand behind a flux of 1: omni^2 over its Poisson variance, for a flux
 *                that is the same in all those cells
 *   counts       n x 15: pseudo-counts of all cells that are not masked, both hemispheres: each flux x
 *                geometric factor x energy x the cell's share of the time,
 *                rounded to whole, half to even; negative ones 0
 *   error        n x 15: their square root
 * The last four may be NULL. A row whose energy is not a positive number has NaN everywhere (counts 0). */
PARITAS_API paritas_status paritas_kappa_spectrum(paritas_context *context, const paritas_cells *cells,
                                                  size_t n, const double *energy, const double *flux,
                                                  const double *cosine, double *omni, double *coverage,
                                                  double *sensitivity, double *counts, double *error);

/* ---- fits ------------------------------------------------------------------------------------------ */

/* What a fit minimises. mu = sensitivity x model, N = sensitivity x flux.
 *   counts    twice the negative log-likelihood, over that of mu = N, of counts N with mean mu and variance
 *             mu + (systematic mu)^2 (negative binomial; Poisson where systematic is 0).
 *             A row without a count is, with the probability `dead`, one that did not measure, else as the
 *             others: where nothing was expected it tells something, where much was expected it decides
 *             nothing
 *   original  sum of [w (ln(model + 1e-6) - ln(flux + 1e-6))]^2 with w = 1 / (s + 1e-6), s = e / (flux +
 *             1e-6) + 1e-6, e = flux / (N + 1e-6) x sqrt(N + (0.05^2 + 0.1^2) N^2) of the
 *             pseudo-counts N: for comparison with fits that were made so. A row without a count gets the
 *             weight 5e5 and decides the fit. In f32 the polish does all of it: nothing else is left to see
 *             beside such weights
 *   none      the same with w = 1; errors are scaled by the residuals */
#define PARITAS_KAPPA_WEIGHTS_LIST(X) \
    X(COUNTS, 0, "counts")            \
    X(ORIGINAL, 1, "original")        \
    X(NONE, 2, "none")
typedef enum paritas_kappa_weights {
#define X(name, value, word) PARITAS_WEIGHTS_##name = value,
    PARITAS_KAPPA_WEIGHTS_LIST(X)
#undef X
} paritas_kappa_weights;

/* The density.
 *   fitted    with the others
 *   estimate  held at 1e4 sum of flux / speed x 0.5 energy, over the rows: what stands below the first energy
 *             is missing in it */
#define PARITAS_KAPPA_DENSITY_LIST(X) \
    X(FITTED, 0, "fitted")            \
    X(ESTIMATE, 1, "estimate")
typedef enum paritas_kappa_density {
#define X(name, value, word) PARITAS_DENSITY_##name = value,
    PARITAS_KAPPA_DENSITY_LIST(X)
#undef X
} paritas_kappa_density;

typedef struct paritas_kappa_options {
    size_t size;
    paritas_kappa_weights weights;
    paritas_kappa_density density;
    /* relative width (full, at half maximum) of the energy channels: the model is folded with Gaussians in ln
     * E of the standard deviation asinh(response / 2) / sqrt(2 ln 2), summed over the spectrum's own
     * energies, each row to 1; 0: none. Energies a factor of 1.64 apart sample a Gaussian of 0.21 coarsely:
     * it smears with 60 % of the true variance */
    double response;
    double systematic; /* relative error of every row beside that of its counts */
    /* probability that a row without a count did not measure; from 0, below 1 */
    double dead;
    double kappa_lower, kappa_upper; /* above 1.5, at most 1000 */
    double theta_lower, theta_upper; /* m/s; from 1e4 to 1e9 */
    unsigned max_iterations;         /* 0: 100 */
} paritas_kappa_options;
#define PARITAS_KAPPA_OPTIONS_DEFAULT \
    {sizeof(paritas_kappa_options),   \
     PARITAS_WEIGHTS_COUNTS,          \
     PARITAS_DENSITY_FITTED,          \
     0.5,                             \
     0.11180339887498949,             \
     0.05,                            \
     2.5,                             \
     6.0,                             \
     1e6,                             \
     1e8,                             \
     0}

/* Spectra to be fitted. All arrays n x 15, borrowed. A row whose energy is not a positive number or whose
 * flux is not finite is masked; so is one whose sensitivity (weights `counts`) is not a positive number or
 * whose counts (`original`) are not finite. A negative flux counts as 0. */
typedef struct paritas_spectra {
    size_t n;
    const double *energy;      /* eV */
    const double *flux;        /* omnidirectional */
    const double *sensitivity; /* for weights `counts`; NULL otherwise */
    const double *counts;      /* for weights `original`; NULL otherwise */
} paritas_spectra;

/* Outcome of a spectrum. Numbers of the plasma exist with FITTED only; why a fit is not converged says
 * `fit`. */
#define PARITAS_SPECTRUM_LIST(X)                                                     \
    X(FITTED, 0, "fitted")                                                           \
    X(NO_ROWS, 1, "no_rows")           /* all are masked */                          \
    X(TOO_FEW_ROWS, 2, "too_few_rows") /* with a flux: fewer than free parameters */ \
    X(NOT_FITTED, 3, "not_fitted")     /* or with a density outside its limits */
typedef enum paritas_spectrum_status {
#define X(name, value, word) PARITAS_SPECTRUM_##name = value,
    PARITAS_SPECTRUM_LIST(X)
#undef X
} paritas_spectrum_status;

typedef struct paritas_kappa_result {
    paritas_spectrum_status status;
    paritas_fit_status fit;
    unsigned iterations;
    unsigned rows;       /* not masked */
    unsigned empty_rows; /* of those without a count */
    paritas_kappa_plasma plasma;
    double temperature; /* eV */
    /* One standard deviation each, from the exact second derivatives at the minimum. NaN of what is held or
     * at a bound; the others are then for that value of it. */
    double density_error, kappa_error, theta_error, temperature_error;
    /* of ln density, kappa, ln theta; rows and columns of what is held or at a bound are 0 */
    double covariance[3][3];
    paritas_parameter_state kappa_state, theta_state;
    /* what was minimised, at the minimum: of weights `counts` a chi-square as far as that is one */
    double misfit;
    int dof;                 /* rows less free parameters */
    double edm;              /* estimated distance to the minimum, in units of the misfit */
    double density_estimate; /* 1/m^3; see paritas_kappa_density */
} paritas_kappa_result;

PARITAS_API const char *paritas_kappa_weights_name(paritas_kappa_weights weights); /* "counts", ... */
PARITAS_API const char *paritas_kappa_density_name(paritas_kappa_density density);
PARITAS_API const char *paritas_spectrum_status_name(paritas_spectrum_status status); /* "fitted", ... */

/* Fits every spectrum; results: n. `options` may be NULL. */
PARITAS_API paritas_status paritas_kappa_fit(paritas_context *context, const paritas_spectra *spectra,
                                             const paritas_kappa_options *options,
                                             paritas_kappa_result *results);
/* What a fit minimises at n_points points, the same for every spectrum: misfit n x n_points, NaN where no row
 * is left. Where the density is held at the estimate, that of the points is not looked at. */
PARITAS_API paritas_status paritas_kappa_misfit(paritas_context *context, const paritas_spectra *spectra,
                                                const paritas_kappa_options *options, size_t n_points,
                                                const paritas_kappa_plasma *points, double *misfit);
/* The energy response of n_energies energies: n_energies x n_energies, row-major; relative width as in the
 * options. */
PARITAS_API paritas_status paritas_kappa_response(paritas_context *context, double response,
                                                  size_t n_energies, const double *energy, double *matrix);

/* ---- currents and the spacecraft's potential -------------------------------------------------------- */

/* How the currents in shade are integrated.
 *   converged  to rounding
 *   sums       trapezoids on 500 energies from 1 to 20000 eV, which begin at the first one not below |U| and
 *              so jump where U passes one; the root is what Brent's method finds to 1e-3 V
 *              between 0 V and -1500 V (or 1.5, 1.5^2 .. 1.5^10 times that). For comparison with potentials
 *              that were made so: in hot plasma they differ by 10 V */
#define PARITAS_CURRENTS_LIST(X) \
    X(CONVERGED, 0, "converged") \
    X(SUMS, 1, "sums")
typedef enum paritas_currents {
#define X(name, value, word) PARITAS_CURRENTS_##name = value,
    PARITAS_CURRENTS_LIST(X)
#undef X
} paritas_currents;

typedef struct paritas_potential_options {
    size_t size;
    paritas_currents currents;
    double sun_lower, sun_upper;     /* energies of the electrons that count in sunlight, eV; from 0 on */
    double shade_lower, shade_upper; /* and in shade; of `sums` those of the grid */
    /* temperature of secondary electrons, eV: what a positive spacecraft keeps of them */
    double secondary_energy;
    /* of spectra in sunlight: how often at most energies are shifted and the distribution is fitted anew;
     * until potential and shift agree to 1 mV. 1 was usual; with 0 and 1 no agreement is asked for */
    unsigned refits;
    /* nonzero: fluxes of shifted spectra times (E - U) / E, as the density in phase space asks; 0: energies
     * alone are shifted, as was usual */
    int liouville;
} paritas_potential_options;
#define PARITAS_POTENTIAL_OPTIONS_DEFAULT \
    {sizeof(paritas_potential_options), PARITAS_CURRENTS_CONVERGED, 10.0, 20000.0, 1.0, 20000.0, 3.0, 20, 1}

/* Outcome of a potential. Numbers other than the shift exist with FOUND only. */
#define PARITAS_POTENTIAL_LIST(X)                                                                                         \
    X(FOUND, 0, "found")                                                                                                  \
    X(NO_DISTRIBUTION, 1,                                                                                                 \
      "no_distribution") /* the spectrum was not fitted, or the numbers are outside the limits of paritas_kappa_plasma */ \
    X(ABOVE_RANGE, 2, "above_range") /* in sunlight: so few electrons that 150 V are not enough */                        \
    X(BELOW_ZERO, 3, "below_zero")   /* in sunlight: more electrons than photoelectrons at 0 V */                         \
    X(NO_BALANCE, 4, "no_balance")   /* in shade: there is no root in the range */                                        \
    X(AT_BOUND, 5,                                                                                                        \
      "distribution_at_bound") /* of spectra: theta was fitted to a bound, so the currents are those of the bound */      \
    X(NOT_SETTLED, 6,                                                                                                     \
      "not_settled") /* of spectra in sunlight: no shift is the potential that it leads to; `shift` is the last one that was tried */
typedef enum paritas_potential_status {
#define X(name, value, word) PARITAS_POTENTIAL_##name = value,
    PARITAS_POTENTIAL_LIST(X)
#undef X
} paritas_potential_status;

typedef struct paritas_potential {
    paritas_potential_status status;
    int sunlit;
    double potential; /* V */
    /* one standard deviation, from the covariance of the distribution; of a shifted spectrum with what the
     * shift does in turn. NaN without a covariance and where the shift decides all. It knows nothing of the
     * jump from one stable potential to another */
    double error;
    /* in shade: another stable potential below 0 V, where the spacecraft may be too if it was negative
     * before; NaN where there is none */
    double second;
    /* V by which the energies of the spectrum were lowered for the fit; 0 where they were not */
    double shift;
    /* of the plasma, eV: in shade what the spectrum at the spacecraft has, plus potential / (kappa - 1.5); in
     * sunlight that of the distribution */
    double temperature;
    double electrons; /* currents there, A/m^2: in */
    double emitted;   /* out: photoelectrons in sunlight, secondaries in shade */
    double ions;      /* in; in sunlight they are left out: 0 */
} paritas_potential;

/* "converged", ... */
PARITAS_API const char *paritas_currents_name(paritas_currents currents);
PARITAS_API const char *paritas_potential_status_name(paritas_potential_status status); /* "found", ... */

/* Photoelectrons that leave a spacecraft of this potential (V), A/m^2: 1.07e-6 exp(-U/5) + 1.6e-8 exp(-U/60).
 * And the potential of such a current, NaN outside 0 .. 150 V. */
PARITAS_API double paritas_photoelectron_current(double potential);
PARITAS_API double paritas_photoelectron_potential(double current);
/* Secondary electrons that an electron of this energy (eV) sets free: 11.1 z exp(-2 sqrt z), z = E / 500 eV
 * (Sternglass, 1954); 0 below 0. */
PARITAS_API double paritas_secondary_yield(double energy);
/* Electrons of a distribution between two energies (eV; the upper one may be infinite) onto a plane, A/m^2:
 * the integral of e flux / 4, in closed form. NaN outside the limits of paritas_kappa_plasma, or where the
 * energies do not ascend from 0. */
PARITAS_API double paritas_electron_current(const paritas_kappa_plasma *plasma, double lower, double upper);
/* Currents of electrons, secondaries and ions of a spacecraft in shade that has one of n_potentials
 * potentials (V), the same for all, in plasma whose spectrum was measured there: currents n x n_potentials x
 * 3, A/m^2. NaN where the potential would leave the plasma without temperature: at and below -(kappa - 1.5)
 * T. */
PARITAS_API paritas_status paritas_shade_currents(paritas_context *context, size_t n,
                                                  const paritas_kappa_plasma *plasma,
                                                  const paritas_potential_options *options,
                                                  size_t n_potentials, const double *potentials,
                                                  double *currents);

/* The potential at which the currents balance. In sunlight electrons and photoelectrons, between 0 and 150 V;
 * the distribution is the plasma's. In shade electrons, secondaries and protons; the distribution is the
 * spectrum's at the spacecraft. Where electrons prevail at 0 V, the first stable potential below; where they
 * do not, the one above, up to which the others charge it. covariance: n x 3 x 3, of ln density, kappa, ln
 * theta as in paritas_kappa_result, or NULL. sunlit: n, nonzero in sunlight. `options` may be NULL. results:
 * n. */
PARITAS_API paritas_status paritas_spacecraft_potential(paritas_context *context, size_t n,
                                                        const paritas_kappa_plasma *plasma,
                                                        const double *covariance, const unsigned char *sunlit,
                                                        const paritas_potential_options *options,
                                                        paritas_potential *results);
/* The same from spectra: fit, potential; in sunlight, again and again, the spectrum with all energies less
 * the potential (rows at or below it are masked), fit, potential. A shifted kappa distribution is another
 * one, so a spectrum alone does not tell its shift: that the currents balance does. In cold and tenuous
 * plasma, where the potential is beyond about 25 V, more than one shift may do, and the lowest is found.
 * There may be none: fits jump where a row falls below the potential, and from one minimum to another. Such
 * spectra are NOT_SETTLED. fits: n, the last fit of each; in sunlight that is the plasma's distribution, in
 * shade that at the spacecraft. Options may be NULL. */
PARITAS_API paritas_status paritas_spacecraft_potential_of_spectra(
    paritas_context *context, const paritas_spectra *spectra, const unsigned char *sunlit,
    const paritas_kappa_options *kappa, const paritas_potential_options *options, paritas_kappa_result *fits,
    paritas_potential *results);

#ifdef __cplusplus
}
#endif
#endif
