/* er_write.c: day files in the archive's form.
 *
 * Rounds from the shortest decimal form, half to even: the same on all systems, and the same bits back if
 * the column has enough digits. Usually far from a half, one product gives the digits (4 times as fast). */
#define _POSIX_C_SOURCE 200809L
#include "moon/er/er.h"
#include "moon/er/er_number.h"

#include "base/json/json.h"
#include "base/platform.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_AT ((size_t)1 << 20)
#define FLUX_DIGITS 4
#define FLUX_LEAST 1000u
#define FLUX_BEYOND 10000u

/* A finite number >= 0 in the fewest digits that identify it. */
static struct decimal shortest(double value)
{
    char text[32];
    const char *reason;
    struct decimal number;
    number_scan(text, text + number_write(value, text), &number, &reason);
    return number;
}

/* digits / 10^count to the nearest integer, half to even. */
static uint64_t drop_digits(uint64_t digits, int count)
{
    uint64_t unit = 1;
    if (count > 19) return 0;
    for (int k = 0; k < count; k++) unit *= 10;
    const uint64_t whole = digits / unit, rest = digits % unit;
    return whole + (rest > unit - rest || (rest == unit - rest && whole % 2 == 1));
}

static char *pad(char *out, const char *text, int length, int width)
{
    for (int k = length; k < width; k++) *out++ = ' ';
    memcpy(out, text, (size_t)length);
    return out + length;
}

/* value * 10^power to the nearest integer, value >= 0; false: one product does not decide. */
static bool scale(double value, int power, uint64_t *whole)
{
    if (power < -22 || power > 22) return false;
    const double scaled = power < 0 ? value / number_powers[-power] : value * number_powers[power];
    if (!(scaled < 1e12)) return false;
    const uint64_t below = (uint64_t)scaled;
    const double past = scaled - (double)below - 0.5, error = scaled * 2.3e-16;
    if (past >= -error && past <= error) return false;
    *whole = below + (past > 0.0);
    return true;
}

/* At least `least` digits, ending at `end`; returns their beginning. */
static char *put_digits(char *end, uint64_t value, int least)
{
    char *at = end;
    while (value != 0 || end - at < least) {
        *--at = (char)('0' + value % 10);
        value /= 10;
    }
    return at;
}

/* `decimals` decimals, right-aligned in `width` after a blank. */
static char *put_fixed(char *out, double value, int decimals, int width)
{
    char text[400], *const end = text + sizeof text;
    const double size = value < 0.0 ? -value : value;
    uint64_t whole;
    int zeros = 0; /* behind `whole` */
    if (!scale(size, decimals, &whole)) {
        const struct decimal number = shortest(size);
        const int surplus = -(int)number.exponent - decimals;
        whole = drop_digits(number.digits, surplus);
        zeros = surplus < 0 ? -surplus : 0;
        memset(end - zeros, '0', (size_t)zeros);
    }
    char *at = put_digits(end - zeros, whole, decimals + 1 - zeros) - 1;
    const size_t before = (size_t)(end - at) - 1 - (size_t)decimals;
    memmove(at, at + 1, before);
    at[before] = '.';
    if (value < 0.0 && whole != 0) *--at = '-';
    *out++ = ' ';
    return pad(out, at, (int)(end - at), width - 1);
}

/* First FLUX_DIGITS digits of a positive number as an integer; decimal exponent of the first. False: one
 * product does not decide. */
static bool take_first_digits(double value, uint64_t *digits, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int power = (((int)(bits >> 52) - 1023) * 315653) >> 20; /* log10(2); at most one too small */
    if (!scale(value, FLUX_DIGITS - 1 - power, digits)) return false;
    if (*digits >= FLUX_BEYOND && !scale(value, FLUX_DIGITS - 1 - ++power, digits)) return false;
    *exponent = power;
    return *digits >= FLUX_LEAST && *digits < FLUX_BEYOND;
}

/* d.dddE+dd, likewise. */
static char *put_scientific(char *out, double value, int width)
{
    char text[40] = "";
    uint64_t first;
    int length = 0, exponent = 0;
    const double size = value < 0.0 ? -value : value;
    if (size == 0.0) {
        first = 0;
    } else if (!take_first_digits(size, &first, &exponent)) {
        const struct decimal number = shortest(size);
        first = number.digits;
        exponent = (int)number.exponent + FLUX_DIGITS - 1;
        for (; first < FLUX_LEAST; exponent--) first *= 10;
        int surplus = 0;
        for (uint64_t rest = first; rest >= FLUX_BEYOND; rest /= 10) surplus++;
        first = drop_digits(first, surplus);
        exponent += surplus;
        if (first == FLUX_BEYOND) {
            first = FLUX_LEAST;
            exponent++;
        }
    }
    if (value < 0.0) text[length++] = '-';
    put_digits(text + length + FLUX_DIGITS + 1, first, FLUX_DIGITS);
    text[length] = text[length + 1];
    text[length + 1] = '.';
    length += FLUX_DIGITS + 1;
    const int magnitude = exponent < 0 ? -exponent : exponent, places = magnitude > 99 ? 3 : 2;
    text[length++] = 'E';
    text[length++] = exponent < 0 ? '-' : '+';
    put_digits(text + length + places, (uint64_t)magnitude, places);
    *out++ = ' ';
    return pad(out, text, length + places, width - 1);
}

