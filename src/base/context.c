/* context.c: memory, arenas, errors, names of statuses.
 *
 * Pieces come from the newest block of an arena and are freed together:
 *
 *   arena.blocks ──► [next | piece piece piece ... free] ──► [next | piece ...] ──► NULL
 *
 * Blocks double: one small allocation for a small document, few for a large one. */
#include "base/context.h"

#include "base/bytes.h"
#include "base/platform.h"
#include "base/visible.h"
#include <stdio.h>
#include <string.h>

#define ARENA_FIRST ((size_t)4096)
#define ARENA_LARGEST ((size_t)1 << 16) /* little is left free in the last one */
#define ALIGNMENT ((size_t)64)

const char *paritas_version(void)
{
    return TEXT_OF(PARITAS_VERSION_MAJOR) "." TEXT_OF(PARITAS_VERSION_MINOR) "." TEXT_OF(
        PARITAS_VERSION_PATCH);
}

const char *paritas_error_message(const paritas_context *context)
{
    return context ? context->message
                   : "context: must not be NULL; paritas_open gives one unless memory runs out";
}

paritas_status paritas_fail(paritas_context *context, paritas_status status, const char *format, ...)
{
    char text[sizeof context->message]; /* a copy: the message may be an argument */
    va_list arguments;
    if (!context) return status;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    visible_copy(length < 0 ? paritas_status_message(status) : text, sizeof context->message,
                 context->message);
    return status;
}

static void tell(paritas_context *context, const char *format, va_list arguments)
{
    char text[sizeof context->message], shown[sizeof text];
    if (context->note && vsnprintf(text, sizeof text, format, arguments) >= 0)
        context->note(context->note_user, visible_copy(text, sizeof shown, shown));
}

void paritas_note(paritas_context *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(context, format, arguments);
    va_end(arguments);
}

void paritas_note_of_device(paritas_context *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    context->device_note = true;
    tell(context, format, arguments);
    context->device_note = false;
    va_end(arguments);
}

paritas_status paritas_require(paritas_context *context, const char *names, size_t n,
                               const void *const *pointers)
{
    if (!context) return PARITAS_INVALID_ARGUMENT;
    for (size_t k = 0; k < n; k++, names += strcspn(names, ",") + 2)
        if (!pointers[k])
            return paritas_refuse(context, "%.*s: must not be NULL", (int)strcspn(names, ","), names);
    return PARITAS_OK;
}

paritas_status paritas_require_each(paritas_context *context, const char *name, size_t n,
                                    const void *const *pointers)
{
    for (size_t k = 0; k < n; k++)
        if (!pointers[k]) return paritas_refuse(context, "%s[%zu]: must not be NULL", name, k);
    return PARITAS_OK;
}

bool paritas_given(size_t n, const void *const *pointers)
{
    for (size_t k = 0; k < n; k++)
        if (!pointers[k]) return false;
    return true;
}

paritas_status paritas_fail_memory(paritas_context *context)
{
    return paritas_fail(context, PARITAS_OUT_OF_MEMORY, "%s", paritas_status_message(PARITAS_OUT_OF_MEMORY));
}

/* *bytes = count * size, at least 1, so that NULL means failure; false: overflow. */
static bool product(size_t count, size_t size, size_t *bytes)
{
    if (size != 0 && count > (SIZE_MAX - 4 * ALIGNMENT) / size) return false;
    *bytes = count * size;
    if (*bytes == 0) *bytes = 1;
    return true;
}

void *paritas_allocate(paritas_context *context, size_t count, size_t size)
{
    size_t bytes;
    if (!product(count, size, &bytes)) return NULL;
    return context->allocator.allocate(context->allocator.user, bytes);
}

void *paritas_allocate_clear(paritas_context *context, size_t count, size_t size)
{
    void *memory = paritas_allocate(context, count, size);
    if (memory) memset(memory, 0, count * size);
    return memory;
}

void *paritas_reallocate(paritas_context *context, void *memory, size_t count, size_t size)
{
    size_t bytes;
    if (!product(count, size, &bytes)) return NULL;
    if (!memory) return context->allocator.allocate(context->allocator.user, bytes);
    return context->allocator.reallocate(context->allocator.user, memory, bytes);
}

void paritas_release(const paritas_allocator *allocator, void *memory)
{
    if (memory) allocator->release(allocator->user, memory);
}

/* The allocator ignores alignment: moves to a boundary and keeps the address before it. */
void *paritas_allocate_aligned(paritas_context *context, size_t count, size_t size)
{
    size_t bytes;
    if (!product(count, size, &bytes)) return NULL;
    char *base = context->allocator.allocate(context->allocator.user, bytes + ALIGNMENT + sizeof base);
    if (!base) return NULL;
    uintptr_t address = (uintptr_t)base + sizeof base;
    size_t skip = sizeof base + (size_t)(-address & (ALIGNMENT - 1));
    char *memory = base + skip;
    memcpy(memory - sizeof base, &base, sizeof base);
    return memory;
}

void paritas_release_aligned(const paritas_allocator *allocator, void *memory)
{
    if (!memory) return;
    char *base;
    memcpy(&base, (char *)memory - sizeof base, sizeof base);
    allocator->release(allocator->user, base);
}

bool paritas_has_read(const paritas_context *context, const struct platform_info *file)
{
    for (size_t i = 0; i < context->n_read && i < FILES_REMEMBERED; i++)
        if (context->read[i].volume == file->volume && context->read[i].number == file->number) return true;
    return false;
}

void paritas_note_read(paritas_context *context, const struct platform_info *file)
{
    if (paritas_has_read(context, file)) return;
    context->read[context->n_read++ % FILES_REMEMBERED] = (struct context_file){file->volume, file->number};
}

struct arena_block {
    _Alignas(16) struct arena_block *next;
};

void arena_open(struct arena *arena, const paritas_allocator *allocator)
{
    *arena = (struct arena){.allocator = *allocator};
}

void *arena_allocate(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    size = (size + 15) & ~(size_t)15;
    if (size == 0) size = 16;
    if (size > arena->capacity - arena->used) {
        size_t wanted = arena->capacity < ARENA_FIRST ? ARENA_FIRST : 2 * arena->capacity;
        if (wanted > ARENA_LARGEST) wanted = ARENA_LARGEST;
        /* a large piece gets its own block; the newest stays in use */
        bool apart = size > wanted / 4;
        size_t capacity = apart ? size : wanted;
        struct arena_block *block =
            arena->allocator.allocate(arena->allocator.user, sizeof *block + capacity);
        if (!block) return NULL;
        if (apart && arena->blocks) {
            block->next = arena->blocks->next;
            arena->blocks->next = block;
            return block + 1;
        }
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
        arena->capacity = capacity;
    }
    char *piece = (char *)(arena->blocks + 1) + arena->used;
    arena->used += size;
    return piece;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!product(count, size, &bytes)) return NULL;
    void *memory = arena_allocate(arena, bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    if (length >= SIZE_MAX / 4) return NULL;
    char *copy = arena_allocate(arena, length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void arena_free(struct arena *arena)
{
    paritas_allocator allocator = arena->allocator; /* the arena may lie in its own block */
    struct arena_block *block = arena->blocks;
    arena->blocks = NULL;
    arena->used = arena->capacity = 0;
    while (block) {
        struct arena_block *next = block->next;
        allocator.release(allocator.user, block);
        block = next;
    }
}
