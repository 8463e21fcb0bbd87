/* er_write.c: day files in the archive's form.
 *
 * Rounds from the shortest decimal form, half to even: the same on all systems, and the same bits back if
 * the column has enough digits. Usually far from a half, one product gives the digits (4 times as fast). */
#define _POSIX_C_SOURCE 200809L
#include "er/er.h"
#include "er/er_number.h"

#include "base/json.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_AT ((size_t)1 << 20)
#define FLUX_DIGITS 4

/* (-1)^negative * digits * 10^exponent in the fewest digits that identify a finite number. */
struct shortest {
    char digits[20]; /* no leading zero; zero: "0" */
    int count, exponent;
    bool negative;
};

static void shorten(double value, struct shortest *out)
{
    char text[32];
    const int length = number_write(value, text);
    int at = 0, exponent = 0, written = 0;
    bool behind = false, started = false;
    out->negative = text[0] == '-';
    out->count = 0;
    for (at += out->negative; at < length && text[at] != 'e'; at++) {
        if (text[at] == '.') {
            behind = true;
            continue;
        }
        exponent -= behind;
        started = started || text[at] != '0';
        if (started) out->digits[out->count++] = text[at];
    }
    if (at < length) {
        const bool down = text[at + 1] == '-';
        for (at += 1 + (text[at + 1] == '-' || text[at + 1] == '+'); at < length; at++)
            written = written * 10 + (text[at] - '0');
        exponent += down ? -written : written;
    }
    while (out->count > 1 && out->digits[out->count - 1] == '0') {
        out->count--;
        exponent++;
    }
    if (out->count == 0) {
        out->digits[out->count++] = '0';
        exponent = 0;
    }
    out->exponent = exponent;
}

/* Keeps `kept` leading digits; a carry may add a place. */
static void round_digits(struct shortest *number, int kept)
{
    if (kept >= number->count) return;
    bool up = false;
    if (kept >= 0) {
        const char *rest = number->digits + kept;
        bool beyond = false;
        for (int k = kept + 1; k < number->count; k++) beyond = beyond || number->digits[k] != '0';
        up = *rest > '5' ||
             (*rest == '5' && (beyond || (kept > 0 && (number->digits[kept - 1] - '0') % 2 == 1)));
    }
    number->exponent += number->count - (kept > 0 ? kept : 0);
    number->count = kept > 0 ? kept : 0;
    int k = number->count;
    while (up && k > 0 && number->digits[k - 1] == '9') number->digits[--k] = '0';
    if (up && k > 0) {
        number->digits[k - 1]++;
    } else if (up) { /* all nines, or none kept: 1 and zeros */
        memmove(number->digits + 1, number->digits, (size_t)number->count);
        number->digits[0] = '1';
        number->count++;
    }
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
    char text[400];
    uint64_t whole;
    *out++ = ' ';
    if (scale(value < 0.0 ? -value : value, decimals, &whole)) {
        char *at = put_digits(text + 40, whole, decimals + 1);
        const int before = (int)(text + 40 - at) - decimals;
        memmove(at - 1, at, (size_t)before);
        at[before - 1] = '.';
        at--;
        if (value < 0.0 && whole != 0) *--at = '-';
        return pad(out, at, (int)(text + 40 - at), width - 1);
    }
    struct shortest number;
    int length = 0;
    shorten(value, &number);
    round_digits(&number, number.count + number.exponent + decimals);
    /* digits before the point, if positive */
    const int before = number.count ? number.count + number.exponent : 0;
    const bool zero = number.count == 0 || number.digits[0] == '0';
    if (number.negative && !zero) text[length++] = '-';
    for (int k = 0; k < before; k++) text[length++] = k < number.count ? number.digits[k] : '0';
    if (before <= 0) text[length++] = '0';
    text[length++] = '.';
    for (int k = before; k < before + decimals; k++)
        text[length++] = k >= 0 && k < number.count ? number.digits[k] : '0';
    return pad(out, text, length, width - 1);
}

/* First FLUX_DIGITS digits of a positive number as an integer; decimal exponent of the first. False: one
 * product does not decide. */
