/* context.h: the state of a call: memory, last error, threads, options. There is no other state. */
#pragma once

#include "paritas.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The compiler checks printf arguments. Positions from 1: of the format, of its first argument. */
#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* A macro's value as a string. */
#define TEXT_OF(macro) AS_TEXT(macro)
#define AS_TEXT(words) #words

struct paritas_device; /* src/device/device.h */

#define FILES_REMEMBERED 1024 /* without memory of their own: results leave none in a context */
struct context_file {
    uint64_t volume, number;
};

struct paritas_context {
    paritas_allocator allocator;
    bool standard_memory; /* the allocator is malloc, which every thread may call at any time */
    unsigned threads;
    const atomic_uint *threads_now; /* of `threads`, for the CPU's next launch; NULL: all */
    unsigned lanes;                 /* 0: by model size */
    unsigned precision;             /* 64 or 32 */
    bool no_polish;                 /* no polish of f32 fits */
    unsigned workers;               /* work-group size; 0: the device chooses */
    paritas_progress progress;
    void *progress_user;
    paritas_note_function note;
    void *note_user;
    bool device_note;              /* while paritas_note_of_device tells */
    struct paritas_device *device; /* owned; runs jobs */
    struct paritas_device *host;   /* CPU in f64 for covariances and polish; owned, may be `device` */
    struct probe *probe;           /* in a child that tries drivers: src/device/probe.h */
    unsigned probe_milliseconds;   /* time limit of such a child; 0: as usual; for tests */
    char *cache;                   /* compiled kernels, drivers' verdicts; owned; NULL: none */
    struct context_file read[FILES_REMEMBERED]; /* histograms that were opened, the last of them */
    size_t n_read;
    bool again;         /* what the cache has is not read, and replaced */
    paritas_work work;  /* since it was opened */
    char message[2048]; /* last failure */
};

/* Stores the message (cut; control bytes as \xNN) and returns `status`: return paritas_fail(context,
 * PARITAS_INVALID_INPUT, "%s: ...", label). Without a context there is no message. */
paritas_status paritas_fail(paritas_context *context, paritas_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* For wrong arguments of a caller: paritas_refuse(context, "%s: ...", name). */
#define paritas_refuse(context, ...) paritas_fail(context, PARITAS_INVALID_ARGUMENT, __VA_ARGS__)
/* Leaves the function where a caller's pointer is NULL: REQUIRE(context, model, mu). REQUIRE_AS takes the
 * header's names: REQUIRE_AS(context, "model", given). */
#define REQUIRE(context, ...) REQUIRE_AS(context, #__VA_ARGS__, __VA_ARGS__)
#define REQUIRE_AS(context, names, ...)                                            \
    TRY(paritas_require(context, names, COUNT_OF(((const void *[]){__VA_ARGS__})), \
                        (const void *const[]){__VA_ARGS__}))
paritas_status paritas_require(paritas_context *context, const char *names, size_t n,
                               const void *const *pointers);
/* The same of an array of n pointers, by the number of the one that is NULL. */
#define REQUIRE_EACH(context, name, n, array) \
    TRY(paritas_require_each(context, name, n, (const void *const *)(array)))
paritas_status paritas_require_each(paritas_context *context, const char *name, size_t n,
                                    const void *const *pointers);
/* A function without a status answers `otherwise`, or does nothing: GIVEN(NULL, day), GIVEN(, text). */
#define GIVEN(otherwise, ...)                                                                              \
    do {                                                                                                   \
        if (!paritas_given(COUNT_OF(((const void *[]){__VA_ARGS__})), (const void *const[]){__VA_ARGS__})) \
            return otherwise;                                                                              \
    } while (0)
bool paritas_given(size_t n, const void *const *pointers);
/* Leaves the function with the status of a failed call. */
#define TRY(call)                                        \
    do {                                                 \
        const paritas_status try_status = (call);        \
        if (try_status != PARITAS_OK) return try_status; \
    } while (0)
/* Remembers an opened file, and says whether it was opened: answers are not written over it. */
struct platform_info;
void paritas_note_read(paritas_context *context, const struct platform_info *file);
bool paritas_has_read(const paritas_context *context, const struct platform_info *file);
/* Calls the caller's function for notes. */
void paritas_note(paritas_context *context, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same, of how a device runs: it is no part of an answer, which no device changes. */
void paritas_note_of_device(paritas_context *context, const char *format, ...) PRINTF_LIKE(2, 3);
/* Out of memory, with a fixed message. */
paritas_status paritas_fail_memory(paritas_context *context);

/* All memory of the library. NULL on failure, without message, also if count * size overflows. */
void *paritas_allocate(paritas_context *context, size_t count, size_t size);       /* not cleared */
void *paritas_allocate_clear(paritas_context *context, size_t count, size_t size); /* zeros */
void *paritas_reallocate(paritas_context *context, void *memory, size_t count, size_t size);
void paritas_release(const paritas_allocator *allocator, void *memory); /* NULL is a no-op */
/* 64-byte aligned, not cleared; free with paritas_release_aligned. */
void *paritas_allocate_aligned(paritas_context *context, size_t count, size_t size);
void paritas_release_aligned(const paritas_allocator *allocator, void *memory);

/* Small pieces, 16-byte aligned, freed together by arena_free. */
struct arena {
    paritas_allocator allocator;
    struct arena_block *blocks;
    size_t used, capacity; /* newest block */
};
void arena_open(struct arena *arena, const paritas_allocator *allocator);
void *arena_allocate(struct arena *arena, size_t size);                 /* NULL on failure; not cleared */
void *arena_array(struct arena *arena, size_t count, size_t size);      /* overflow-checked, cleared */
char *arena_text(struct arena *arena, const char *text, size_t length); /* adds an end byte */
void arena_free(struct arena *arena);
