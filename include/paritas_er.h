/* paritas_er.h: day files of Lunar Prospector's Electron Reflectometer, in and out, and the geometry that
 * goes with them.
 *
 *   3DYYMMDD.TAB ─► paritas_er_read ─► paritas_er_day ─► paritas_losscone.h, paritas_kappa.h
 *   theta.tab, attitude.tab, a table of geometry or SPICE kernels ──┘
 *
 * A day file (PDS LP-L-ER-3-RDR-3DELEFLUX-80SEC) has no header. A row has 183 fields: UTC, Unix time, energy,
 * spectrum number, field (3), flux of 88 cells, their azimuths (88). Rows of one spectrum number are a sweep,
 * wherever in the file they stand; a sweep has at most 15. Every masked cell, row and sweep has a reason.
 * Every reason has its count and the line where it was first met.
 *
 * Arrays go sweep by sweep, row by row, cell by cell. Angles are in degrees, energies in eV, fields in nT,
 * lengths in km, times in Unix seconds. The rules of paritas.h hold.
 */
#ifndef PARITAS_ER_H
#define PARITAS_ER_H

#include "paritas_context.h"
#include "paritas_sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_ER_FIELDS 183 /* of a row */
/* Bytes of a UTC text with its end: YYYY-MM-DDThh:mm:ss, up to three decimals of the second. */
#define PARITAS_ER_UTC_SIZE 24
#define PARITAS_MOON_RADIUS 1737.4

/* ---- reasons ------------------------------------------------------------------------------------ */

/* What a reason applies to. */
#define PARITAS_ER_UNIT_LIST(ITEM)                                  \
    ITEM(PARITAS_ER_UNIT_CELL, 0, "cell", "one direction of a row") \
    ITEM(PARITAS_ER_UNIT_ROW, 1, "row", "one energy of a sweep")    \
    ITEM(PARITAS_ER_UNIT_SWEEP, 2, "sweep", "all rows of a spectrum number")
typedef enum paritas_er_unit { PARITAS_ER_UNIT_LIST(PARITAS_ENUMERATOR) } paritas_er_unit;

/* Why a cell, a row or a sweep is masked. Damage is what paritas_er_options.strict refuses. A masked row
 * masks its cells with the row's reason, a masked sweep its rows and cells with the sweep's. */
#define PARITAS_ER_CELL_REASON_LIST(ITEM)                                                           \
    ITEM(PARITAS_ER_KEPT, 0, "kept", "not masked")                                                  \
    ITEM(PARITAS_ER_NO_COUNTS, 1, "no_counts", "the flux is 0: a measurement, which masks nothing") \
    ITEM(PARITAS_ER_FLUX_MISSING, 2, "flux_missing", "9.999E-99, or any other flux in (0, 1e-90)")  \
    ITEM(PARITAS_ER_FLUX_ERROR, 3, "flux_error", "-9.99E-99, or any other flux in (-1e-90, 0)")     \
    ITEM(PARITAS_ER_FLUX_NEGATIVE, 4, "flux_negative", "the flux is negative")                      \
    ITEM(PARITAS_ER_AZIMUTH_MISSING, 5, "azimuth_missing", "999.99")                                \
    ITEM(PARITAS_ER_AZIMUTH_ERROR, 6, "azimuth_error", "998.99")                                    \
    ITEM(PARITAS_ER_AZIMUTH_RANGE, 7, "azimuth_range", "not in [-360, 360]")                        \
    ITEM(PARITAS_ER_SUNLIGHT, 8, "sunlight", "the cell looks at the Sun: paritas_er_mask_sunlight")
