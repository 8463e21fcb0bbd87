/* session_memory.c: memory of a run, in its arena. */
#include "session/session.h"

#include <string.h>

/* Notes a failed allocation for allocated(). */
static void *noted(struct session *session, void *memory)
{
    if (!memory) {
        paritas_fail_memory(session->context);
        session->short_of_memory = true;
    }
    return memory;
}

void *arena_elements(struct session *session, size_t n, size_t size)
{
    return noted(session, arena_array(&session->arena, n + 1, size));
}

void *arena_element(struct session *session, size_t size)
{
    return noted(session, arena_array(&session->arena, 1, size));
}

double *arena_numbers(struct session *session, size_t n)
{
    return arena_elements(session, n, sizeof(double));
}

void *arena_records(struct session *session, size_t n, size_t size)
{
    char *records = arena_elements(session, n, size);
    for (size_t i = 0; i < n && records; i++) memcpy(records + i * size, &size, sizeof size);
    return records;
}

void *arena_grown(struct session *session, void *items, size_t n, size_t size)
{
    const size_t least = 16;
    if (n > 0 && (n < least || (n & (n - 1)) != 0)) return items; /* doubles at powers of two */
    void *more = arena_elements(session, n > 0 ? 2 * n : least, size);
    if (more && items) memcpy(more, items, n * size);
    return more;
}

char *arena_copied(struct session *session, const char *text, size_t length)
{
    return noted(session, arena_text(&session->arena, text, length));
}

struct arena arena_begin(struct session *session)
{
    const struct arena outer = session->arena;
    arena_open(&session->arena, &session->context->allocator);
    return outer;
}

void arena_end(struct session *session, struct arena outer)
{
    arena_free(&session->arena);
    session->arena = outer;
}

paritas_status allocated(const struct session *session)
{
    return session->short_of_memory ? PARITAS_OUT_OF_MEMORY : PARITAS_OK;
}
