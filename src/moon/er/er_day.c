/* er_day.c: memory of a day, kinds of reasons, dates. */
#define _POSIX_C_SOURCE 200809L
#include "moon/er/er.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define CELLS ((size_t)PARITAS_SWEEP_ROWS * PARITAS_SWEEP_CELLS)
#define DAY 86400

/* By list: a reason's unit; is it damage? */
static const struct kind {
    paritas_er_unit unit;
    bool damage;
} kinds[] = {
#define CELL(name, value, word, doc) [value] = {PARITAS_ER_UNIT_CELL, false},
#define ROW(name, value, word, doc) [value] = {PARITAS_ER_UNIT_ROW, false},
#define DAMAGED_ROW(name, value, word, doc) [value] = {PARITAS_ER_UNIT_ROW, true},
#define SWEEP(name, value, word, doc) [value] = {PARITAS_ER_UNIT_SWEEP, false},
#define DAMAGED_SWEEP(name, value, word, doc) [value] = {PARITAS_ER_UNIT_SWEEP, true},
    PARITAS_ER_CELL_REASON_LIST(CELL) PARITAS_ER_DAMAGED_ROW_REASON_LIST(DAMAGED_ROW)
        PARITAS_ER_ROW_REASON_LIST(ROW) PARITAS_ER_SWEEP_REASON_LIST(SWEEP)
            PARITAS_ER_DAMAGED_SWEEP_REASON_LIST(DAMAGED_SWEEP) PARITAS_ER_COUNTS_REASON_LIST(ROW)
#undef CELL
#undef ROW
#undef DAMAGED_ROW
#undef SWEEP
#undef DAMAGED_SWEEP
};
_Static_assert(COUNT_OF(kinds) == PARITAS_ER_REASON_COUNT, "every reason has its kind");

paritas_er_unit paritas_er_reason_unit(paritas_er_reason reason)
{
    return (size_t)reason < PARITAS_ER_REASON_COUNT ? kinds[reason].unit : PARITAS_ER_UNIT_CELL;
}

bool er_is_damage(paritas_er_reason reason)
{
    return kinds[reason].damage;
}

void er_mask_rows(paritas_er_day *day, size_t first, size_t n, paritas_er_reason reason)
{
    memset(day->row_reason + first, reason, n);
    memset(day->cell_reason + first * PARITAS_SWEEP_CELLS, reason, n * PARITAS_SWEEP_CELLS);
    for (size_t cell = first * PARITAS_SWEEP_CELLS; cell < (first + n) * PARITAS_SWEEP_CELLS; cell++)
        day->flux[cell] = NAN;
}

void er_count(paritas_er_day *day, paritas_er_reason reason, uint64_t times, uint64_t line, unsigned column)
{
    paritas_er_count *counted = &day->counts[reason];
    if (counted->count == 0 || line < counted->line) {
        counted->line = line;
        counted->column = column;
    }
    counted->count += times;
}

/* Arrays of a day: offset in the struct, bytes a sweep, NaN (else 0) for missing values. */
static const struct array {
    size_t place, bytes;
    bool real;
} arrays[] = {
#define ARRAY(name, count, real) \
    {offsetof(paritas_er_day, name), sizeof *((paritas_er_day *)0)->name * (count), real}
    ARRAY(number, 1, false),
    ARRAY(utc, 1, false),
    ARRAY(sweep_reason, 1, false),
    ARRAY(row_reason, PARITAS_SWEEP_ROWS, false),
    ARRAY(cell_reason, CELLS, false),
    ARRAY(line, PARITAS_SWEEP_ROWS, false),
    ARRAY(time, PARITAS_SWEEP_ROWS, true),
    ARRAY(energy, PARITAS_SWEEP_ROWS, true),
    ARRAY(field, PARITAS_SWEEP_ROWS * 3, true),
    ARRAY(flux, CELLS, true),
    ARRAY(azimuth, CELLS, true),
    ARRAY(polarity, PARITAS_SWEEP_ROWS, true),
    ARRAY(spacecraft_potential, 1, true),
    ARRAY(spacecraft_in_sun, 1, true),
    ARRAY(projection_in_sun, 1, true),
    ARRAY(spacecraft_latitude, 1, true),
    ARRAY(spacecraft_longitude, 1, true),
    ARRAY(projection_latitude, 1, true),
    ARRAY(projection_longitude, 1, true),
    ARRAY(sun_azimuth, 1, true),
    ARRAY(sun_elevation, 1, true),
#undef ARRAY
};
#define ARRAYS (COUNT_OF(arrays))

