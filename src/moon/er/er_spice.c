/* er_spice.c: geometry from NASA's SPICE, if libcspice is installed.
 *
 * Opened at run time, functions declared here. Errors: the toolkit keeps them ("RETURN", nothing printed).
 * A failed call is reset; its result is unknown. */
#define _POSIX_C_SOURCE 200809L
#include "moon/er/er.h"

#include "base/math/host_math.h"
#include "base/platform.h"
#include "base/dynamic_library.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define PROBE "-25"
#define MOON "301"
#define SUN "10"

/* The toolkit's functions that are called: name without _c, result, arguments. */
#define FUNCTIONS(FUNCTION)                                                                      \
    FUNCTION(furnsh, void, (const char *file))                                                   \
    FUNCTION(unload, void, (const char *file))                                                   \
    FUNCTION(str2et, void, (const char *text, double *et))                                       \
    FUNCTION(spkpos, void,                                                                       \
             (const char *target, double et, const char *frame, const char *correction,          \
              const char *observer, double position[3], double *light_time))                     \
    FUNCTION(pxform, void, (const char *from, const char *to, double et, double rotation[3][3])) \
    FUNCTION(failed, int, (void))                                                                \
    FUNCTION(getmsg, void, (const char *option, int length, char *message))                      \
    FUNCTION(reset, void, (void))                                                                \
    FUNCTION(erract, void, (const char *operation, int length, char *action))                    \
    FUNCTION(errprt, void, (const char *operation, int length, char *list))

struct paritas_er_spice {
    void *library;
#define MEMBER(name, result, arguments) result(*name) arguments;
    FUNCTIONS(MEMBER)
#undef MEMBER
    struct arena paths;
    size_t n, room, loaded;
    char **kernels; /* in loading order */
};

