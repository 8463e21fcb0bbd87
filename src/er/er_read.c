/* er_read.c: day files: lines, fields, numbers.
 *
 * A buffer of a few hundred kB stays in the cache. It is read by whole lines and ends with one, so no
 * look-ahead checks the end. Sound lines take one pass; failed ones a second, for the reason. */
#define _POSIX_C_SOURCE 200809L
#include "er/er.h"
#include "er/er_number.h"

#include "base/digest.h"
#include "base/sized.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROW_BYTES 1400 /* of a short row; estimates the room of a day */
#define LARGEST_NUMBER 9007199254740992.0

struct reader {
    paritas_context *context;
    const char *label;
    struct er_sweeps *sweeps;
    paritas_er_day *day;
    uint64_t line;       /* current row */
    uint64_t whole;      /* rows of 183 fields */
    uint64_t first_line; /* first row with another number of fields; the number */
    size_t first_fields;
    unsigned decimals;                /* last field of the row before */
    uint32_t ends[PARITAS_ER_FIELDS]; /* row before, from the first field on */
    struct er_row row;
};

/* Hides a value's origin from the compiler. The end of a field is known only after reading it: 182 in
 * sequence are slow. Widths seldom change, so reading starts at a guess (+80 % measured). The guess is
 * checked; the compiler must not replace it by the checked value. */
#if defined(__GNUC__)
#define HIDE(pointer) __asm__("" : "+r"(pointer))
#else
#define HIDE(pointer) (void)(pointer)
#endif

static const char *field_end(const char *at)
{
    while (!er_is_end(*at)) at++;
    return at;
}

static size_t count_fields(const char *at)
{
    size_t fields = 0;
    for (at = er_skip_blanks(at); *at != '\n' && !(*at == '\r' && at[1] == '\n');
         at = er_skip_blanks(at), fields++) {
        const char *const end = field_end(at);
        at = end > at ? end : at + 1; /* a carriage return inside a line is a field */
    }
    return fields;
}

static unsigned count_decimals(const char *at, const char *end)
{
    const char *const point = memchr(at, '.', (size_t)(end - at));
    return point ? (unsigned)(end - point - 1) : 0;
}

/* Reads the line at `at` (no leading blank) into reader->row. Returns its end, or NULL at the first fault. */
static const char *read_row(struct reader *r, const char *at)
{
    const char *const start = at, *end = field_end(at);
    const size_t length = (size_t)(end - at);
    double ignored;
    if (!er_read_utc(at, end, &ignored)) return NULL;
    const size_t kept = length < sizeof r->row.utc - 1 ? length : sizeof r->row.utc - 1;
    memcpy(r->row.utc, at, kept);
    memset(r->row.utc + kept, 0, sizeof r->row.utc - kept);
    double *const value = r->row.value;
    at = end;
    for (unsigned k = 1; k < PARITAS_ER_FIELDS; k++) {
        const char *const guess = start + r->ends[k], *next = guess;
        HIDE(next);
        end = er_number(er_skip_blanks(at), &value[k]);
        if (end != guess) {
            if (!end) return NULL;
            next = end;
            r->ends[k] = (uint32_t)(end - start);
        }
        at = next;
    }
    if (*at != '\n') {
        at = er_skip_blanks(at);
        if (*at == '\r') at++;
        if (*at != '\n') return NULL;
    }
    const double number = value[ER_AT_NUMBER];
    if (!(number >= 0.0 && number <= LARGEST_NUMBER) || number != (double)(int64_t)number) return NULL;
    return at;
}

