# paritas_er.h, as far as the engine calls it.
from libc.stdint cimport int64_t, uint8_t, uint64_t
from paritas_h cimport paritas_context, paritas_status

cdef extern from "paritas_er.h" nogil:
    """
    static const paritas_er_options er_default = PARITAS_ER_OPTIONS_DEFAULT;
    """
    enum:
        PARITAS_SWEEP_ROWS
        PARITAS_SWEEP_CELLS
        PARITAS_ER_UTC_SIZE
    ctypedef enum paritas_er_reason:
        PARITAS_ER_REASON_COUNT
    ctypedef enum paritas_er_unit:
        PARITAS_ER_UNIT_CELL
    const char *paritas_er_reason_name(paritas_er_reason reason)
    paritas_er_unit paritas_er_reason_unit(paritas_er_reason reason)
    const char *paritas_er_unit_name(paritas_er_unit unit)
    ctypedef struct paritas_er_count:
        uint64_t count
        uint64_t line
        unsigned column
    ctypedef struct paritas_er_day:
        size_t n
        int64_t *number
        char *utc "utc[0]"
        uint8_t *sweep_reason
        uint8_t *row_reason
        uint8_t *cell_reason
        uint64_t *line
        double *time
        double *energy
        double *field
        double *flux
        double *azimuth
        double *polarity
        double *spacecraft_potential
        double *spacecraft_in_sun
        double *projection_in_sun
        double *spacecraft_latitude
        double *spacecraft_longitude
        double *projection_latitude
        double *projection_longitude
        double *sun_azimuth
        double *sun_elevation
        paritas_er_count *counts
        uint64_t rows
        uint64_t bytes
        char *digest
    ctypedef struct paritas_er_options:
        size_t size
        double field_lower
        double field_upper
        int digest
        int strict
    const paritas_er_options er_default
    paritas_status paritas_er_read(paritas_context *context, const char *path, const paritas_er_options *options, paritas_er_day **day)
    paritas_status paritas_er_parse(paritas_context *context, const char *text, size_t length, const char *label, const paritas_er_options *options, paritas_er_day **day)
    paritas_status paritas_er_day_create(paritas_context *context, size_t n, paritas_er_day **day)
    void paritas_er_day_free(paritas_er_day *day)
    paritas_status paritas_er_write(paritas_context *context, const char *path, const paritas_er_day *day, int exact)
    void paritas_er_utc(double time, char *utc)
    ctypedef struct paritas_er_files:
        size_t n
        char **path
        int *date
    paritas_status paritas_er_find(paritas_context *context, const char *path, int year, int month, int day, paritas_er_files **files)
    void paritas_er_files_free(paritas_er_files *files)
    int paritas_er_file_date(const char *path)
    paritas_status paritas_er_theta(paritas_context *context, const char *path, double *theta)
    void paritas_er_solid_angles(const double *theta, double *solid_angle)
    ctypedef struct paritas_er_attitude:
        size_t n
        double *time
        double *right_ascension
        double *declination
    paritas_status paritas_er_attitude_read(paritas_context *context, const char *path, paritas_er_attitude **attitude)
    void paritas_er_attitude_free(paritas_er_attitude *attitude)
    void paritas_er_attitude_at(const paritas_er_attitude *attitude, double time, double *right_ascension, double *declination)
    void paritas_er_despun_axes(double right_ascension, double declination, const double *sun, double *matrix)
    void paritas_er_footpoint(const double *position, const double *field, double *point, int *polarity, double *latitude, double *longitude)
    ctypedef struct paritas_er_geometry
    paritas_status paritas_er_geometry_read(paritas_context *context, const char *path, paritas_er_geometry **geometry)
    void paritas_er_geometry_free(paritas_er_geometry *geometry)
    int paritas_er_geometry_has(const paritas_er_geometry *geometry, const char *column)
    paritas_status paritas_er_geometry_apply(paritas_context *context, const paritas_er_geometry *geometry, paritas_er_day *day, size_t *matched)
    ctypedef struct paritas_er_spice
    paritas_status paritas_er_spice_open(paritas_context *context, const char *library, const char *folder, paritas_er_spice **spice)
    void paritas_er_spice_close(paritas_er_spice *spice)
    paritas_status paritas_er_spice_apply(paritas_context *context, const paritas_er_spice *spice, const paritas_er_attitude *attitude, paritas_er_day *day, size_t *uncovered)
    paritas_status paritas_er_mask_sunlight(paritas_context *context, paritas_er_day *day, const double *theta, double angle)
    paritas_status paritas_er_mask_polarity(paritas_context *context, paritas_er_day *day)