#define PARITAS_ER_DAMAGED_ROW_REASON_LIST(ITEM)                                                         \
    ITEM(PARITAS_ER_ROW_MISSING, 9, "row_missing",                                                       \
         "the sweep has fewer than 15 rows; the line is that of the sweep")                              \
    ITEM(PARITAS_ER_FIELD_COUNT, 10, "field_count", "the line does not have 183 fields")                 \
    ITEM(PARITAS_ER_NUMBER, 11, "number", "a field is no number, or none that a double can hold")        \
    ITEM(PARITAS_ER_BAD_UTC, 12, "bad_utc", "the first field is no UTC")                                 \
    ITEM(PARITAS_ER_FILE_CUT, 13, "file_cut", "the file ends within this row")                           \
    ITEM(PARITAS_ER_EPOCH, 14, "epoch", "the time is 1970-01-01, or not above 0: the clock was not set") \
    ITEM(PARITAS_ER_ENERGY, 15, "energy", "the energy is not above 0")                                   \
    ITEM(PARITAS_ER_DUPLICATE, 16, "duplicate", "the same as an earlier row of the sweep, which stays")
#define PARITAS_ER_ROW_REASON_LIST(ITEM) \
    ITEM(PARITAS_ER_POLARITY, 17, "polarity", "neither +1 nor -1: paritas_er_mask_polarity")
#define PARITAS_ER_SWEEP_REASON_LIST(ITEM) \
    ITEM(PARITAS_ER_FIELD, 18, "field", "the field of one of its rows is outside the limits of the options")
#define PARITAS_ER_DAMAGED_SWEEP_REASON_LIST(ITEM)                                           \
    ITEM(PARITAS_ER_ENERGY_ORDER, 19, "energy_order", "energies neither ascend nor descend") \
    ITEM(PARITAS_ER_TOO_MANY_ROWS, 20, "too_many_rows",                                      \
         "more than 15, duplicates left out; the line is that of row 16")                    \
    ITEM(PARITAS_ER_TIME_SPAN, 21, "time_span", "rows of one number more than 160 s apart: it was used twice")
#define PARITAS_ER_COUNTS_REASON_LIST(ITEM)                                                        \
    ITEM(PARITAS_ER_FEW_COUNTS, 22, "few_counts", "too few counts a cell: paritas_er_mask_counts") \
    ITEM(PARITAS_ER_SATURATED, 23, "saturated",                                                    \
         "more than 1 of 20 cells has flux_error, as when too many counts come: paritas_er_mask_counts")
#define PARITAS_ER_REASON_LIST(ITEM)           \
    PARITAS_ER_CELL_REASON_LIST(ITEM)          \
    PARITAS_ER_DAMAGED_ROW_REASON_LIST(ITEM)   \
    PARITAS_ER_ROW_REASON_LIST(ITEM)           \
    PARITAS_ER_SWEEP_REASON_LIST(ITEM)         \
    PARITAS_ER_DAMAGED_SWEEP_REASON_LIST(ITEM) \
    PARITAS_ER_COUNTS_REASON_LIST(ITEM)
typedef enum paritas_er_reason { PARITAS_ER_REASON_LIST(PARITAS_ENUMERATOR) } paritas_er_reason;
#define PARITAS_ER_REASON_COUNT (0 PARITAS_ER_REASON_LIST(PARITAS_COUNT_ITEM))

PARITAS_API paritas_er_unit paritas_er_reason_unit(paritas_er_reason reason); /* what is counted of it */

/* How often a reason was met. Cells of masked rows and sweeps are not counted again, nor rows of masked
 * sweeps. */
typedef struct paritas_er_count {
    uint64_t count;
    uint64_t line;   /* of the first, from 1; 0: none */
    unsigned column; /* its field, 1 to 183; 0: the whole row */
} paritas_er_count;

/* ---- a day -------------------------------------------------------------------------------------- */

/* Sweeps in the order in which their numbers first appear, rows of a sweep in the file's order. Rows without
 * data follow them. They have the reason of the damaged row if its spectrum number could be read, else they
 * are missing. The arrays are the library's and may be written to. Freed by paritas_er_day_free. Numbers that
 * do not exist are NaN. */