/* Returns NULL if all were found, else the missing name. */
static const char *find_functions(struct paritas_er_spice *s)
{
#define FIND(name, result, arguments) \
    if (!library_find(s->library, #name "_c", &s->name, sizeof s->name)) return #name "_c";
    FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

static paritas_status open_library(paritas_context *context, struct paritas_er_spice *s, const char *name)
{
    static const char *const names[] = {"libcspice.so", "libcspice.so.67", "libcspice.so.66",
                                        "libcspice.dylib"};
    if (name) s->library = library_open(name);
    for (size_t k = 0; !name && !s->library && k < COUNT_OF(names); k++) s->library = library_open(names[k]);
    if (!s->library)
        return paritas_fail(context, PARITAS_NO_DEVICE, "SPICE is not installed: %s cannot be opened",
                            name ? name : "libcspice");
    const char *const missing = find_functions(s);
    if (missing)
        return paritas_fail(context, PARITAS_NO_DEVICE, "%s has no function %s", name ? name : "libcspice",
                            missing);
    char action[] = "RETURN", none[] = "NONE";
    s->erract("SET", 0, action);
    s->errprt("SET", 0, none);
    return PARITAS_OK;
}

/* Did the last call fail? Takes its message, resets the toolkit. */
static bool has_failed(const struct paritas_er_spice *s, char message[256])
{
    if (!s->failed()) return false;
    message[0] = '\0';
    s->getmsg("SHORT", 256, message);
    s->reset();
    return true;
}

static bool is_kernel(const char *name)
{
    static const char *const ends[] = {".bsp", ".tpc", ".tls"};
    const size_t length = strlen(name);
    for (size_t k = 0; k < 3; k++)
        if (length > 4 && strcmp(name + length - 4, ends[k]) == 0) return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static paritas_status add_kernel(paritas_context *context, struct paritas_er_spice *s, const char *folder,
                                 const char *name)
{
    char **kernels = er_grow(context, s->kernels, s->n, &s->room, 16, sizeof *kernels);
    if (!kernels) return PARITAS_OUT_OF_MEMORY;
    s->kernels = kernels;
    kernels[s->n] = er_path(&s->paths, folder, name);
    return kernels[s->n++] ? PARITAS_OK : paritas_fail_memory(context);
}

static paritas_status list_kernels(paritas_context *context, struct paritas_er_spice *s, const char *folder)
{
    struct platform_folder *entries = platform_folder_open(folder);
    if (!entries) return er_unreadable(context, folder);
    paritas_status status = PARITAS_OK;
    for (const char *name; !status && (name = platform_folder_next(entries)) != NULL;)
        if (is_kernel(name)) status = add_kernel(context, s, folder, name);
    if (!status && errno) status = er_unreadable(context, folder);
    platform_folder_close(entries);
    if (!status && s->n == 0)
        status = paritas_fail(context, PARITAS_INVALID_INPUT,
                              "%s: there are no SPICE kernels (bsp, tpc, tls)", folder);
    if (!status) qsort(s->kernels, s->n, sizeof *s->kernels, by_name);
    return status;
}

static paritas_status load_kernels(paritas_context *context, struct paritas_er_spice *s)
{
    char message[256];
    for (; s->loaded < s->n; s->loaded++) {
        s->furnsh(s->kernels[s->loaded]);
        if (has_failed(s, message))
            return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: %s", s->kernels[s->loaded], message);
    }
    return PARITAS_OK;
}

paritas_status paritas_er_spice_open(paritas_context *context, const char *library, const char *folder,
                                     paritas_er_spice **out)
{
    REQUIRE_AS(context, "folder, spice", folder, out);
    *out = NULL;
    struct paritas_er_spice *s = paritas_allocate_clear(context, 1, sizeof *s);
    if (!s) return paritas_fail_memory(context);
    arena_open(&s->paths, &context->allocator);
    paritas_status status = open_library(context, s, library);
    if (!status) status = list_kernels(context, s, folder);
    if (!status) status = load_kernels(context, s);
    if (status)
        paritas_er_spice_close(s);
    else
        *out = s;
    return status;
}

void paritas_er_spice_close(paritas_er_spice *s)
{
    if (!s) return;
    char ignored[256];
    const paritas_allocator allocator = s->paths.allocator;
    while (s->loaded) {
        s->unload(s->kernels[--s->loaded]);
        has_failed(s, ignored);
    }
    if (s->library) platform_library_close(s->library);
    paritas_release(&allocator, s->kernels);
    arena_free(&s->paths);
    paritas_release(&allocator, s);
}

/* Positions and frames at a time. */
struct scene {
    double probe[3];         /* from the Moon's centre, IAU_MOON, km */
    double sun_of_moon[3];   /* from the Moon's centre, IAU_MOON */
    double sun_of_probe[3];  /* from the probe, IAU_MOON */
    double axes[9];          /* SCD in ECLIPJ2000, columns */
    double to_moon[9];       /* SCD to IAU_MOON */
    double sun_direction[3]; /* from the probe, ECLIPJ2000 */
};

/* Returns false if kernels or attitude do not reach. `message`: the toolkit's reason, if any. */
static bool set_scene(const struct paritas_er_spice *s, const paritas_er_attitude *attitude, double et,
                      double time, struct scene *scene, char message[256])
{
    double light_time, rotation[3][3], right_ascension, declination;
    message[0] = '\0';
    struct {
        const char *target, *frame, *observer;
        double *position;
    } wanted[] = {{PROBE, "IAU_MOON", MOON, scene->probe},
                  {SUN, "IAU_MOON", MOON, scene->sun_of_moon},
                  {SUN, "ECLIPJ2000", PROBE, scene->sun_direction}};
    for (size_t k = 0; k < COUNT_OF(wanted); k++) {
        s->spkpos(wanted[k].target, et, wanted[k].frame, "NONE", wanted[k].observer, wanted[k].position,
                  &light_time);
        if (has_failed(s, message)) return false;
    }
    s->pxform("ECLIPJ2000", "IAU_MOON", et, rotation);
    if (has_failed(s, message)) return false;
    paritas_er_attitude_at(attitude, time, &right_ascension, &declination);
    paritas_er_despun_axes(right_ascension, declination, scene->sun_direction, scene->axes);
    for (int i = 0; i < 3; i++) {
        scene->sun_of_probe[i] = scene->sun_of_moon[i] - scene->probe[i];
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) sum += rotation[i][k] * scene->axes[3 * k + j];
            scene->to_moon[3 * i + j] = sum;
        }
    }
    return scene->to_moon[0] == scene->to_moon[0];
}

/* Polarity of a row, and its footpoint. */
static double footpoint(const struct scene *scene, const double field[3], double point[3], double *latitude,
                        double *longitude)
{
    double direction[3];
    int polarity;
    const double strength = host_sqrt(er_dot(field, field));
    for (int i = 0; i < 3; i++) direction[i] = er_dot(scene->to_moon + 3 * i, field) / strength;
    paritas_er_footpoint(scene->probe, direction, point, &polarity, latitude, longitude);
    return polarity;
}

/* Values of the whole sweep, at row `row`. */
static void fill_sweep(const struct scene *scene, paritas_er_day *day, size_t k, size_t row)
{
    double point[3], ignored[3], sun[3];
    const double length = host_sqrt(er_dot(scene->sun_direction, scene->sun_direction));
    er_coordinates(scene->probe, &day->spacecraft_latitude[k], &day->spacecraft_longitude[k]);
    day->spacecraft_in_sun[k] = er_meets_moon(scene->probe, scene->sun_of_probe, ignored) ? 0.0 : 1.0;
    if (footpoint(scene, day->field + 3 * row, point, &day->projection_latitude[k],
                  &day->projection_longitude[k]) != 0.0)
        day->projection_in_sun[k] = er_dot(point, scene->sun_of_moon) > 0.0 ? 1.0 : 0.0;
    for (int i = 0; i < 3; i++) {
        sun[i] = 0.0;
        for (int j = 0; j < 3; j++) sun[i] += scene->axes[3 * j + i] * scene->sun_direction[j] / length;
    }
    er_coordinates(sun, &day->sun_elevation[k], &day->sun_azimuth[k]);
}

/* Returns false if nothing is known. */
static bool apply_sweep(const struct paritas_er_spice *s, const paritas_er_attitude *attitude,
                        paritas_er_day *day, size_t k, char message[256])
{
    struct scene scene;
    double start, at[3];
    const double first = day->time[k * ROWS]; /* row of the UTC */
    char utc[PARITAS_ER_UTC_SIZE];
    bool known = false;
    message[0] = '\0';
    const size_t length = strlen(day->utc[k]);
    if (length == 0) return false;
    memcpy(utc, day->utc[k], length + 1);
    if (utc[length - 1] == 'Z') utc[length - 1] = '\0';
    s->str2et(utc, &start);
    if (has_failed(s, message)) return false;
    for (size_t row = k * ROWS; row < (k + 1) * ROWS; row++) {
        const double time = day->time[row], *field = day->field + 3 * row;
        if (time != time || !(er_dot(field, field) > 0.0)) continue;
        if (!set_scene(s, attitude, start + (time - first), time, &scene, message)) continue;
        day->polarity[row] = footpoint(&scene, field, at, NULL, NULL);
        if (!known) fill_sweep(&scene, day, k, row);
        known = true;
    }
    return known;
}

paritas_status paritas_er_spice_apply(paritas_context *context, const paritas_er_spice *spice,
                                      const paritas_er_attitude *attitude, paritas_er_day *day,
                                      size_t *uncovered)
{
    REQUIRE(context, spice, attitude, day);
    size_t unknown = 0;
    char message[256], first[256] = "";
    for (size_t k = 0; k < day->n; k++) {
        if (apply_sweep(spice, attitude, day, k, message)) continue;
        if (!first[0] && message[0]) memcpy(first, message, sizeof first);
        unknown++;
    }
    if (first[0])
        paritas_note(context, "SPICE has no geometry for %zu of %zu sweeps: %s", unknown, day->n, first);
    if (uncovered) *uncovered = unknown;
    return PARITAS_OK;
}