/* Why read_row refused a line. `cut`: the file's last, without end. */
static paritas_status lose_row(struct reader *r, const char *at, bool cut)
{
    const size_t fields = count_fields(at);
    if (fields == PARITAS_ER_FIELDS) {
        r->whole++;
    } else if (r->first_line == 0) {
        r->first_line = r->line;
        r->first_fields = fields;
    }
    if (cut) return er_sweeps_lose(r->sweeps, PARITAS_ER_FILE_CUT, -1, r->line, 0, fields);
    if (fields != PARITAS_ER_FIELDS)
        return er_sweeps_lose(r->sweeps, PARITAS_ER_FIELD_COUNT, -1, r->line, 0, fields);
    /* 183 fields: finds the first wrong one; the spectrum number, if right */
    unsigned wrong = 0;
    double number = -1.0, ignored;
    at = er_skip_blanks(at);
    const char *end = field_end(at);
    const bool utc = er_read_utc(at, end, &ignored);
    for (unsigned k = 1; k < PARITAS_ER_FIELDS; k++) {
        at = er_skip_blanks(end);
        double value;
        bool good = er_number(at, &value) != NULL;
        if (k == ER_AT_NUMBER && good)
            good = value >= 0.0 && value <= LARGEST_NUMBER && value == (double)(int64_t)value;
        if (k == ER_AT_NUMBER && good) number = value;
        if (!good && !wrong) wrong = k + 1;
        end = field_end(at);
        if (end == at) end++;
    }
    if (!utc) return er_sweeps_lose(r->sweeps, PARITAS_ER_BAD_UTC, (int64_t)number, r->line, 1, 0);
    return er_sweeps_lose(r->sweeps, PARITAS_ER_NUMBER, (int64_t)number, r->line, wrong, 0);
}

/* Whole lines: [at, end) ends with a newline. `unended`: the file lacked the last one. */
static paritas_status read_lines(struct reader *r, const char *at, const char *end, bool unended)
{
    while (at < end) {
        r->line++;
        const char *const start = at, *line_end;
        at = er_skip_blanks(at);
        if (*at == '\n' || (*at == '\r' && at[1] == '\n')) {
            at += *at == '\r' ? 2 : 1;
            continue;
        }
        r->day->rows++;
        line_end = read_row(r, at);
        paritas_status status;
        const bool last =
            unended &&
            (line_end ? line_end + 1 : (const char *)memchr(at, '\n', (size_t)(end - at)) + 1) == end;
        if (line_end) {
            const char *back = line_end;
            while (er_is_end(back[-1])) back--;
            const char *field = back;
            while (!er_is_end(field[-1])) field--;
            const unsigned decimals = count_decimals(field, back);
            if (last && decimals < r->decimals) line_end = NULL; /* cut inside the last number */
            r->decimals = decimals;
        }
        if (line_end) {
            r->row.line = r->line;
            r->whole++;
            status = er_sweeps_add(r->sweeps, &r->row);
        } else {
            status = lose_row(r, start, last);
            line_end = memchr(at, '\n', (size_t)(end - at));
        }
        if (status) return status;
        at = line_end + 1;
    }
    return PARITAS_OK;
}

struct source {
    int file; /* -1: memory */
    const char *text;
    size_t left;
};

/* Up to `room` bytes; 0: end; negative: errno. */
static ptrdiff_t take_bytes(struct source *source, char *out, size_t room)
{
    if (source->file < 0) {
        const size_t taken = source->left < room ? source->left : room;
        if (taken) memcpy(out, source->text, taken);
        source->text += taken;
        source->left -= taken;
        return (ptrdiff_t)taken;
    }
    for (;;) {
        const ssize_t got = read(source->file, out, room);
        if (got >= 0) return got;
        if (errno != EINTR) return -1;
    }
}

/* Too long for the buffer: fields cannot be counted. */
static paritas_status lose_long_line(struct reader *r)
{
    r->line++;
    r->day->rows++;
    if (r->first_line == 0) {
        r->first_line = r->line;
        r->first_fields = ER_TOO_LONG;
    }
    return er_sweeps_lose(r->sweeps, PARITAS_ER_FIELD_COUNT, -1, r->line, 0, ER_TOO_LONG);
}

/* `buffer`: ER_BUFFER bytes, a last newline, padding. */
static paritas_status read_source(struct reader *r, struct source *source, char *buffer,
                                  struct sha256 *digest)
{
    size_t used = 0;
    bool skipping = false; /* in a line that is too long */
    for (;;) {
        const ptrdiff_t got = take_bytes(source, buffer + used, ER_BUFFER - used);
        if (got < 0) return paritas_fail(r->context, PARITAS_UNREADABLE, "%s: %s", r->label, strerror(errno));
        if (digest) sha256_append(digest, buffer + used, (size_t)got);
        r->day->bytes += (uint64_t)got;
        used += (size_t)got;
        const bool unended = got == 0 && used != 0;
        if (unended) buffer[used++] = '\n';
        memset(buffer + used, 0, ER_PADDING);
        size_t whole = used;
        while (whole && buffer[whole - 1] != '\n') whole--;
        size_t from = 0;
        if (skipping && whole) {
            from = (size_t)((char *)memchr(buffer, '\n', whole) - buffer) + 1;
            skipping = false;
        }
        const paritas_status status =
            from < whole ? read_lines(r, buffer + from, buffer + whole, unended) : PARITAS_OK;
        if (status) return status;
        if (got == 0) return PARITAS_OK;
        if (skipping) whole = used;
        used -= whole;
        if (used == ER_BUFFER) {
            const paritas_status lost = lose_long_line(r);
            if (lost) return lost;
            skipping = true;
            used = 0;
        } else if (used && whole) {
            memmove(buffer, buffer + whole, used);
        }
    }
}

