/* er_read.c: day files: lines, fields, numbers.
 *
 * A buffer of a few hundred kB stays in the cache. It is read by whole lines and ends with one, so no
 * look-ahead checks the end. Sound lines take one pass; failed ones a second, for the reason. */
#include "moon/er/er.h"
#include "moon/er/er_input.h"
#include "moon/er/er_number.h"

#include "base/sized.h"
#include <string.h>

#define ROW_BYTES 1400 /* of a short row; estimates the room of a day */

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
    return er_is_spectrum(number) ? at : NULL;
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
        if (k == ER_AT_NUMBER && good) good = er_is_spectrum(value);
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
            TRY(er_sweeps_add(r->sweeps, &r->row));
        } else {
            TRY(lose_row(r, start, last));
            line_end = memchr(at, '\n', (size_t)(end - at));
        }
        at = line_end + 1;
    }
    return PARITAS_OK;
}

/* `left` bytes of memory, or a file. */
struct source {
    struct er_input *input; /* NULL: memory */
    const char *text;
    uint64_t left;
    struct sha256 *digest; /* of the memory; NULL: not asked for */
};

/* Up to `room` bytes; 0: end, or a failure of the file. */
static size_t take_bytes(struct source *source, char *out, size_t room)
{
    if (source->input) return er_input_read(source->input, out, room);
    const size_t taken = source->left < room ? (size_t)source->left : room;
    if (taken) memcpy(out, source->text, taken);
    if (source->digest) sha256_append(source->digest, out, taken);
    source->text += taken;
    source->left -= taken;
    return taken;
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
static paritas_status read_source(struct reader *r, struct source *source, char *buffer)
{
    size_t used = 0;
    bool skipping = false; /* in a line that is too long */
    for (;;) {
        const size_t got = take_bytes(source, buffer + used, ER_BUFFER - used);
        r->day->bytes += got;
        used += got;
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
        if (from < whole) TRY(read_lines(r, buffer + from, buffer + whole, unended));
        if (got == 0) return PARITAS_OK;
        if (skipping) whole = used;
        used -= whole;
        if (used == ER_BUFFER) {
            TRY(lose_long_line(r));
            skipping = true;
            used = 0;
        } else if (used && whole) {
            memmove(buffer, buffer + whole, used);
        }
    }
}

void er_fields_text(size_t fields, char out[64])
{
    if (fields == ER_TOO_LONG)
        snprintf(out, 64, "a line of more than %zu bytes", ER_BUFFER);
    else
        snprintf(out, 64, "%zu fields instead of 183", fields);
}

static paritas_status refuse_file(const struct reader *r)
{
    char reason[64];
    if (r->first_line == 0)
        return paritas_fail(r->context, PARITAS_INVALID_INPUT, "%s: there are no rows: this is no day file",
                            r->label);
    er_fields_text(r->first_fields, reason);
    return paritas_fail(r->context, PARITAS_INVALID_INPUT, "%s: line %llu: %s: this is no day file", r->label,
                        (unsigned long long)r->first_line, reason);
}

static paritas_status read_rows(struct reader *r, struct source *source, struct er_day *day)
{
    bool cut = false;
    char *buffer = paritas_allocate(r->context, ER_BUFFER + 1 + ER_PADDING, 1);
    paritas_status status = buffer ? PARITAS_OK : paritas_fail_memory(r->context);
    r->day = &day->open;
    if (!status) status = read_source(r, source, buffer);
    paritas_release(&r->context->allocator, buffer);
    if (source->input) {
        const paritas_status closed = er_input_close(source->input, &cut);
        if (!status) status = closed;
    }
    if (!status && r->whole == 0) status = refuse_file(r);
    if (!status && cut && day->open.counts[PARITAS_ER_FILE_CUT].count == 0)
        status = er_sweeps_lose(r->sweeps, PARITAS_ER_FILE_CUT, -1, r->line, 0, 0);
    return status ? status : er_sweeps_close(r->sweeps);
}

static paritas_status read_from(paritas_context *context, const char *label, struct source source,
                                const paritas_er_options *options, paritas_er_day **out)
{
    struct reader reader = {.context = context, .label = label};
    struct er_day *day = NULL;
    const uint64_t sweeps = source.left / (PARITAS_SWEEP_ROWS * ROW_BYTES) + 1;
    paritas_status status = er_day_open(context, sweeps < 8192 ? (size_t)sweeps : 8192, &day);
    if (!status) status = er_sweeps_open(context, label, options, day, &reader.sweeps);
    if (!status)
        status = read_rows(&reader, &source, day);
    else if (source.input)
        er_input_close(source.input, NULL);
    er_sweeps_free(reader.sweeps);
    if (!status)
        *out = &day->open;
    else if (day)
        paritas_er_day_free(&day->open);
    return status;
}

static void put_digest(struct sha256 *digest, paritas_er_day *day)
{
    memcpy(day->digest, "sha256:", 7);
    sha256_close(digest, day->digest + 7);
}

paritas_status paritas_er_parse(paritas_context *context, const char *text, size_t length, const char *label,
                                const paritas_er_options *given, paritas_er_day **day)
{
    REQUIRE(context, day, label);
    if (length > 0) REQUIRE(context, text);
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    struct sha256 digest;
    *day = NULL;
    TRY(OPTIONS_READ(context, paritas_er_options, "options", given, &options));
    sha256_open(&digest);
    const struct source source = {.text = text, .left = length, .digest = options.digest ? &digest : NULL};
    TRY(read_from(context, label, source, &options, day));
    if (options.digest) put_digest(&digest, *day);
    return PARITAS_OK;
}

paritas_status paritas_er_read(paritas_context *context, const char *path, const paritas_er_options *given,
                               paritas_er_day **day)
{
    REQUIRE(context, path, day);
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    struct sha256 digest;
    struct er_input input;
    *day = NULL;
    TRY(OPTIONS_READ(context, paritas_er_options, "options", given, &options));
    sha256_open(&digest);
    TRY(er_input_open(context, path, options.digest ? &digest : NULL, &input));
    TRY(read_from(context, path, (struct source){.input = &input, .left = input.size}, &options, day));
    if (options.digest) put_digest(&digest, *day);
    return PARITAS_OK;
}
