/* writer.c: writes JSON text. */
#include "print/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void writer_open(struct writer *writer, struct text *text, bool one_line)
{
    memset(writer, 0, sizeof *writer);
    writer->text = text;
    writer->one_line = one_line;
}

static void line_break(struct writer *writer)
{
    text_append(writer->text, "\n", 1);
    for (int i = 0; i < writer->depth; i++) text_append(writer->text, "  ", 2);
}

static void write_lead(struct writer *writer, const char *key)
{
    if (writer->depth > 0) {
        int at = writer->depth - 1;
        if (writer->filled[at]) text_append(writer->text, ",", 1);
        if (writer->lines[at] && !writer->one_line)
            line_break(writer);
        else if (writer->filled[at])
            text_append(writer->text, " ", 1);
        writer->filled[at] = true;
    }
    if (!key) return;
    text_quoted(writer->text, key, strlen(key));
    text_append(writer->text, ": ", 2);
}

static void write_container(struct writer *writer, const char *key, bool lines, const char *opening,
                            char closing)
{
    write_lead(writer, key);
    text_append(writer->text, opening, 1);
    writer->filled[writer->depth] = false;
    writer->lines[writer->depth] = lines;
    writer->closing[writer->depth++] = closing;
}

void write_object(struct writer *writer, const char *key, bool lines)
{
    write_container(writer, key, lines, "{", '}');
}
void write_array(struct writer *writer, const char *key, bool lines)
{
    write_container(writer, key, lines, "[", ']');
}

void write_close(struct writer *writer)
{
    int at = --writer->depth;
    if (writer->lines[at] && writer->filled[at] && !writer->one_line) line_break(writer);
    text_append(writer->text, &writer->closing[at], 1);
    if (at == 0) text_append(writer->text, "\n", 1);
}

void write_number(struct writer *writer, const char *key, double value)
{
    write_lead(writer, key);
    text_number(writer->text, value);
}

void write_integer(struct writer *writer, const char *key, uint64_t value)
{
    write_lead(writer, key);
    text_format(writer->text, "%" PRIu64, value);
}

void write_bool(struct writer *writer, const char *key, bool value)
{
    write_lead(writer, key);
    text_format(writer->text, "%s", value ? "true" : "false");
}

void write_string(struct writer *writer, const char *key, const char *value)
{
    write_lead(writer, key);
    if (value)
        text_quoted(writer->text, value, strlen(value));
    else
        text_append(writer->text, "null", 4);
}

void write_numbers(struct writer *writer, const char *key, size_t n, const double *values)
{
    write_array(writer, key, false);
    for (size_t i = 0; i < n; i++) write_number(writer, NULL, values[i]);
    write_close(writer);
}

static void write_values(struct writer *writer, const char *keys, va_list values)
{
    while (*keys != '\0') {
        char key[32];
        const size_t length = strcspn(keys, ":");
        snprintf(key, sizeof key, "%.*s", (int)length, keys);
        keys += length + 1;
        switch (*keys++) {
        case 's':
            write_string(writer, key, va_arg(values, const char *));
            break;
        case 'n':
            write_number(writer, key, va_arg(values, double));
            break;
        case 'b':
            write_bool(writer, key, va_arg(values, int));
            break;
        case 'u':
            write_integer(writer, key, va_arg(values, unsigned));
            break;
        case 'z':
            write_integer(writer, key, va_arg(values, size_t));
            break;
        }
        keys += strspn(keys, " ");
    }
}

void write_members(struct writer *writer, const char *keys, ...)
{
    va_list values;
    va_start(values, keys);
    write_values(writer, keys, values);
    va_end(values);
}

void write_row(struct writer *writer, const char *keys, ...)
{
    va_list values;
    va_start(values, keys);
    write_object(writer, NULL, false);
    write_values(writer, keys, values);
    write_close(writer);
    va_end(values);
}

void write_tree(struct writer *writer, const char *key, const struct json *node)
{
    write_lead(writer, key);
    if (node)
        json_write(writer->text, node, 0, false);
    else
        text_append(writer->text, "null", 4);
}