static void *array_get(const struct er_day *day, size_t k)
{
    void *memory;
    memcpy(&memory, (const char *)&day->open + arrays[k].place, sizeof memory);
    return memory;
}

static void array_set(struct er_day *day, size_t k, void *memory)
{
    memcpy((char *)&day->open + arrays[k].place, &memory, sizeof memory);
}

void *er_grow(paritas_context *context, void *array, size_t n, size_t *room, size_t least, size_t size)
{
    if (n < *room) return array;
    const size_t wanted = *room ? 2 * *room : least;
    void *grown = paritas_reallocate(context, array, wanted, size);
    if (grown)
        *room = wanted;
    else
        paritas_fail_memory(context);
    return grown;
}

/* A failure leaves different sizes; `room` is the least. */
static paritas_status grow(paritas_context *context, struct er_day *day, size_t room)
{
    for (size_t k = 0; k < ARRAYS; k++) {
        void *memory = paritas_reallocate(context, array_get(day, k), room, arrays[k].bytes);
        if (!memory) return paritas_fail_memory(context);
        array_set(day, k, memory);
    }
    day->room = room;
    return PARITAS_OK;
}

paritas_status er_day_open(paritas_context *context, size_t room, struct er_day **day)
{
    *day = paritas_allocate_clear(context, 1, sizeof **day);
    if (!*day) return paritas_fail_memory(context);
    (*day)->allocator = context->allocator;
    (*day)->open.size = sizeof(*day)->open;
    const paritas_status status = grow(context, *day, room ? room : 1);
    if (status) {
        paritas_er_day_free(&(*day)->open);
        *day = NULL;
    }
    return status;
}

paritas_status er_day_add(paritas_context *context, struct er_day *day, int64_t number)
{
    const size_t n = day->open.n;
    if (n == day->room) {
        const paritas_status status = grow(context, day, n + n / 2 + 1);
        if (status) return status;
    }
    for (size_t k = 0; k < ARRAYS; k++) {
        const size_t bytes = arrays[k].bytes;
        char *memory = (char *)array_get(day, k) + n * bytes;
        if (arrays[k].real) {
            double *values = (double *)(void *)memory;
            for (size_t i = 0; i < bytes / sizeof *values; i++) values[i] = NAN;
        } else {
            memset(memory, 0, bytes);
        }
    }
    day->open.number[n] = number;
    memset(day->open.row_reason + n * PARITAS_SWEEP_ROWS, PARITAS_ER_ROW_MISSING, PARITAS_SWEEP_ROWS);
    memset(day->open.cell_reason + n * CELLS, PARITAS_ER_ROW_MISSING, CELLS);
    day->open.n = n + 1;
    return PARITAS_OK;
}

paritas_status paritas_er_day_create(paritas_context *context, size_t n, paritas_er_day **day)
{
    REQUIRE(context, day);
    struct er_day *made;
    *day = NULL;
    paritas_status status = er_day_open(context, n, &made);
    if (status) return status;
    for (size_t i = 0; i < n && !status; i++) status = er_day_add(context, made, (int64_t)i + 1);
    if (status)
        paritas_er_day_free(&made->open);
    else
        *day = &made->open;
    return status;
}