typedef struct paritas_er_day {
    size_t size;
    size_t n;                         /* sweeps, masked ones included */
    int64_t *number;                  /* n: spectrum numbers */
    char (*utc)[PARITAS_ER_UTC_SIZE]; /* n: of the first row, as in the file (cut after milliseconds) */
    uint8_t *sweep_reason;            /* n: KEPT, or why all of it is masked */
    uint8_t *row_reason;              /* n x 15 */
    uint8_t *cell_reason;             /* n x 15 x 88; neither KEPT nor NO_COUNTS: there is no flux */
    uint64_t *line;                   /* n x 15: where the row stands, from 1; 0: nowhere */
    double *time;                     /* n x 15 */
    double *energy;                   /* n x 15 */
    double *field;                    /* n x 15 x 3: in the frame of the despun spacecraft (SCD) */
    double *flux;                     /* n x 15 x 88: 1/(cm2 s sr eV); NaN where masked */
    double *azimuth;                  /* n x 15 x 88: of the cells in SCD; NaN where there is none */
    /* geometry, NaN until a function below fills it */
    double *polarity; /* n x 15: +1: the Moon lies along the field, -1: against it, 0: neither or both */
    double *spacecraft_potential; /* n: V */
    double *spacecraft_in_sun;    /* n: 1 or 0 */
    double *projection_in_sun;    /* n: 1 or 0: of the point where the field line meets the Moon */
    double *spacecraft_latitude, *spacecraft_longitude; /* n: selenographic, east */
    double *projection_latitude, *projection_longitude; /* n */
    double *sun_azimuth, *sun_elevation;                /* n: of the Sun in SCD, as cells have theirs */
    paritas_er_count counts[PARITAS_ER_REASON_COUNT];
    uint64_t rows;   /* lines of the file that are not blank */
    uint64_t bytes;  /* of the file, not compressed */
    char digest[72]; /* of the file: "sha256:" and 64 hexadecimal digits; "" if it was not asked for */
} paritas_er_day;

#define PARITAS_ER_OPTIONS(OPTION, OTHER, S)                                                \
    OPTION(S, double, field_lower, 1e-9, PARITAS_FROM(0.0), PARITAS_NO_BOUND, "", "nT",     \
           "a field of this magnitude or less masks its sweep")                             \
    OPTION(S, double, field_upper, 1e3, PARITAS_ABOVE(0.0), PARITAS_NO_BOUND, "", "nT",     \
           "the same of this magnitude or more")                                            \
    OPTION(S, paritas_truth, digest, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",         \
           "compute the digest of the file")                                                \
    OPTION(S, paritas_truth, strict, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--strict", "", \
           "refuse a file at its first damage; default: mask damaged rows and count them")

