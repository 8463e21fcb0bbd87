/* measuring.h: what the benchmarks share: a clock, the order of a median, memory, a model from a file. */
#ifndef PARITAS_BENCH_MEASURING_H
#define PARITAS_BENCH_MEASURING_H

#include <paritas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A pointer to a struct of the public interface with its size and these fields set, for one call:
 * SIZED(paritas_fit_answers, .results = &result, .parameters = best). */
#define SIZED(type, ...) (&(type){.size = sizeof(type), __VA_ARGS__})

/* Seconds since some time. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of this process. */
static inline double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* For qsort of doubles. */
static inline int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Zeros, freed by the caller; the program ends where there is no memory. */
static inline void *array(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* The same of structs of the public interface, with their sizes. */
static inline void *sized_array(size_t count, size_t size)
{
    char *structs = array(count, size);
    for (size_t i = 0; i < count; i++) memcpy(structs + i * size, &size, sizeof size);
    return structs;
}

/* The model of a workspace, patched where `patch` is not NULL. Freed by the caller. */
static inline paritas_status load_model(paritas_context *context, const char *path, const char *patch,
                                        paritas_model **model)
{
    paritas_workspace *workspace = NULL, *changes = NULL, *patched = NULL;
    paritas_status status = paritas_workspace_read(context, path, &workspace);
    if (!status && patch) status = paritas_workspace_read(context, patch, &changes);
    if (!status && patch) status = paritas_workspace_patch(context, workspace, changes, &patched);
    if (!status) status = paritas_model_create(context, patched ? patched : workspace, NULL, model);
    paritas_workspace_free(changes);
    paritas_workspace_free(patched);
    paritas_workspace_free(workspace);
    return status;
}

#endif