void er_day_put(paritas_er_day *whole, size_t at, const paritas_er_day *part, size_t from)
{
    for (size_t k = 0; k < ARRAYS; k++) {
        const size_t bytes = arrays[k].bytes;
        char *to = array_get((const struct er_day *)(const void *)whole, k);
        const char *source = array_get((const struct er_day *)(const void *)part, k);
        memcpy(to + at * bytes, source + from * bytes, bytes);
    }
}

void er_sweep_counts(const paritas_er_day *day, size_t k, uint64_t counts[PARITAS_ER_REASON_COUNT])
{
    if (day->sweep_reason[k] != PARITAS_ER_KEPT) {
        counts[day->sweep_reason[k]]++;
        return;
    }
    for (size_t row = k * PARITAS_SWEEP_ROWS; row < (k + 1) * PARITAS_SWEEP_ROWS; row++) {
        const uint8_t *cells = day->cell_reason + row * PARITAS_SWEEP_CELLS;
        if (day->row_reason[row] != PARITAS_ER_KEPT)
            counts[day->row_reason[row]]++;
        else
            for (size_t j = 0; j < PARITAS_SWEEP_CELLS; j++) counts[cells[j]]++;
    }
}

void paritas_er_day_free(paritas_er_day *day)
{
    if (!day) return;
    struct er_day *whole = (struct er_day *)(void *)day;
    const paritas_allocator allocator = whole->allocator;
    for (size_t k = 0; k < ARRAYS; k++) paritas_release(&allocator, array_get(whole, k));
    paritas_release(&allocator, whole);
}

/* Gregorian days since 1970-01-01. Years start in March: the leap day is last. */
static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    const int64_t era = y / 400, of_era = y % 400;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Returns -1 unless there are `count` digits. */
static int digits_at(const char *at, unsigned count)
{
    int value = 0;
    for (unsigned i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9') return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value;
}

int er_month_days(int year, int month)
{
    static const signed char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

bool er_read_utc(const char *at, const char *end, double *time)
{
    if (end - at < 19 || at[4] != '-' || at[7] != '-' || at[10] != 'T' || at[13] != ':' || at[16] != ':')
        return false;
    const int year = digits_at(at, 4), month = digits_at(at + 5, 2), day = digits_at(at + 8, 2);
    const int hour = digits_at(at + 11, 2), minute = digits_at(at + 14, 2), second = digits_at(at + 17, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > er_month_days(year, month)) return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
    double fraction = 0.0, unit = 1.0;
    const char *rest = at + 19;
    if (rest < end && *rest == '.') {
        const char *const first = ++rest;
        for (; rest < end && *rest >= '0' && *rest <= '9'; rest++) {
            if (rest - first < 9) {
                fraction = fraction * 10.0 + (*rest - '0');
                unit *= 10.0;
            }
        }
        if (rest == first) return false;
    }
    if (rest < end && *rest == 'Z') rest++;
    if (rest != end) return false;
    *time =
        (double)(days_of_date(year, month, day) * DAY + hour * 3600 + minute * 60 + second) + fraction / unit;
    return true;
}

static char *put_digits(char *at, int value, unsigned count)
{
    for (unsigned i = count; i-- > 0; value /= 10) at[i] = (char)('0' + value % 10);
    return at + count;
}

int paritas_er_time(const char *utc, double *time)
{
    GIVEN(0, utc, time);
    return er_read_utc(utc, utc + strlen(utc), time);
}

void paritas_er_utc(double time, char utc[PARITAS_ER_UTC_SIZE])
{
    GIVEN(, utc);
    utc[0] = '\0';
    if (!(time >= -62135596800.0 && time < 253402300800.0)) return; /* years 1 to 9999 */
    time_t seconds = (time_t)time;
    if ((double)seconds > time) seconds--;
    struct tm date;
    gmtime_r(&seconds, &date);
    const int parts[] = {date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec};
    char *at = put_digits(utc, date.tm_year + 1900, 4);
    for (size_t k = 0; k < COUNT_OF(parts); k++) {
        *at++ = "--T::"[k];
        at = put_digits(at, parts[k], 2);
    }
    *at = '\0';
}
