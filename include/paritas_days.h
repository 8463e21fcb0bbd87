/* paritas_days.h: days of the Electron Reflectometer: from files to sweeps that fits take.
 *
 *   paths ─► paritas_days_find ─► paritas_day_read ─► paritas_er_day
 *         ─► paritas_day_prepare   geometry, masks, backgrounds, pitch angles, normalised fluxes
 *         ─► paritas_day_plasma    kappa distributions, spacecraft potentials
 *         ─► paritas_day_count     subtracted backgrounds, channels, rows of few counts
 *         ─► paritas_day_sweeps_of ─► paritas_losscone_answer, for each response
 *
 * The program and the Python package make their tables this way, so they have the same bits. They write the
 * tables: the library writes no files of its own accord. Units and arrays are as in paritas_er.h. The rules
 * of paritas.h hold.
 */
#ifndef PARITAS_DAYS_H
#define PARITAS_DAYS_H

#include "paritas_er.h"
#include "paritas_kappa.h"
#include "paritas_losscone.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- files -------------------------------------------------------------------------------------- */

typedef struct paritas_day_file {
    const char *path;
    int date; /* YYYYMMDD of its rows, else of its name; 0: it is no day file */
} paritas_day_file;

/* The files of one date. */
typedef struct paritas_day {
    char date[11]; /* YYYY-MM-DD; "": no day file, a day by itself */
    size_t n;
    const paritas_day_file *files; /* n, by path */
    uint64_t first; /* number of its first sweep, which keys random numbers: the same in any run */
} paritas_day;

typedef struct paritas_days {
    size_t n;
    const paritas_day *days; /* n, by date */
} paritas_days;

/* Finds day files among `n` paths, which are files or folders. year, month, day: 0 is any. Files of one
 * date are one day; rows say the date, else the name does. Copies of a file are left out, with a note.
 * NOT_FOUND: no file is left. INVALID_INPUT: none of them is a day file. Beside day files, such a file is a
 * day by itself, which paritas_day_read refuses. Copies the paths; free with paritas_days_free. */
PARITAS_API paritas_status paritas_days_find(paritas_context *context, size_t n, const char *const *paths,
                                             int year, int month, int day, paritas_days **days);
PARITAS_API void paritas_days_free(paritas_days *days); /* NULL is a no-op */

/* What a file brings to the other files of its date. */
typedef struct paritas_day_share {
    size_t size;
    char digest[65];   /* SHA-256 of the file; "" of a day in memory */
    uint64_t sweeps;   /* in the file */
    uint64_t repeated; /* of these also in an earlier file: the copy with more rows counts */
    uint64_t other;    /* of the repeated ones, those with other data; of equal length, the first counts */
    int64_t shift;     /* added to its spectrum numbers, which earlier files use for other sweeps; 0: none */
    uint64_t strays;   /* sweeps of other days */
} paritas_day_share;

/* Reads all files of a day and joins their sweeps. A sweep of a later file repeats one that begins at the
 * same time, or has its number at about that time. shares: one a file. INVALID_INPUT: a file cannot be read
 * as a day, or no cell of the day has a flux. The message has the reason. Free the day with
 * paritas_er_day_free. */
PARITAS_API paritas_status paritas_day_read(paritas_context *context, const paritas_day *files,
                                            const paritas_er_options *PARITAS_OR_NULL options,
                                            paritas_day_share *shares, paritas_er_day **day);
/* Joins n days of one date that are in memory, in the same way. The parts stay as they are. */
PARITAS_API paritas_status paritas_day_join(paritas_context *context, size_t n,
                                            const paritas_er_day *const *parts, paritas_day_share *shares,
                                            paritas_er_day **day);

/* ---- sweeps ------------------------------------------------------------------------------------- */

/* Where potentials of the spacecraft come from. */
#define PARITAS_POTENTIAL_SOURCE_LIST(ITEM)                                                             \
    ITEM(PARITAS_POTENTIAL_SOURCE_AUTO, 0, "auto", "from the plasma's currents, by paritas_day_plasma") \
    ITEM(PARITAS_POTENTIAL_SOURCE_VALUE, 1, "value", "one number for all sweeps")                       \
    ITEM(PARITAS_POTENTIAL_SOURCE_DAY, 2, "day", "as the day has them, from a table for example")
typedef enum paritas_potential_source {
    PARITAS_POTENTIAL_SOURCE_LIST(PARITAS_ENUMERATOR)
} paritas_potential_source;

