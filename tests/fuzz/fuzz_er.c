/* fuzz_er.c: any bytes are a day or refused by name and reason; a day has a flux in every cell that nothing
 * masks and in no other, its counts are those of its cells, and a day that is read strictly is not
 * damaged. */
#include "fuzzing.h"
#include "paritas_er.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = PARITAS_SWEEP_ROWS, CELLS = PARITAS_SWEEP_CELLS };

static bool is_number(double value)
{
    return value - value == 0.0;
}

static void check_sweep(const paritas_er_day *day, size_t k, uint64_t *cells)
{
    bool ended = false;
    for (size_t row = k * ROWS; row < (k + 1) * ROWS; row++) {
        const uint8_t reason = day->row_reason[row];
        const bool here = is_number(day->energy[row]);
        check(reason < PARITAS_ER_REASON_COUNT && reason != PARITAS_ER_POLARITY);
        check(here == is_number(day->time[row]) && here == is_number(day->field[3 * row]));
        check(!here || (day->energy[row] > 0.0 && day->time[row] > 0.0 && day->line[row] != 0 && !ended));
        check(here == (reason == PARITAS_ER_KEPT || reason == day->sweep_reason[k]));
        ended = ended || !here;
        for (size_t j = row * CELLS; j < (row + 1) * CELLS; j++) {
            const uint8_t cell = day->cell_reason[j];
            check(cell < PARITAS_ER_REASON_COUNT && (reason == PARITAS_ER_KEPT || cell == reason));
            if (cell <= PARITAS_ER_NO_COUNTS)
                check(day->flux[j] >= 0.0 && (day->flux[j] == 0.0) == (cell == PARITAS_ER_NO_COUNTS) &&
                      is_number(day->azimuth[j]));
            else
                check(day->flux[j] != day->flux[j]);
            cells[cell]++;
        }
    }
    check(!is_number(day->energy[k * ROWS]) || day->utc[k][0] != '\0');
}

static void check_day(const paritas_er_day *day, size_t size)
{
    uint64_t cells[PARITAS_ER_REASON_COUNT] = {0}, masked = 0, lost = 0;
    check(day->bytes == size && day->n <= day->rows);
    for (size_t k = 0; k < day->n; k++) {
        check_sweep(day, k, cells);
        masked += day->sweep_reason[k] != PARITAS_ER_KEPT;
        for (size_t i = 0; i < k && i < 8; i++) check(day->number[i] != day->number[k]);
    }
    for (int r = 1; r < PARITAS_ER_REASON_COUNT; r++) {
        const paritas_er_count *counted = &day->counts[r];
        check((counted->count == 0) == (counted->line == 0) && counted->column <= PARITAS_ER_FIELDS);
        if (paritas_er_reason_unit((paritas_er_reason)r) == PARITAS_ER_UNIT_CELL)
            check(counted->count == cells[r]);
        if (paritas_er_reason_unit((paritas_er_reason)r) == PARITAS_ER_UNIT_SWEEP) lost += counted->count;
    }
    check(masked == lost);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    paritas_er_day *day;
    for (int strict = 0; strict < 2; strict++) {
        options.strict = options.digest = strict;
        const paritas_status status =
            paritas_er_parse(&context, (const char *)data, size, "fuzz", &options, &day);
        if (status) {
            check(status == PARITAS_INVALID_INPUT && strncmp(context.message, "fuzz: ", 6) == 0 &&
                  day == NULL);
            continue;
        }
        check_day(day, size);
        if (strict)
            check(day->counts[PARITAS_ER_FIELD_COUNT].count + day->counts[PARITAS_ER_NUMBER].count +
                          day->counts[PARITAS_ER_ROW_MISSING].count ==
                      0 &&
                  strlen(day->digest) == 71);
        paritas_er_day_free(day);
    }
    return 0;
}
