/* toy_data.h: data rows of toys while a file of them is read: JSON (toy_data.c), NPZ (toy_archive.c). */
#pragma once

#include "base/file_bytes.h"
#include "base/sized.h"
#include "fit/family.h"

#include "paritas_toys.h"

struct owned_toys {
    paritas_toy_data data; /* first: what callers hold */
    paritas_allocator allocator;
    struct arena arena;
};

struct reading {
    paritas_context *context;
    const paritas_model *model;
    const char *path;
    struct owned_toys *made;
    size_t n_main, n_aux;
    double *rows; /* of an archive, in the arena of `made` */
};

#define wrong_data(reading, format, ...) \
    paritas_fail((reading)->context, PARITAS_INVALID_INPUT, "%s: " format, (reading)->path, __VA_ARGS__)

/* `n` reals in the data's arena. */
paritas_status toy_data_room(paritas_context *context, struct owned_toys *made, size_t n, double **reals);
/* Refuses what datum i of a row cannot be. `lead` and `place` name it: LEAD[PLACE]. */
paritas_status toy_data_check(const struct reading *reading, const char *lead, size_t place, size_t i,
                              double value);
/* Keeps the digest of the model that drew the data; refuses another model's. NULL: none is known. */
paritas_status toy_data_take_digest(const struct reading *reading, const char *digest);

/* Returns NULL where it is not known. */
const char *toy_data_digest(const paritas_toy_data *data);

/* The rows of an archive. */
paritas_status toy_archive_read(struct reading *reading, const struct file_bytes *bytes);
