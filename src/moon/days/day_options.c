/* day_options.c: options of days, memory of their arrays. */
#include "moon/days/days.h"
#include "base/sized.h"

#include <string.h>

double *day_numbers(struct arena *arena, size_t n)
{
    return arena_array(arena, n + 1, sizeof(double));
}

void *day_records(struct arena *arena, size_t n, size_t size)
{
    char *records = arena_array(arena, n + 1, size);
    for (size_t i = 0; i < n && records; i++) memcpy(records + i * size, &size, sizeof size);
    return records;
}

paritas_status day_options_read(paritas_context *context, const paritas_day_options *given,
                                double theta[PARITAS_SWEEP_CELLS], paritas_day_options *options)
{
    *options = (paritas_day_options)PARITAS_DAY_OPTIONS_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_day_options, "options", given, options));
    if (options->polarity != 0.0 && options->polarity != 1.0 && options->polarity != -1.0)
        return paritas_refuse(context, "options: `polarity` is %g; it must be +1, -1, or 0",
                              options->polarity);
    if (options->theta) return PARITAS_OK;
    options->theta = theta;
    return paritas_er_theta(context, NULL, theta);
}

void day_set_potential(paritas_er_day *day, double *potential, size_t k, double value)
{
    day->spacecraft_potential[k] = value;
    for (size_t i = DAY_ROWS * k; i < DAY_ROWS * (k + 1); i++) potential[i] = value;
}