/* Options of reading. Start from PARITAS_ER_OPTIONS_DEFAULT. */
typedef struct paritas_er_options {
    size_t size;
    PARITAS_ER_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_er_options;
#define PARITAS_ER_OPTIONS_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_er_options, PARITAS_ER_OPTIONS)

/* Reads a day file, also one compressed with gzip. Exponents may be E or Fortran's D. `options` may be NULL.
 * A damaged row costs that row and is counted. INVALID_INPUT names line and reason: a file without any row
 * of 183 fields, damaged gzip data, and with `strict` the first damage by line. Damaged sweeps come after
 * damaged rows. */
PARITAS_API paritas_status paritas_er_read(paritas_context *context, const char *path,
                                           const paritas_er_options *PARITAS_OR_NULL options,
                                           paritas_er_day **day);
/* The same from memory, not compressed; `label` names it in messages. */
PARITAS_API paritas_status paritas_er_parse(paritas_context *context, const char *text, size_t length,
                                            const char *label,
                                            const paritas_er_options *PARITAS_OR_NULL options,
                                            paritas_er_day **day);
/* A day of n sweeps to be filled, numbered from 1: all numbers NaN, all rows missing. */
PARITAS_API paritas_status paritas_er_day_create(paritas_context *context, size_t n, paritas_er_day **day);
PARITAS_API void paritas_er_day_free(paritas_er_day *day); /* NULL is a no-op */
/* Writes a day file as the archive does: energies and times with 3 decimals, fields with 6, azimuths with 2,
 * fluxes with 4 digits. `exact` nonzero: every number in the shortest form that reads back to the same bits.
 * Rows without an energy are left out. Cells whose reason is a sentinel's are written as that sentinel, other
 * cells without a flux or an azimuth as missing. UTCs are made from the times, except the first row's. The
 * file is there whole or not at all. */
PARITAS_API paritas_status paritas_er_write(paritas_context *context, const char *path,
                                            const paritas_er_day *day, int exact);
/* Unix seconds to UTC text, rounded down to seconds (without leap seconds, as Unix time is). */
PARITAS_API void paritas_er_utc(double time, char utc[PARITAS_ER_UTC_SIZE]);
/* UTC text, YYYY-MM-DDThh:mm:ss with decimals or without, to Unix seconds; 0: it is none, else 1. */
PARITAS_API int paritas_er_time(const char *utc, double *time);

/* Day files in a folder and the folders in it, each entered once; or the one file that `path` is. year (4
 * digits), month, day: 0 is any. They are compared with the names, 3DYYMMDD.TAB (YY above 50 is 19YY) or with
 * the date as YYYYMMDD. Names may end in .TAB.gz. Other names in a folder are not taken; a single file is
 * taken whatever its name. Sorted by date, then path. */
typedef struct paritas_er_files {
    size_t n;
    char **path; /* n */
    int *date;   /* n: YYYYMMDD */
} paritas_er_files;
PARITAS_API paritas_status paritas_er_find(paritas_context *context, const char *path, int year, int month,
                                           int day, paritas_er_files **files);
PARITAS_API void paritas_er_files_free(paritas_er_files *files); /* NULL is a no-op */
/* The same for files of the magnetometer, MAYYMMDD.TAB, of any date. */
PARITAS_API paritas_status paritas_er_find_mags(paritas_context *context, const char *path,
                                                paritas_er_files **files);
/* The date in a day file's name as YYYYMMDD, 0 where it has none. */
PARITAS_API int paritas_er_file_date(const char *path);

/* ---- the instrument ----------------------------------------------------------------------------- */

/* Inclinations of the 88 cells from theta.tab (88 numbers). path NULL: the built-in order, +-11.25 (16 cells
 * each), +-33.75 (16), +-56.25 (8), +-78.75 (4), + before -, which may not be the archive's. */
PARITAS_API paritas_status paritas_er_theta(paritas_context *context, const char *PARITAS_OR_NULL path,
                                            double theta[PARITAS_SWEEP_CELLS]);
/* Solid angles, sr, of cells at these inclinations; NaN at an inclination that the instrument does not have.
 * Their sum is 4 pi. */
PARITAS_API void paritas_er_solid_angles(const double theta[PARITAS_SWEEP_CELLS],
                                         double solid_angle[PARITAS_SWEEP_CELLS]);

/* Seconds that each cell measures in a row: the cells of a ring share PARITAS_SWEEP_ACCUMULATION. NaN at an
 * inclination that is not between -90 and 90 degrees. */
PARITAS_API void paritas_er_exposures(const double theta[PARITAS_SWEEP_CELLS],
                                      double exposure[PARITAS_SWEEP_CELLS]);

/* ---- geometry ----------------------------------------------------------------------------------- */

/* Attitude of the spin axis from attitude.tab: UTC, revolutions a minute, right ascension and declination in
 * ECLIPJ2000, separated by commas; times strictly ascend. */
typedef struct paritas_er_attitude {
    size_t n;
    double *time, *right_ascension, *declination; /* n */
} paritas_er_attitude;
PARITAS_API paritas_status paritas_er_attitude_read(paritas_context *context, const char *path,
                                                    paritas_er_attitude **attitude);
PARITAS_API void paritas_er_attitude_free(paritas_er_attitude *attitude); /* NULL is a no-op */
/* Interpolates in time: right ascension along the shorter arc, in [0, 360), declination linearly. NaN outside
 * the table. */
PARITAS_API void paritas_er_attitude_at(const paritas_er_attitude *attitude, double time,
                                        double *right_ascension, double *declination);
/* Axes of SCD: z is the spin axis, x the Sun's direction without its part along z, y the cross product of z
 * and x. matrix: rows X, Y, Z of the frame of spin and sun, columns x, y, z. NaN where there is no x. */
PARITAS_API void paritas_er_despun_axes(double right_ascension, double declination, const double sun[3],
                                        double matrix[9]);
/* Finds where the field line from `position` meets the sphere of the Moon. polarity: +1 along the field, -1
 * against it. If neither direction or both meet the Moon, polarity is 0 and the point NaN. latitude,
 * longitude (-180 to 180) of the point: may be NULL. */
PARITAS_API void paritas_er_footpoint(const double position[3], const double field[3], double point[3],
                                      int *polarity, double *PARITAS_OR_NULL latitude,
                                      double *PARITAS_OR_NULL longitude);

/* A table of geometry: CSV with a header. The key of a row is one of
 *   spectrum   a spectrum number, with the day from a column `date` (YYYY-MM-DD) or else `utc`; without
 *              either, of any day
 *   utc        of the sweep's first row, to the second
 * Any of polarity, spacecraft_potential, spacecraft_in_sun, projection_in_sun, spacecraft_latitude,
 * spacecraft_longitude, projection_latitude, projection_longitude, sun_azimuth and sun_elevation may follow,
 * in any order; empty or nan is unknown. Other columns are not read. A key may stand there once.
 * INVALID_INPUT names line and column. */
typedef struct paritas_er_geometry paritas_er_geometry;
PARITAS_API paritas_status paritas_er_geometry_read(paritas_context *context, const char *path,
                                                    paritas_er_geometry **geometry);
PARITAS_API void paritas_er_geometry_free(paritas_er_geometry *geometry); /* NULL is a no-op */
/* Nonzero: the table has a column of that name. */
PARITAS_API int paritas_er_geometry_has(const paritas_er_geometry *geometry, const char *column);
/* Gives the table's values to the day's sweeps (polarity to all rows of a sweep). Sweeps and values that the
 * table lacks stay as they are. matched: how many sweeps it has; may be NULL. */
PARITAS_API paritas_status paritas_er_geometry_apply(paritas_context *context,
                                                     const paritas_er_geometry *geometry, paritas_er_day *day,
                                                     size_t *PARITAS_OR_NULL matched);

/* Records of the magnetometer from MAYYMMDD.TAB (PDS LP-L-MAG-4-SUMM-LUNARCRDS-5SEC), means over 5 s. They
 * have the field and the spacecraft's position in two frames around the Moon's centre. SEL turns with the
 * Moon: x points to longitude 0, z north. SSE follows the Sun: x points to the Sun, z to the north of the
 * ecliptic. */
typedef struct paritas_er_mag {
    size_t n;
    double *time;         /* n: Unix seconds */
    double *field;        /* n x 3: nT, SEL */
    double *field_sse;    /* n x 3 */
    double *rms;          /* n: nT, of the field within the mean */
    double *position;     /* n x 3: km, SEL */
    double *position_sse; /* n x 3 */
    size_t skipped;       /* rows that are no such record */
    uint64_t line;        /* of the first of these; 0: none */
} paritas_er_mag;
/* INVALID_INPUT with the first row's reason if no row is a record. A record has finite numbers, and the same
 * angle between field and position in both frames. It is 1700 to 20000 km from the Moon's centre and has less
 * than 1000 nT. */
PARITAS_API paritas_status paritas_er_mag_read(paritas_context *context, const char *path,
                                               paritas_er_mag **mag);
PARITAS_API void paritas_er_mag_free(paritas_er_mag *mag); /* NULL is a no-op */
/* Fills the polarity of each row from the record nearest in time, at most 5 s away. Positions and
 * illumination of a sweep come from its first such row. The Sun's direction in SCD stays as it is: it
 * needs the spin axis. Sweeps without a record stay as they are. fields: n x 3, the mean field during each
 * sweep in SEL; may be NULL. matched: sweeps with a record; may be NULL. */
PARITAS_API paritas_status paritas_er_mag_apply(paritas_context *context, const paritas_er_mag *mag,
                                                paritas_er_day *day, double *PARITAS_OR_NULL fields,
                                                size_t *PARITAS_OR_NULL matched);

/* Geometry from NASA's SPICE. libcspice is loaded by this call; NO_DEVICE: it is not there. library: its
 * name; NULL: the usual ones. folder: all kernels (bsp, tpc, tls) in it are loaded, sorted by name. CSPICE's
 * state, its error handling included, belongs to the process: use one thread and one geometry at a time.
 * Bodies: Lunar Prospector -25, Moon 301, Sun 10; frame IAU_MOON, no aberration. */
typedef struct paritas_er_spice paritas_er_spice;
PARITAS_API paritas_status paritas_er_spice_open(paritas_context *context,
                                                 const char *PARITAS_OR_NULL library, const char *folder,
                                                 paritas_er_spice **spice);
PARITAS_API void paritas_er_spice_close(paritas_er_spice *spice); /* NULL is a no-op */
/* Fills the geometry of all sweeps: polarity row by row, the rest at the first row that is not masked. Sweeps
 * outside the kernels or the attitude stay NaN. uncovered: how many sweeps; may be NULL. */
PARITAS_API paritas_status paritas_er_spice_apply(paritas_context *context, const paritas_er_spice *spice,
                                                  const paritas_er_attitude *attitude, paritas_er_day *day,
                                                  size_t *PARITAS_OR_NULL uncovered);

/* ---- masks that need geometry or counts --------------------------------------------------------- */

/* Masks cells within `angle` degrees (for example 14) of the Sun, where sun_azimuth and sun_elevation are
 * known. */
PARITAS_API paritas_status paritas_er_mask_sunlight(paritas_context *context, paritas_er_day *day,
                                                    const double theta[PARITAS_SWEEP_CELLS], double angle);
/* Masks rows whose polarity is neither +1 nor -1. */
PARITAS_API paritas_status paritas_er_mask_polarity(paritas_context *context, paritas_er_day *day);
/* Finds the background of each sweep: a rate of pseudo-counts that is the same at all energies. The three to
 * six rows of highest energy show it. They are explained by a background and by electrons that fall with a
 * power of the energy. A row may be off by its counting error and 11 %. A background is seen if the rows fit
 * worse without it, by at least 9 as a chi-square. rate: n, counts/s of a cell; 0: none is seen. */
PARITAS_API paritas_status paritas_er_find_background(paritas_context *context, const paritas_er_day *day,
                                                      const double theta[PARITAS_SWEEP_CELLS], double *rate);
/* Subtracts rates (n) that were found. Fluxes may become negative. */
PARITAS_API paritas_status paritas_er_subtract_background(paritas_context *context, paritas_er_day *day,
                                                          const double *rate);
/* Masks rows with fewer than `least` pseudo-counts a cell, on average over the cells with a flux. Their zeros
 * and single counts do not show the cone. Masks saturated rows too: of them, only faint cells are left. In
 * rows that stay, a flux below half a count becomes half a count, which has a logarithm. Call it after
 * paritas_kappa_spectrum. */
PARITAS_API paritas_status paritas_er_mask_counts(paritas_context *context, paritas_er_day *day,
                                                  const double theta[PARITAS_SWEEP_CELLS], double least);

#define PARITAS_ER_ENUMERATIONS(ENUMERATION)                                        \
    ENUMERATION(paritas_er_unit, PARITAS_ER_UNIT_LIST, "What a reason applies to.") \
    ENUMERATION(paritas_er_reason, PARITAS_ER_REASON_LIST, "Why a cell, a row or a sweep is masked.")
PARITAS_ER_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