/* Puts a number in the fewest digits that read back. */
static char *put_exact(char *out, double value)
{
    *out++ = ' ';
    return out + number_write(value, out);
}

static char *put_text(char *out, const char *text, int width)
{
    *out++ = ' ';
    return pad(out, text, (int)strlen(text), width - 1);
}

#define ROW_ROOM ((size_t)64 * 1024) /* largest numbers in fixed form: 95 of 320 characters */

static char *put_row(char *out, const paritas_er_day *day, size_t k, size_t row, bool exact)
{
    char utc[PARITAS_ER_UTC_SIZE], number[24];
    const double *field = day->field + 3 * row;
    const size_t first = row * PARITAS_SWEEP_CELLS, end = first + PARITAS_SWEEP_CELLS;
    if (day->utc[k][0] && day->time[row] == day->time[k * PARITAS_SWEEP_ROWS])
        memcpy(utc, day->utc[k], sizeof utc);
    else
        paritas_er_utc(day->time[row], utc);
    utc[sizeof utc - 1] = '\0';
    out = pad(out, utc, (int)strlen(utc), 0);
    out = exact ? put_exact(out, day->time[row]) : put_fixed(out, day->time[row], 3, 15);
    out = exact ? put_exact(out, day->energy[row]) : put_fixed(out, day->energy[row], 3, 11);
    snprintf(number, sizeof number, "%lld", (long long)day->number[k]);
    out = put_text(out, number, 6);
    for (size_t i = 0; i < 3; i++) out = exact ? put_exact(out, field[i]) : put_fixed(out, field[i], 6, 12);
    for (size_t j = first; j < end; j++)
        if (day->cell_reason[j] == PARITAS_ER_FLUX_ERROR || !isfinite(day->flux[j]))
            out = put_text(out, day->cell_reason[j] == PARITAS_ER_FLUX_ERROR ? "-9.99E-99" : "9.999E-99", 10);
        else
            out = exact ? put_exact(out, day->flux[j]) : put_scientific(out, day->flux[j], 10);
    for (size_t j = first; j < end; j++)
        if (day->cell_reason[j] == PARITAS_ER_AZIMUTH_ERROR || !isfinite(day->azimuth[j]))
            out = put_text(out, day->cell_reason[j] == PARITAS_ER_AZIMUTH_ERROR ? "998.99" : "999.99", 8);
        else
            out = exact ? put_exact(out, day->azimuth[j]) : put_fixed(out, day->azimuth[j], 2, 8);
    *out++ = '\n';
    return out;
}

static paritas_status flush(paritas_context *context, FILE *file, const char *path, const char *buffer,
                            size_t length)
{
    return fwrite(buffer, 1, length, file) == length ? PARITAS_OK : er_unwritable(context, path);
}

static paritas_status write_rows(paritas_context *context, FILE *file, const char *path, char *buffer,
                                 const paritas_er_day *day, bool exact)
{
    char *out = buffer;
    for (size_t row = 0; row < day->n * PARITAS_SWEEP_ROWS; row++) {
        if (!isfinite(day->energy[row])) continue;
        const double *field = day->field + 3 * row;
        if (!isfinite(day->time[row]) || !isfinite(field[0]) || !isfinite(field[1]) || !isfinite(field[2]))
            return paritas_refuse(
                context, "day: row %zu of sweep %zu has an energy, but its time or field is not a number",
                row % PARITAS_SWEEP_ROWS, row / PARITAS_SWEEP_ROWS);
        out = put_row(out, day, row / PARITAS_SWEEP_ROWS, row, exact);
        if ((size_t)(out - buffer) < FLUSH_AT) continue;
        TRY(flush(context, file, path, buffer, (size_t)(out - buffer)));
        out = buffer;
    }
    return flush(context, file, path, buffer, (size_t)(out - buffer));
}

paritas_status paritas_er_write(paritas_context *context, const char *path, const paritas_er_day *day,
                                int exact)
{
    REQUIRE(context, path, day);
    const size_t length = strlen(path);
    char *buffer = paritas_allocate(context, FLUSH_AT + ROW_ROOM, 1),
         *temporary = paritas_allocate(context, length + sizeof ".part", 1);
    paritas_status status = buffer && temporary ? PARITAS_OK : paritas_fail_memory(context);
    FILE *file = NULL;
    struct platform_info about;
    const bool in_place = platform_info(path, &about) && about.kind != PLATFORM_FILE; /* a device stays one */
    if (!status) {
        /* temporary name until whole: no half days */
        memcpy(temporary, path, length + 1);
        if (!in_place) memcpy(temporary + length, ".part", sizeof ".part");
        file = platform_open_stream(temporary, "wb");
        if (!file) status = er_unwritable(context, temporary);
    }
    if (!status) status = write_rows(context, file, temporary, buffer, day, exact != 0);
    if (file && fclose(file) != 0 && !status) status = er_unwritable(context, temporary);
    if (!status && !in_place && !platform_rename(temporary, path)) status = er_unwritable(context, path);
    if (status && file && !in_place) platform_remove(temporary);
    paritas_release(&context->allocator, buffer);
    paritas_release(&context->allocator, temporary);
    return status;
}