static bool take_first_digits(double value, uint64_t *digits, int *exponent)
{
    static const uint64_t least = 1000, beyond = 10000;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int power = (((int)(bits >> 52) - 1023) * 315653) >> 20; /* log10(2); at most one too small */
    if (!scale(value, FLUX_DIGITS - 1 - power, digits)) return false;
    if (*digits >= beyond && !scale(value, FLUX_DIGITS - 1 - ++power, digits)) return false;
    *exponent = power;
    return *digits >= least && *digits < beyond;
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
        struct shortest number;
        shorten(size, &number);
        round_digits(&number, FLUX_DIGITS);
        exponent = number.exponent + number.count - 1;
        first = 0;
        for (int k = 0; k < FLUX_DIGITS; k++)
            first = first * 10 + (k < number.count ? (uint64_t)(number.digits[k] - '0') : 0);
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

/* In the fewest digits that read back. */
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

static bool is_number(double value)
{
    return value - value == 0.0;
}

#define ROW_ROOM ((size_t)64 * 1024) /* largest numbers in fixed form: 95 of 320 characters */

static char *put_row(char *out, const paritas_er_day *day, size_t k, size_t row, bool exact)
{
    char utc[PARITAS_ER_UTC_SIZE], number[24];
    const double *field = day->field + 3 * row;
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
    for (size_t j = row * PARITAS_SWEEP_CELLS; j < (row + 1) * PARITAS_SWEEP_CELLS; j++) {
        const double flux = day->flux[j];
        if (day->cell_reason[j] == PARITAS_ER_FLUX_ERROR)
            out = put_text(out, "-9.99E-99", 10);
        else if (!is_number(flux))
            out = put_text(out, "9.999E-99", 10);
        else
            out = exact ? put_exact(out, flux) : put_scientific(out, flux, 10);
    }
    for (size_t j = row * PARITAS_SWEEP_CELLS; j < (row + 1) * PARITAS_SWEEP_CELLS; j++) {
        const double azimuth = day->azimuth[j];
        if (day->cell_reason[j] == PARITAS_ER_AZIMUTH_ERROR)
            out = put_text(out, "998.99", 8);
        else if (!is_number(azimuth))
            out = put_text(out, "999.99", 8);
        else
            out = exact ? put_exact(out, azimuth) : put_fixed(out, azimuth, 2, 8);
    }
    *out++ = '\n';
    return out;
}

static paritas_status write_rows(paritas_context *context, FILE *file, const char *path, char *buffer,
                                 const paritas_er_day *day, bool exact)
{
    char *out = buffer;
    for (size_t row = 0; row < day->n * PARITAS_SWEEP_ROWS; row++) {
        if (!is_number(day->energy[row])) continue;
        const double *field = day->field + 3 * row;
        if (!is_number(day->time[row]) || !is_number(field[0]) || !is_number(field[1]) ||
            !is_number(field[2]))
            return paritas_refuse(
                context, "day: row %zu of sweep %zu has an energy, but its time or field is not a number",
                row % PARITAS_SWEEP_ROWS, row / PARITAS_SWEEP_ROWS);
        out = put_row(out, day, row / PARITAS_SWEEP_ROWS, row, exact);
        if ((size_t)(out - buffer) < FLUSH_AT) continue;
        if (fwrite(buffer, 1, (size_t)(out - buffer), file) != (size_t)(out - buffer))
            return paritas_fail(context, PARITAS_UNWRITABLE, "%s: %s", path, strerror(errno));
        out = buffer;
    }
    if (fwrite(buffer, 1, (size_t)(out - buffer), file) != (size_t)(out - buffer))
        return paritas_fail(context, PARITAS_UNWRITABLE, "%s: %s", path, strerror(errno));
    return PARITAS_OK;
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
    if (!status) {
        /* temporary name until whole: no half days */
        memcpy(temporary, path, length);
        memcpy(temporary + length, ".part", sizeof ".part");
        file = fopen(temporary, "wb");
        if (!file) status = paritas_fail(context, PARITAS_UNWRITABLE, "%s: %s", temporary, strerror(errno));
    }
    if (!status) status = write_rows(context, file, temporary, buffer, day, exact != 0);
    if (file && fclose(file) != 0 && !status)
        status = paritas_fail(context, PARITAS_UNWRITABLE, "%s: %s", temporary, strerror(errno));
    if (!status && rename(temporary, path) != 0)
        status = paritas_fail(context, PARITAS_UNWRITABLE, "%s: %s", path, strerror(errno));
    if (status && file) remove(temporary);
    paritas_release(&context->allocator, buffer);
    paritas_release(&context->allocator, temporary);
    return status;
}
