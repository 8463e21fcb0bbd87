/* Writes a day file with one damaged sweep, reads it back, and tells what is masked in it and why. */
#include <paritas_er.h>
#include <stdio.h>

int main(void)
{
    const char *path = "er_example.TAB";
    paritas_context *context = NULL;
    paritas_er_day *day = NULL, *read = NULL;
    int failed = paritas_open(NULL, &context) || paritas_er_day_create(context, 2, &day);
    for (size_t row = 0; !failed && row < 2 * PARITAS_SWEEP_ROWS; row++) {
        const size_t i = row % PARITAS_SWEEP_ROWS;
        if (row == 20) continue; /* this row is missing */
        day->time[row] = 884908800.0 + 80.0 * (double)(row / PARITAS_SWEEP_ROWS) + 2.5 * (double)i;
        day->energy[row] = i > 0 && row != 21 ? 1.5 * day->energy[row - 1]
                           : i > 0            ? 2.25 * day->energy[row - 2]
                                              : 40.0;
        for (size_t axis = 0; axis < 3; axis++) day->field[3 * row + axis] = 4.0 + (double)axis;
        for (size_t cell = PARITAS_SWEEP_CELLS * row; cell < PARITAS_SWEEP_CELLS * (row + 1); cell++) {
            day->flux[cell] = 1e5;
            day->azimuth[cell] = 22.5;
        }
    }
    failed = failed || paritas_er_write(context, path, day, 0) || paritas_er_read(context, path, NULL, &read);
    if (!failed) {
        printf("%zu sweeps, the first at %s\n", read->n, read->utc[0]);
        for (int reason = 1; reason < PARITAS_ER_REASON_COUNT; reason++)
            if (read->counts[reason].count > 0)
                printf("%s: %u %s(s), first in line %u\n", paritas_er_reason_name((paritas_er_reason)reason),
                       (unsigned)read->counts[reason].count,
                       paritas_er_unit_name(paritas_er_reason_unit((paritas_er_reason)reason)),
                       (unsigned)read->counts[reason].line);
    }
    if (failed) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "no context");
    remove(path);
    paritas_er_day_free(read);
    paritas_er_day_free(day);
    paritas_close(context);
    return failed ? 1 : 0;
}
