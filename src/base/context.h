/* context.h: what every call carries: memory, the last error, threads, options. No other state exists. */
#ifndef PARITAS_BASE_CONTEXT_H
#define PARITAS_BASE_CONTEXT_H

#include "paritas.h"
#include <stdarg.h>
#include <stdbool.h>

/* Lets the compiler check arguments of printf: positions, from 1, of the format and its first argument. */
#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

struct paritas_device; /* src/device/device.h */

struct paritas_context {
    paritas_allocator allocator;
    unsigned threads;
    unsigned lanes;     /* 0: chosen by model size */
    unsigned precision; /* 64 or 32 */
    bool no_polish;     /* f32 fits stand as they are */
    unsigned workers;   /* of a work-group; 0: the device's choice */
    paritas_progress progress;
    void *progress_user;
    paritas_note_function note;
    void *note_user;
    struct paritas_device *device; /* runs the jobs; owned */
    struct paritas_device *host;   /* the CPU in f64, for covariances and polish; owned, may be `device` */
    void *stream;                  /* of the caller's, for a CUDA device; NULL: none */
    char *cache;                   /* folder of compiled kernels; owned; NULL: none */
    char device_name[32];
    char isa_name[16];
    char message[2048]; /* of the last failure */
};

/* Records the formatted message (cut to fit, control bytes shown as \xNN) and returns `status`: return
 * paritas_fail(context, PARITAS_INVALID_INPUT, "%s: ...", label). */
paritas_status paritas_fail(paritas_context *context, paritas_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The same for an argument that a caller must not give: paritas_refuse(context, "%s: ...", name). */
#define paritas_refuse(context, ...) paritas_fail(context, PARITAS_INVALID_ARGUMENT, __VA_ARGS__)
/* Leaves the function around it with the status of a call that fails. */
#define TRY(call)                                        \
    do {                                                 \
        const paritas_status try_status = (call);        \
        if (try_status != PARITAS_OK) return try_status; \
    } while (0)
/* Hands a sentence to the caller's function for notes. */
void paritas_note(paritas_context *context, const char *format, ...) PRINTF_LIKE(2, 3);
/* Out of memory, with a fixed message. */
paritas_status paritas_fail_memory(paritas_context *context);

/* All memory of the library. NULL on failure (no message set). Sizes are checked: count * size may not
 * overflow. */
void *paritas_allocate(paritas_context *context, size_t count, size_t size);       /* not cleared */
void *paritas_allocate_clear(paritas_context *context, size_t count, size_t size); /* zeros */
void *paritas_reallocate(paritas_context *context, void *memory, size_t count, size_t size);
void paritas_release(const paritas_allocator *allocator, void *memory); /* NULL is a no-op */
/* 64-byte aligned, not cleared; freed by paritas_release_aligned. */
void *paritas_allocate_aligned(paritas_context *context, size_t count, size_t size);
void paritas_release_aligned(const paritas_allocator *allocator, void *memory);

/* An arena: many small pieces, freed together. Pieces are 16-byte aligned and live until arena_free. */
struct arena {
    paritas_allocator allocator;
    struct arena_block *blocks;
    size_t used, capacity; /* of the newest block */
};
void arena_open(struct arena *arena, const paritas_allocator *allocator);
void *arena_allocate(struct arena *arena, size_t size);                 /* NULL on failure; not cleared */
void *arena_array(struct arena *arena, size_t count, size_t size);      /* overflow-checked, cleared */
char *arena_text(struct arena *arena, const char *text, size_t length); /* copy with an end byte */
void arena_free(struct arena *arena);

#endif