#define PARITAS_DAY_OPTIONS(OPTION, OTHER, S)                                                              \
    OTHER(S, const double *, theta, "88 inclinations of the cells; NULL: built-in")                        \
    OPTION(S, double, polarity, 0.0, PARITAS_FROM(-1), PARITAS_TO(1), "", "",                              \
           "of all rows, +1 or -1; 0: as day and sources have it")                                         \
    OPTION(S, double, sunlight, PARITAS_SWEEP_SUNLIGHT, PARITAS_FROM(0), PARITAS_TO(180), "--sunlight",    \
           "degrees", "mask cells this near the Sun, if its direction is known; 0: none")                  \
    OPTION(S, paritas_normalisation, normalisation, PARITAS_NORMALISATION_RATIO, PARITAS_NO_BOUND,         \
           PARITAS_NO_BOUND, "--normalisation", "",                                                        \
           "flux over the mean or the largest of the row's incident cells, or over the mirrored cell")     \
    OPTION(S, paritas_potential_source, potential_source, PARITAS_POTENTIAL_SOURCE_AUTO, PARITAS_NO_BOUND, \
           PARITAS_NO_BOUND, "", "", "where the spacecraft's potential comes from")                        \
    OPTION(S, double, potential, 0.0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "V",                         \
           "of the spacecraft in all sweeps, with PARITAS_POTENTIAL_SOURCE_VALUE")                         \
    OPTION(S, paritas_truth, sunlit, 1, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                        \
           "is the spacecraft in sunlight, where the day does not tell?")                                  \
    OPTION(S, double, least_counts, 20.0, PARITAS_FROM(0), PARITAS_NO_BOUND, "--least-counts", "",         \
           "mask rows with fewer counts a cell, on average; counts are made from fluxes; 0: ignore "       \
           "counting noise")                                                                               \
    OPTION(S, paritas_truth, subtract_background, 1, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",           \
           "a rate of counts that is the same at all energies of a sweep, where the highest show it")      \
    OPTION(S, paritas_truth, weighted, 1, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                      \
           "channels of the folded edge are weighted by the measured spectrum")                            \
    OTHER(S, const paritas_kappa_options *, kappa, "of the plasma's fits")                                 \
    OTHER(S, const paritas_potential_options *, charging, "of the spacecraft's potentials")                \
    OTHER(S, const paritas_losscone_options *, losscone, "response_width of the channels; and of causes")

/* Options of all functions on days. All pointers are borrowed; NULL: defaults. */
typedef struct paritas_day_options {
    size_t size;
    PARITAS_DAY_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_day_options;
#define PARITAS_DAY_OPTIONS_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_day_options, PARITAS_DAY_OPTIONS)

/* Sources of geometry. They are applied in this order; later values replace earlier ones. All are borrowed,
 * and may be missing. */
typedef struct paritas_day_sources {
    size_t size;
    size_t n_mags;
    const paritas_er_mag *const *mags; /* n_mags: records of the magnetometer */
    const paritas_er_geometry *geometry;
    const paritas_er_spice *spice; /* with its attitude */
    const paritas_er_attitude *attitude;
    const paritas_er_geometry *polarities, *potentials; /* tables of one column each, or more */
} paritas_day_sources;
#define PARITAS_DAY_SOURCES_DEFAULT PARITAS_INIT(paritas_day_sources)

/* Arrays that go with a day of n sweeps; the library's. They may be written to. NULL: not made. */
typedef struct paritas_day_sweeps {
    size_t size;
    size_t n;
    /* paritas_day_prepare */
    double *mag;       /* n x 3: mean field of the magnetometer, nT, SEL; NULL without records */
    double *potential; /* n x 15: of the spacecraft, V; NaN: to be found from the plasma */
    double *cosine;    /* n x 15 x 88: of the pitch angle */
    double *flux;      /* n x 15 x 88: normalised */
    double *rate;      /* n: background, counts/s of a cell; 0: none is seen, or it is not to be subtracted */
    size_t of_mags, of_geometry, of_polarities, of_potentials; /* sweeps that each source has */
    /* paritas_day_plasma */
    paritas_kappa_result *plasma;  /* n */
    paritas_potential *potentials; /* n; NULL: they were given */
    double *coverage;              /* n x 15: measured part of the hemisphere */
    uint8_t *sunlit;               /* n: as assumed */
    double *potential_error;       /* n: V, or the distance to another solution if that is larger */
    /* paritas_day_count */
    double *channel;    /* n x 15 x 5: of the folded edge; NULL: of equal weight */
    double *counts;     /* n x 15 x 88: counts behind a normalised flux of 1; NULL without counting noise */
    double *background; /* n x 15: subtracted normalised flux */
    double *measured;   /* n x 15 x 88: counts, background included; NULL without counting noise */
    double *scatter;    /* n: least scatter of cells beyond counting; NULL unless counts are coarse */
} paritas_day_sweeps;

/* Gives the day its geometry, masks cells and rows, finds backgrounds, and computes pitch angles and
 * normalised fluxes. Changes the day. `options` and `sources` may be NULL. Free with paritas_day_sweeps_free,
 * before the context is closed. */
PARITAS_API paritas_status paritas_day_prepare(paritas_context *context,
                                               const paritas_day_options *PARITAS_OR_NULL options,
                                               const paritas_day_sources *PARITAS_OR_NULL sources,
                                               paritas_er_day *day, paritas_day_sweeps **sweeps);
PARITAS_API void paritas_day_sweeps_free(paritas_day_sweeps *sweeps); /* NULL is a no-op */
/* Fits kappa distributions to the incident electrons above the background. With PARITAS_POTENTIAL_SOURCE_AUTO
 * it also finds the spacecraft's potentials and gives them to day and sweeps. With other sources it lowers
 * the energies by the given potentials. */
PARITAS_API paritas_status paritas_day_plasma(paritas_context *context,
                                              const paritas_day_options *PARITAS_OR_NULL options,
                                              paritas_er_day *day, paritas_day_sweeps *sweeps);
/* Subtracts backgrounds, makes channels, masks rows of few counts, and normalises again. Changes the day's
 * fluxes and reasons; `day` may be a copy of the day that was prepared. Fits of plasmas and the search for
 * beams need the fluxes as they were before. Call the method's mask, paritas_losscone_mask, afterwards. */
PARITAS_API paritas_status paritas_day_count(paritas_context *context,
                                             const paritas_day_options *PARITAS_OR_NULL options,
                                             paritas_er_day *day, paritas_day_sweeps *sweeps);
/* The arrays as fits take them. */
PARITAS_API void paritas_day_sweeps_of(const paritas_er_day *day, const paritas_day_sweeps *sweeps,
                                       paritas_sweeps *data);

/* ---- answers ------------------------------------------------------------------------------------ */

/* Why sweep k has nothing to fit, else how the fit ended: a word of paritas_er_reason, of
 * paritas_sweep_status, or "no_spacecraft_potential". */
PARITAS_API const char *paritas_day_status(const paritas_er_day *day, size_t k,
                                           const paritas_losscone_result *result);

/* Surroundings of the Moon, by illumination of the footpoint and temperature. */
#define PARITAS_ENVIRONMENT_LIST(ITEM)                                                            \
    ITEM(PARITAS_ENVIRONMENT_UNKNOWN, 0, "unknown", "there is no illumination or no temperature") \
    ITEM(PARITAS_ENVIRONMENT_SOLAR_WIND, 1, "solar wind", "below 30 eV")                          \
    ITEM(PARITAS_ENVIRONMENT_MAGNETOSHEATH, 2, "magnetosheath", "from 30 eV")                     \
    ITEM(PARITAS_ENVIRONMENT_LOBE, 3, "lobe", "of the Earth's magnetotail: from 80 eV")           \
    ITEM(PARITAS_ENVIRONMENT_PLASMA_SHEET, 4, "plasma sheet", "from 150 eV")                      \
    ITEM(PARITAS_ENVIRONMENT_WAKE, 5, "wake", "the footpoint is dark")
typedef enum paritas_environment { PARITAS_ENVIRONMENT_LIST(PARITAS_ENUMERATOR) } paritas_environment;
/* projection_in_sun: of the footpoint, 1, 0 or NaN; temperature: eV, or NaN. */
PARITAS_API paritas_environment paritas_environment_of(double projection_in_sun, double temperature);

/* A setting that may be wrong for a whole day. */
#define PARITAS_DAY_SETTING_LIST(ITEM)                                                                  \
    ITEM(PARITAS_DAY_SETTING_NONE, 0, "none", "none of them helps most sweeps")                         \
    ITEM(PARITAS_DAY_SETTING_POLARITY, 1, "polarity", "the other polarity")                             \
    ITEM(PARITAS_DAY_SETTING_ILLUMINATION, 2, "illumination", "potentials with the other illumination") \
    ITEM(PARITAS_DAY_SETTING_SPACECRAFT_POTENTIAL, 3, "spacecraft_potential", "potentials from the plasma")
typedef enum paritas_day_setting { PARITAS_DAY_SETTING_LIST(PARITAS_ENUMERATOR) } paritas_day_setting;

#define PARITAS_DAY_CAUSE_FIELDS(FIELD, R)                                                           \
    FIELD(R, size_t, tried, , "tried", "", "sweeps that were fitted again; 0: most sweeps are good") \
    FIELD(R, size_t, good, , "good", "", "of these with the best setting")                           \
    FIELD(R, paritas_day_setting, cause, , "cause", "", "this setting, if most of them are good with it")
typedef struct paritas_day_cause {
    size_t size;
    PARITAS_DAY_CAUSE_FIELDS(PARITAS_MEMBER, )
} paritas_day_cause;

/* If 30 % or more of the sweeps are not good (and at least 5), fits up to 60 of those again, with other
 * settings. Call it after paritas_day_count; day and sweeps stay as they are.
 *   responses   bits 1 << PARITAS_LOSSCONE_RESPONSE_...: the fits that were made
 *   first       number of the day's first sweep
 *   good        n: nonzero for good sweeps */
PARITAS_API paritas_status paritas_day_find_cause(paritas_context *context,
                                                  const paritas_day_options *PARITAS_OR_NULL options,
                                                  unsigned responses, uint64_t first, paritas_er_day *day,
                                                  paritas_day_sweeps *sweeps, const unsigned char *good,
                                                  paritas_day_cause *cause);

/* ---- synthetic sweeps --------------------------------------------------------------------------- */

/* The edge of the true cone. */
#define PARITAS_TRUE_EDGE_LIST(ITEM)                                                \
    ITEM(PARITAS_TRUE_EDGE_HARD, 0, "hard", "at the row's energy")                  \
    ITEM(PARITAS_TRUE_EDGE_FOLDED, 1, "folded", "over the channel's five energies") \
    ITEM(PARITAS_TRUE_EDGE_INTEGRAL, 2, "integral",                                 \
         "averaged over a Gaussian response in ln E, each energy by its flux")
typedef enum paritas_true_edge { PARITAS_TRUE_EDGE_LIST(PARITAS_ENUMERATOR) } paritas_true_edge;

/* Plasmas around the Moon. */
#define PARITAS_REGION_LIST(ITEM)                                         \
    ITEM(PARITAS_REGION_SOLAR_WIND, 0, "solar-wind", "8 to 15 eV")        \
    ITEM(PARITAS_REGION_MAGNETOSHEATH, 1, "magnetosheath", "20 to 50 eV") \
    ITEM(PARITAS_REGION_LOBE, 2, "lobe", "50 to 150 eV")                  \
    ITEM(PARITAS_REGION_PLASMA_SHEET, 3, "plasma-sheet", "150 to 500 eV")
typedef enum paritas_region { PARITAS_REGION_LIST(PARITAS_ENUMERATOR) } paritas_region;

/* How counts are stored before they become fluxes. */
#define PARITAS_COMPRESSION_LIST(ITEM)                 \
    ITEM(PARITAS_COMPRESSION_NONE, 0, "none", "whole") \
    ITEM(PARITAS_COMPRESSION_ARCHIVE, 1, "archive",    \
         "as 8-bit logarithms, truncated to the lower end of an interval, as the archive's were")
typedef enum paritas_compression { PARITAS_COMPRESSION_LIST(PARITAS_ENUMERATOR) } paritas_compression;

/* Two options, NAME_lower and NAME_upper, with one word: the program takes LO:HI. */
#define PARITAS_RANGE(OPTION, S, name, from, to, least, word, unit, doc)                          \
    OPTION(S, double, name##_lower, from, PARITAS_FROM(least), PARITAS_NO_BOUND, word, unit, doc) \
    OPTION(S, double, name##_upper, to, PARITAS_FROM(least), PARITAS_NO_BOUND, word, unit, doc)
#define PARITAS_SYNTHETIC_OPTIONS(OPTION, OTHER, S)                                                          \
    PARITAS_RANGE(OPTION, S, true_potential, -400.0, -10.0, -1e6, "--true-potential", "V", "of the surface") \
    PARITAS_RANGE(OPTION, S, true_ratio, 0.4, 1.05, 1e-6, "--true-ratio", "", "of r")                        \
    OPTION(S, double, beams, 0.5, PARITAS_FROM(0.0), PARITAS_TO(1.0), "--beams", "",                         \
           "part of the sweeps with a beam")                                                                 \
    PARITAS_RANGE(OPTION, S, true_amplitude, 0.0, 2.0, 0.0, "--true-amplitude", "", "of the beam")           \
    PARITAS_RANGE(OPTION, S, noise, 0.1, 0.3, 0.0, "--noise", "",                                            \
                  "standard deviation of the flux's logarithm, drawn for each sweep")                        \
    OPTION(S, paritas_truth, plasma, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--plasma", "",                  \
           "spectra of kappa distributions; default: a power law")                                           \
    PARITAS_RANGE(OPTION, S, true_spacecraft, 5.0, 15.0, -1e6, "--true-spacecraft", "V",                     \
                  "of the spacecraft; a plasma decides its own by the currents")                             \
    PARITAS_RANGE(OPTION, S, true_density, 1e5, 1e7, 1e-3, "--true-density", "1/m^3",                        \
                  "of the plasma; a region has its own")                                                     \
    PARITAS_RANGE(OPTION, S, true_kappa, 3.0, 6.0, 1.6, "--true-kappa", "",                                  \
                  "of the plasma; a region has its own")                                                     \
    PARITAS_RANGE(OPTION, S, true_temperature, 10.0, 200.0, 1e-3, "--true-temperature", "eV",                \
                  "of the plasma; a region has its own")                                                     \
    OPTION(S, double, channel_width, 0.5, PARITAS_FROM(0.0), PARITAS_TO(10.0), "--channel-width", "",        \
           "relative width of the energy channels, with which spectra of a plasma are folded, as kappa "     \
           "fits fold theirs; 0: none")                                                                      \
    OPTION(S, double, missing_cells, 0.0, PARITAS_FROM(0.0), PARITAS_TO(1.0), "--missing-cells", "",         \
           "part of the cells with a missing flux or azimuth")                                               \
    OPTION(S, double, missing_rows, 0.0, PARITAS_FROM(0.0), PARITAS_TO(1.0), "--missing-rows", "",           \
           "part of the rows that are left out")                                                             \
    OPTION(S, double, bad_fields, 0.0, PARITAS_FROM(0.0), PARITAS_TO(1.0), "--bad-fields", "",               \
           "part of the sweeps whose magnetic field is 0")                                                   \
    OPTION(S, paritas_truth, low_energies, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--low-energies", "",      \
           "every second sweep has the instrument's other table of energies, from 7 eV")                     \
    OPTION(S, paritas_truth, counts, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--counts", "",                  \
           "fluxes from Poisson counts, in addition to noise; default: no counting noise")                   \
    OPTION(S, double, background_rate, 0.0, PARITAS_FROM(0.0), PARITAS_TO(1e6), "--background-rate",         \
           "counts/s", "of a cell, not from electrons")                                                      \
    OPTION(S, double, sun_rate, 0.0, PARITAS_FROM(0.0), PARITAS_TO(1e6), "--sun-rate", "counts/s",           \
           "of a cell within 14 degrees of the Sun, from its light; 0: no Sun in the data")                  \
    OPTION(S, paritas_compression, compression, PARITAS_COMPRESSION_NONE, PARITAS_NO_BOUND,                  \
           PARITAS_NO_BOUND, "--compression", "",                                                            \
           "of counts: none, or 8-bit logarithms, truncated, as the archive's were")                         \
    OPTION(S, double, geometric_factor, PARITAS_SWEEP_GEOMETRIC_FACTOR, PARITAS_FROM(1e-9), PARITAS_TO(1e3), \
           "--geometric-factor", "cm^2 sr", "of the instrument")                                             \
    OPTION(S, double, accumulation, PARITAS_SWEEP_ACCUMULATION, PARITAS_FROM(1e-6), PARITAS_TO(1e6),         \
           "--accumulation", "s", "time of a row, which the cells of a ring of directions share")            \
    OPTION(S, double, dead_time, PARITAS_SWEEP_DEAD_TIME, PARITAS_FROM(0.0), PARITAS_TO(1.0), "--dead-time", \
           "s",                                                                                              \
           "after each count; fluxes are corrected; a correction above 1.25 marks the cell as erroneous")    \
    OPTION(S, double, polarity, -1.0, PARITAS_FROM(-1.0), PARITAS_TO(1.0), "", "", "+1 or -1; 0: drawn")     \
    OPTION(S, paritas_true_edge, edge, PARITAS_TRUE_EDGE_HARD, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",   \
           "of the cone; beams need the hard one")                                                           \
    OPTION(S, paritas_truth, weighted, 1, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                        \
           "the folded edge by the spectrum")                                                                \
    OPTION(S, uint64_t, seed, 42, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--seed", "", "random seed")           \
    OPTION(S, uint64_t, first, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                                \
           "number of the first sweep: a sweep has the same numbers in any batch")                           \
    OPTION(S, double, time, 0.0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "s",                                \
           "Unix time of the first sweep; the next come 80 s apart, or less")                                \
    OTHER(S, const double *, theta, "88 inclinations of the cells; NULL: built-in")                          \
    OPTION(S, paritas_truth, orbit, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--orbit", "",                    \
           "sweeps have places along a polar orbit of 118 minutes, above which the field is radial")

/* How synthetic sweeps are drawn. Ranges are uniform; density and temperature are log-uniform. Start from
 * PARITAS_SYNTHETIC_OPTIONS_DEFAULT. */
typedef struct paritas_synthetic_options {
    size_t size;
    PARITAS_SYNTHETIC_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_synthetic_options;
#define PARITAS_SYNTHETIC_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_synthetic_options, PARITAS_SYNTHETIC_OPTIONS)
/* Sets plasma, density, kappa and temperature as they are in a region. */
PARITAS_API void paritas_synthetic_region(paritas_region region, paritas_synthetic_options *options);
/* Sets counts, background, light of the Sun and compression as the archive's fluxes have them. */
PARITAS_API void paritas_synthetic_as_stored(paritas_synthetic_options *options);

/* Truth of sweeps: arrays of n that the caller has. */
#define PARITAS_TRUTH_LIST(ITEM)                                              \
    ITEM(potential, "potential", "of the surface, V")                         \
    ITEM(ratio, "ratio", "r")                                                 \
    ITEM(amplitude, "amplitude", "of the beam; 0: none")                      \
    ITEM(noise, "noise", "standard deviation of ln flux")                     \
    ITEM(spacecraft, "spacecraft_potential", "V")                             \
    ITEM(polarity, "polarity", "+1 or -1")                                    \
    ITEM(sunlit, "spacecraft_in_sun", "1")                                    \
    ITEM(density, "density", "1/m^3; NaN, as the next three, for power laws") \
    ITEM(kappa, "kappa", "")                                                  \
    ITEM(theta, "theta", "thermal speed, m/s")                                \
    ITEM(temperature, "temperature", "eV")
#define PARITAS_TRUTH_MEMBER(name, column, doc) double *name;
typedef struct paritas_truths {
    size_t size;
    PARITAS_TRUTH_LIST(PARITAS_TRUTH_MEMBER)
} paritas_truths;

/* Draws n sweeps from the models that are fitted, with the damage of real files. A sweep depends on the seed
 * and its number alone. With a sun_rate the day has the Sun's direction, with orbit the places of spacecraft
 * and field lines. losscone: beam and response. Both options may be NULL. Fills the arrays of `truths`. Free
 * the day with paritas_er_day_free, also after a failure. */
PARITAS_API paritas_status paritas_day_synthesize(paritas_context *context,
                                                  const paritas_synthetic_options *PARITAS_OR_NULL options,
                                                  const paritas_losscone_options *PARITAS_OR_NULL losscone,
                                                  size_t n, const paritas_truths *truths,
                                                  paritas_er_day **day);

#define PARITAS_DAYS_ENUMERATIONS(ENUMERATION)                                                           \
    ENUMERATION(paritas_potential_source, PARITAS_POTENTIAL_SOURCE_LIST,                                 \
                "Where potentials of the spacecraft come from.")                                         \
    ENUMERATION(paritas_environment, PARITAS_ENVIRONMENT_LIST, "Surroundings of the Moon.")              \
    ENUMERATION(paritas_day_setting, PARITAS_DAY_SETTING_LIST, "A setting that may be wrong for a day.") \
    ENUMERATION(paritas_true_edge, PARITAS_TRUE_EDGE_LIST, "The edge of a synthetic cone.")              \
    ENUMERATION(paritas_region, PARITAS_REGION_LIST, "Plasmas around the Moon.")                         \
    ENUMERATION(paritas_compression, PARITAS_COMPRESSION_LIST, "How counts are stored.")
#define PARITAS_DAYS_RECORDS(RECORD) \
    RECORD(paritas_day_cause, PARITAS_DAY_CAUSE_FIELDS, "Which setting may be wrong for a day.")
PARITAS_DAYS_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
