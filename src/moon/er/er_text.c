/* er_text.c: lines and fields of small files; failures of files. */
#include "moon/er/er_text.h"
#include "moon/er/er_input.h"
#include "moon/er/er_number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

paritas_status er_unreadable(paritas_context *context, const char *path)
{
    return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", path, strerror(errno));
}
paritas_status er_unwritable(paritas_context *context, const char *path)
{
    return paritas_fail(context, PARITAS_UNWRITABLE, "%s: %s", path, strerror(errno));
}

paritas_status er_text_open(paritas_context *context, const char *path, struct er_text *text)
{
    *text = (struct er_text){.context = context, .path = path};
    struct er_input input;
    TRY(er_input_open(context, path, NULL, &input));
    paritas_status status = PARITAS_OK;
    size_t room = 0, got = 1;
    while (got && !status) {
        char *bytes = er_grow(context, text->bytes, text->length, &room, 16384, 1);
        if (bytes) {
            text->bytes = bytes;
            got = er_input_read(&input, bytes + text->length, room - text->length);
            text->length += got;
        } else {
            status = PARITAS_OUT_OF_MEMORY;
        }
    }
    bool cut;
    const paritas_status closed = er_input_close(&input, &cut);
    if (!status) status = closed;
    if (!status && cut)
        status = paritas_fail(context, PARITAS_INVALID_INPUT, "%s: the gzip file ends too early", path);
    text->at = text->bytes;
    /* UTF-8 mark of spreadsheets */
    if (text->length >= 3 && memcmp(text->bytes, "\xEF\xBB\xBF", 3) == 0) text->at += 3;
    if (status) er_text_close(text);
    return status;
}

void er_text_close(struct er_text *text)
{
    paritas_release(&text->context->allocator, text->bytes);
    text->bytes = NULL;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static struct er_piece trim(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    while (at < end && is_blank(end[-1])) end--;
    return (struct er_piece){at, (size_t)(end - at)};
}

bool er_text_line(struct er_text *text, struct er_piece *line)
{
    const char *const end = text->bytes + text->length;
    while (text->at < end) {
        const char *newline = memchr(text->at, '\n', (size_t)(end - text->at));
        if (!newline) newline = end;
        *line = trim(text->at, newline);
        text->at = newline < end ? newline + 1 : end;
        text->line++;
        if (line->length) return true;
    }
    return false;
}

bool er_piece_field(struct er_piece *line, const char *separators, struct er_piece *field)
{
    if (!line->at) return false;
    const char *const end = line->at + line->length, *at = line->at;
    while (at < end && !memchr(separators, *at, strlen(separators))) at++;
    *field = trim(line->at, at);
    *line = at < end ? (struct er_piece){at + 1, (size_t)(end - at - 1)} : (struct er_piece){NULL, 0};
    return true;
}

bool er_piece_is(struct er_piece piece, const char *word)
{
    return piece.length == strlen(word) && memcmp(piece.at, word, piece.length) == 0;
}

bool er_piece_number(struct er_piece piece, double *value)
{
    return er_number_within(piece.at, piece.at + piece.length, value);
}

paritas_status er_text_refuse(const struct er_text *text, const char *format, ...)
{
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return paritas_fail(text->context, PARITAS_INVALID_INPUT, "%s: line %llu: %s", text->path,
                        (unsigned long long)text->line, reason);
}
