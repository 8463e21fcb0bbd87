/* fit_rows.h: between the user's order and the kernels' rows. */
#ifndef PARITAS_FIT_ROWS_H
#define PARITAS_FIT_ROWS_H

#include "fit/family.h"

/* Largest number of elements that one launch may bring or fetch: keeps memory flat whatever the number of
 * jobs. */
#define ROWS_ELEMENTS ((size_t)8 << 20)

/* The value that kernels answer outside a model's domain is at least this. */
#define ROWS_OUTSIDE 1e29

/* Rows of one launch; all arrays are owned and freed by rows_free. */
struct rows {
    paritas_context *context;
    double *in, *out;
    uint32_t *args;
    size_t n_in, n_out, n_args;
    size_t more;    /* elements behind the slab that the entry wants in this launch */
    uint32_t share; /* jobs that a lane works through; 0: one */
};
paritas_status rows_allocate(paritas_context *context, size_t n_in, size_t n_out, size_t n_args,
                             struct rows *rows);
void rows_free(struct rows *rows);

/* user → kernel: data row (n_places), point (n_slots; padding slots get `padding` unless NULL, then 0) */
void rows_put_data(const struct frozen *model, const double *data, double *row);
void rows_put_point(const struct frozen *model, const double *point, const double *padding, double *row);
/* What follows the point at `row` in a fit's row, n_slots each: lower and upper bounds, and 1 where it is
 * free, else 0; a fixed parameter's bounds are its value. */
void rows_put_limits(const struct frozen *model, const double *lower, const double *upper,
                     const unsigned char *fixed, double *row);
/* kernel → user */
void rows_get_point(const struct frozen *model, const double *row, double *point);

/* A parameter that an f32 kernel answered, back within its bounds: what lies beyond one, or on what f32 makes
 * of it, is on it. */
double rows_land(double x, double lower, double upper);

/* Where a launch runs that is in f64 whatever the context's precision is. */
static inline struct paritas_device *rows_device_f64(const paritas_context *context)
{
    return context->precision == 64 ? context->device : context->host;
}

/* Runs one entry of `model` over `n` rows. */
paritas_status rows_launch(paritas_context *context, struct paritas_device *device,
                           const struct frozen *model, unsigned entry, size_t n, struct rows *rows);
/* The same on the context's device, for an entry that takes points and answers `stride` elements for each.
 * `points`: n of them, user's order; `data`: a row each, where the model has templates (NULL: its own), else
 * not looked at. *rows is the caller's to free unless it fails. */
paritas_status rows_launch_points(paritas_context *context, const struct frozen *model, unsigned entry,
                                  size_t n, const double *points, const double *data, size_t stride,
                                  struct rows *rows);
/* Elements that it needs for a point beside those of the answer. */
static inline size_t rows_of_point(const struct frozen *model)
{
    return model->n_slots + (model->n_templates ? model->n_places : 0);
}

/* INVALID_ARGUMENT for a data row, called `where`, whose templates the model cannot take. */
paritas_status rows_check_templates(paritas_context *context, const struct frozen *model, const double *data,
                                    const char *where);

#endif