static const char *refusal(const struct reader *r, char out[96])
{
    if (r->first_line == 0) return "there are no rows";
    if (r->first_fields == ER_TOO_LONG)
        snprintf(out, 96, "line %llu: a line of more than %zu bytes", (unsigned long long)r->first_line,
                 ER_BUFFER);
    else
        snprintf(out, 96, "line %llu: %zu fields instead of 183", (unsigned long long)r->first_line,
                 r->first_fields);
    return out;
}

static paritas_status read_day(struct reader *r, struct source *source, const paritas_er_options *options,
                               struct er_day *day)
{
    struct sha256 digest;
    char text[96];
    paritas_status status = er_sweeps_open(r->context, r->label, options, day, &r->sweeps);
    if (status) return status;
    char *buffer = paritas_allocate(r->context, ER_BUFFER + 1 + ER_PADDING, 1);
    if (!buffer) status = paritas_fail_memory(r->context);
    if (!status) {
        sha256_open(&digest);
        r->day = &day->open;
        status = read_source(r, source, buffer, options->digest ? &digest : NULL);
    }
    if (!status && r->whole == 0)
        status = paritas_fail(r->context, PARITAS_INVALID_INPUT, "%s: %s: this is no day file", r->label,
                              refusal(r, text));
    if (!status) status = er_sweeps_close(r->sweeps);
    if (!status && options->digest) {
        memcpy(day->open.digest, "sha256:", 7);
        sha256_close(&digest, day->open.digest + 7);
    }
    paritas_release(&r->context->allocator, buffer);
    er_sweeps_free(r->sweeps);
    return status;
}

/* `size`: approximate. */
static paritas_status read_from(paritas_context *context, const char *label, struct source *source,
                                uint64_t size, const paritas_er_options *given, paritas_er_day **out)
{
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    paritas_status status = SIZED_TAKE(context, paritas_er_options, "options", given, &options);
    if (status) return status;
    if (!(options.field_lower >= 0.0) || !(options.field_upper > options.field_lower))
        return paritas_refuse(context, "options: the limits of the field are no interval above 0: %g to %g",
                              options.field_lower, options.field_upper);
    struct reader reader = {.context = context, .label = label};
    struct er_day *day;
    const uint64_t sweeps = size / (PARITAS_SWEEP_ROWS * ROW_BYTES) + 1;
    status = er_day_open(context, sweeps < 8192 ? (size_t)sweeps : 8192, &day);
    if (status) return status;
    status = read_day(&reader, source, &options, day);
    if (status)
        paritas_er_day_free(&day->open);
    else
        *out = &day->open;
    return status;
}

paritas_status paritas_er_parse(paritas_context *context, const char *text, size_t length, const char *label,
                                const paritas_er_options *options, paritas_er_day **day)
{
    REQUIRE(context, day, label);
    if (length > 0) REQUIRE(context, text);
    struct source source = {-1, text, length};
    *day = NULL;
    return read_from(context, label, &source, length, options, day);
}

paritas_status paritas_er_read(paritas_context *context, const char *path, const paritas_er_options *options,
                               paritas_er_day **day)
{
    REQUIRE(context, path, day);
    struct stat found;
    *day = NULL;
    struct source source = {.file = open(path, O_RDONLY | O_CLOEXEC)};
    if (source.file < 0 || fstat(source.file, &found) != 0) {
        const int reason = errno;
        if (source.file >= 0) close(source.file);
        return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", path, strerror(reason));
    }
    const paritas_status status =
        read_from(context, path, &source, found.st_size > 0 ? (uint64_t)found.st_size : 0, options, day);
    close(source.file);
    return status;
}
