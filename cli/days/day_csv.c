/* day_csv.c: tables as text (RFC 4180, lines end in LF), after `# ` provenance. */
#include "base/platform.h"
#include "days/day_tables.h"
#include "print/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void csv_text(struct text *out, const char *field)
{
    if (!field) return;
    if (field[strcspn(field, ",\"\r\n")] == '\0') {
        text_append(out, field, strlen(field));
        return;
    }
    text_append(out, "\"", 1);
    for (; *field != '\0'; field++) text_append(out, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    text_append(out, "\"", 1);
}

static void append_f64(struct text *out, double value)
{
    char digits[32];
    if (value != value) return;
    if (value - value != 0.0)
        text_format(out, "%s", value > 0.0 ? "inf" : "-inf");
    else
        text_append(out, digits, (size_t)number_write(value, digits));
}

void csv_number(struct text *out, double value)
{
    text_append(out, ",", 1);
    append_f64(out, value);
}

static void append_value(struct text *out, const struct column *column, size_t at)
{
    switch (column->kind) {
    case COLUMN_F64:
        append_f64(out, ((const double *)column->values)[at]);
        break;
    case COLUMN_I64:
        text_format(out, "%" PRId64, ((const int64_t *)column->values)[at]);
        break;
    case COLUMN_U64:
        text_format(out, "%" PRIu64, ((const uint64_t *)column->values)[at]);
        break;
    case COLUMN_U32:
        text_format(out, "%" PRIu32, ((const uint32_t *)column->values)[at]);
        break;
    case COLUMN_I8:
        text_format(out, "%d", ((const int8_t *)column->values)[at]);
        break;
    case COLUMN_U8:
        text_format(out, "%u", ((const unsigned char *)column->values)[at]);
        break;
    case COLUMN_BOOL:
        text_format(out, "%s", ((const unsigned char *)column->values)[at] ? "true" : "false");
        break;
    case COLUMN_TEXT:
        csv_text(out, ((const char *const *)column->values)[at]);
        break;
    }
}

static size_t spread(const struct column *column)
{
    return column->kind == COLUMN_TEXT || column->width == 0 ? 1 : column->width;
}

static void append_provenance(struct text *out, const char *provenance)
{
    while (*provenance != '\0') {
        const size_t line = strcspn(provenance, "\n");
        text_append(out, "# ", 2);
        text_append(out, provenance, line);
        text_append(out, "\n", 1);
        provenance += line + (provenance[line] == '\n');
    }
}

static void append_names(struct text *out, size_t n, const struct column *columns)
{
    for (size_t i = 0; i < n; i++) {
        const size_t parts = spread(&columns[i]);
        for (size_t k = 0; k < parts; k++) {
            if (i + k > 0) text_append(out, ",", 1);
            text_append(out, columns[i].name, strlen(columns[i].name));
            if (columns[i].width > 0 && columns[i].kind != COLUMN_TEXT) text_format(out, "_%zu", k);
        }
    }
    text_append(out, "\n", 1);
}

paritas_status csv_put(paritas_context *context, struct output_file *file, const char *path,
                       const char *provenance, size_t n, const struct column *columns)
{
    struct text out;
    text_open(&out, &context->allocator);
    append_provenance(&out, provenance);
    append_names(&out, n, columns);
    bool ok = true;
    const size_t rows = n > 0 ? columns[0].rows : 0;
    for (size_t row = 0; row < rows && ok && !out.failed; row++) {
        for (size_t i = 0; i < n; i++) {
            const size_t parts = spread(&columns[i]);
            for (size_t k = 0; k < parts; k++) {
                if (i + k > 0) text_append(&out, ",", 1);
                append_value(&out, &columns[i], row * parts + k);
            }
        }
        text_append(&out, "\n", 1);
        if (out.length < 1u << 16) continue;
        ok = output_append(file, out.bytes, out.length);
        out.length = 0;
    }
    ok = ok && !out.failed && output_append(file, out.bytes, out.length);
    if (out.failed) errno = ENOMEM;
    const paritas_status status = ok ? PARITAS_OK : columns_unwritable(context, path);
    text_free(&out);
    return status;
}

paritas_status csv_write(paritas_context *context, const char *path, const char *provenance, size_t n,
                         const struct column *columns)
{
    struct output_file file;
    if (!output_open(&file, path)) return columns_unwritable(context, path);
    const paritas_status status = csv_put(context, &file, path, provenance, n, columns);
    if (!output_close(&file, status == PARITAS_OK) && status == PARITAS_OK)
        return columns_unwritable(context, path);
    return status;
}

paritas_status columns_unwritable(paritas_context *context, const char *path)
{
    if (errno == ENOMEM) return paritas_fail_memory(context);
    return paritas_fail(context, PARITAS_UNWRITABLE, "%s: cannot be written: %s", path, strerror(errno));
}

paritas_status provenance_read(paritas_context *context, const char *path,
                               bool (*read)(FILE *file, struct text *out),
                               struct paritas_workspace **document)
{
    *document = NULL;
    FILE *file = platform_open_stream(path, "rb");
    if (!file && errno == ENOENT) return PARITAS_OK;
    if (!file) return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", path, strerror(errno));
    struct text text;
    text_open(&text, &context->allocator);
    const bool found = read(file, &text);
    paritas_status status = PARITAS_OK;
    fclose(file);
    if (text.failed)
        status = paritas_fail_memory(context);
    else if (!found)
        status = paritas_fail(context, PARITAS_INVALID_INPUT, "%s: is no table of paritas", path);
    else
        status = json_read(context, text.bytes, text.length, path, document);
    text_free(&text);
    return status;
}

static bool read_comments(FILE *file, struct text *out)
{
    int byte;
    while (getc(file) == '#' && getc(file) == ' ')
        while ((byte = getc(file)) != EOF) {
            text_append(out, (const char[1]){(char)byte}, 1);
            if (byte == '\n') break;
        }
    return out->length > 0;
}

paritas_status csv_provenance(paritas_context *context, const char *path, struct paritas_workspace **document)
{
    return provenance_read(context, path, read_comments, document);
}
