/* fuzz_tables.c: the first byte chooses a table that goes with day files; the others are the file. It is
 * refused by name, or has rows in the order that lookups need. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "paritas_er.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static paritas_status read_theta(paritas_context *context)
{
    double theta[PARITAS_SWEEP_CELLS], angle[PARITAS_SWEEP_CELLS];
    TRY(paritas_er_theta(context, fuzz_path, theta));
    for (size_t j = 0; j < PARITAS_SWEEP_CELLS; j++) check(theta[j] >= -90.0 && theta[j] <= 90.0);
    paritas_er_solid_angles(theta, angle);
    return PARITAS_OK;
}

static paritas_status read_attitude(paritas_context *context)
{
    paritas_er_attitude *attitude;
    double ascension, declination;
    TRY(paritas_er_attitude_read(context, fuzz_path, &attitude));
    for (size_t i = 1; i < attitude->n; i++) check(attitude->time[i - 1] < attitude->time[i]);
    for (size_t i = 0; i < attitude->n; i++)
        paritas_er_attitude_at(attitude, attitude->time[i] + 1.0, &ascension, &declination);
    paritas_er_attitude_free(attitude);
    return PARITAS_OK;
}

static paritas_status read_geometry(paritas_context *context)
{
    paritas_er_geometry *geometry;
    TRY(paritas_er_geometry_read(context, fuzz_path, &geometry));
    paritas_er_geometry_has(geometry, "polarity");
    paritas_er_geometry_free(geometry);
    return PARITAS_OK;
}

static paritas_status read_mag(paritas_context *context)
{
    paritas_er_mag *mag;
    TRY(paritas_er_mag_read(context, fuzz_path, &mag));
    check(mag->n > 0);
    for (size_t i = 0; i < 3 * mag->n; i++)
        check(mag->field[i] - mag->position[i] == mag->field[i] - mag->position[i]);
    paritas_er_mag_free(mag);
    return PARITAS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static paritas_status (*const readers[])(paritas_context *context) = {read_theta, read_attitude,
                                                                          read_geometry, read_mag};
    paritas_context context = fuzz_context();
    if (size == 0) return 0;
    fuzz_write(data + 1, size - 1);
    const paritas_status status = readers[data[0] % COUNT_OF(readers)](&context);
    if (status) check(status == PARITAS_INVALID_INPUT && strstr(context.message, fuzz_path) != NULL);
    return 0;
}
