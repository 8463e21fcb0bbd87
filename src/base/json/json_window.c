/* json_window.c: reads a source piece by piece into the window. */
#include "base/json/json_window.h"

#include "base/platform.h"
#include <errno.h>
#include <string.h>

#define LEAST ((size_t)1024)
#define ROOM ((size_t)64 * 1024) /* stays in a usual L2 cache, with what is made of it */

static paritas_status open_window(struct json_window *window, paritas_context *context, const char *label,
                                  uint64_t size)
{
    window->context = context;
    window->label = label;
    if (size >= UINT32_MAX)
        return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: documents of 4 GiB are not read", label);
    window->room = size < LEAST ? LEAST : size < ROOM ? (size_t)size + 1 : ROOM;
    window->bytes = paritas_allocate(context, window->room + JSON_PADDING, 1);
    if (!window->bytes) return paritas_fail_memory(context);
    window->more = true;
    window->end = window->bytes;
    const char *begin = window->bytes;
    return json_window_more(window, &begin);
}

paritas_status json_window_of_text(struct json_window *window, paritas_context *context, const char *label,
                                   const char *text, size_t length)
{
    *window = (struct json_window){.file = -1, .text = text, .length = length};
    return open_window(window, context, label, length);
}

paritas_status json_window_of_file(struct json_window *window, paritas_context *context, const char *label,
                                   int file, uint64_t size)
{
    *window = (struct json_window){.file = file};
    return open_window(window, context, label, size);
}

void json_window_close(struct json_window *window)
{
    if (window->bytes) paritas_release(&window->context->allocator, window->bytes);
    window->bytes = NULL;
}

/* Bytes read, 0 at the end, -1. */
static ptrdiff_t read_piece(const struct json_window *window, uint64_t place, char *out, size_t room)
{
    if (window->file >= 0) return platform_read(window->file, out, room);
    const size_t left = window->length - (size_t)place, piece = left < room ? left : room;
    if (piece != 0) memcpy(out, window->text + place, piece);
    return (ptrdiff_t)piece;
}

/* A token fills half of the window: doubles it. */
static bool grow(struct json_window *window, const char **keep, size_t kept)
{
    char *larger = paritas_allocate(window->context, 2 * window->room + JSON_PADDING, 1);
    if (!larger) return false;
    memcpy(larger, *keep, kept);
    paritas_release(&window->context->allocator, window->bytes);
    window->bytes = larger;
    window->room *= 2;
    return true;
}

paritas_status json_window_more(struct json_window *window, const char **keep)
{
    size_t used = (size_t)(window->end - *keep);
    window->first += (uint64_t)(*keep - window->bytes);
    if (used <= window->room / 2)
        memmove(window->bytes, *keep, used);
    else if (!grow(window, keep, used))
        return paritas_fail_memory(window->context);
    while (used < window->room && window->more) {
        const ptrdiff_t got =
            read_piece(window, window->first + used, window->bytes + used, window->room - used);
        if (got < 0)
            return paritas_fail(window->context, PARITAS_UNREADABLE, "%s: %s", window->label,
                                strerror(errno));
        window->more = got > 0;
        used += (size_t)got;
    }
    if (window->first + used >= UINT32_MAX) /* the file grew */
        return paritas_fail(window->context, PARITAS_INVALID_INPUT, "%s: documents of 4 GiB are not read",
                            window->label);
    memset(window->bytes + used, 0, JSON_PADDING);
    window->end = window->bytes + used;
    window->low = window->more ? window->end - JSON_PADDING : window->end; /* more: the window is full */
    *keep = window->bytes;
    return PARITAS_OK;
}

void json_window_line(const struct json_window *window, uint32_t place, size_t *line, size_t *column)
{
    char piece[4096];
    *line = *column = 1;
    if (window->file >= 0 && !platform_seek(window->file, 0)) return;
    for (uint64_t at = 0; at < place;) {
        const size_t left = (size_t)(place - at);
        const ptrdiff_t got = read_piece(window, at, piece, left < sizeof piece ? left : sizeof piece);
        if (got <= 0) return; /* the file was cut meanwhile */
        for (ptrdiff_t i = 0; i < got; i++) {
            if (piece[i] == '\n') {
                ++*line;
                *column = 1;
            } else if (((unsigned char)piece[i] & 0xc0) != 0x80) {
                ++*column;
            }
        }
        at += (uint64_t)got;
    }
}
