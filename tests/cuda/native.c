/* native.c: fibers: begun as POSIX contexts, switched by _longjmp, which unlike swapcontext asks nothing of
 * the operating system (a sixth of the time). No sanitizer follows that: this file and the kernels are
 * compiled without. */
#define _GNU_SOURCE
#include "cuda/cuda_native.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK ((size_t)1 << 20) /* a variable for each register of PTX needs most of it */
#define PLACES_MAX 512

struct fiber {
    ucontext_t context;
    jmp_buf jump;
    int begun;
    void *stack;            /* kept for the next run */
    struct native_place at; /* the barrier where it waits; file NULL: at its end */
};

_Thread_local struct native_settings native_settings;
_Thread_local unsigned native_workers;
_Thread_local struct native_index native_thread, native_block;

static _Thread_local struct {
    struct fiber fibers[NATIVE_WORKERS_MAX];
    jmp_buf scheduler;
    native_kernel kernel;
    void **arguments;
    unsigned running;
    uint64_t random;
    char fault[256];
    struct native_place places[PLACES_MAX];
    size_t n_places;
} run;

size_t native_barriers(const struct native_place **places)
{
    *places = run.places;
    return run.n_places;
}

void native_forget_barriers(void)
{
    run.n_places = 0;
}

static int same(struct native_place a, struct native_place b)
{
    return a.line == b.line && (a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0));
}

static void remember(struct native_place place)
{
    for (size_t k = 0; k < run.n_places; k++)
        if (same(run.places[k], place)) return;
    if (run.n_places < PLACES_MAX) run.places[run.n_places++] = place;
}

/* From the scheduler into a fiber, until that comes to a barrier or its end. */
static void enter(struct fiber *fiber)
{
    if (_setjmp(run.scheduler)) return;
    if (fiber->begun) _longjmp(fiber->jump, 1);
    fiber->begun = 1;
    setcontext(&fiber->context);
}

/* Back to the scheduler. */
static void leave(struct fiber *fiber)
{
    if (!_setjmp(fiber->jump)) _longjmp(run.scheduler, 1);
}

static void fiber_main(void)
{
    struct fiber *fiber = &run.fibers[run.running];
    run.kernel(run.arguments);
    fiber->at = (struct native_place){NULL, 0};
    leave(fiber);
}

void native_barrier(const char *file, unsigned line)
{
    const struct native_place here = {file, line};
    remember(here);
    if (native_settings.dropped.file && same(here, native_settings.dropped)) return;
    struct fiber *fiber = &run.fibers[run.running];
    fiber->at = here;
    leave(fiber);
}

/* The next turns of `n` workers. */
static void deal(unsigned *turns, unsigned n)
{
    for (unsigned k = 0; k < n; k++) turns[k] = native_settings.order == NATIVE_BACKWARD ? n - 1 - k : k;
    if (native_settings.order != NATIVE_SHUFFLED) return;
    for (unsigned k = n - 1; k > 0; k--) {
        run.random = run.random * 6364136223846793005u + 1442695040888963407u;
        const unsigned other = (unsigned)((run.random >> 33) % (k + 1)), kept = turns[k];
        turns[k] = turns[other];
        turns[other] = kept;
    }
}

/* All threads of a block to their ends. */
static const char *run_block(unsigned workers)
{
    for (unsigned w = 0; w < workers; w++) {
        struct fiber *fiber = &run.fibers[w];
        fiber->begun = 0;
        getcontext(&fiber->context);
        fiber->context.uc_stack.ss_sp = fiber->stack;
        fiber->context.uc_stack.ss_size = STACK;
        fiber->context.uc_link = NULL;
        makecontext(&fiber->context, fiber_main, 0);
    }
    for (;;) {
        unsigned turns[NATIVE_WORKERS_MAX];
        deal(turns, workers);
        for (unsigned k = 0; k < workers; k++) {
            run.running = turns[k];
            native_thread.x = turns[k];
            enter(&run.fibers[turns[k]]);
        }
        const struct native_place at = run.fibers[0].at;
        for (unsigned w = 1; w < workers; w++) {
            const struct native_place other = run.fibers[w].at;
            if (same(at, other)) continue;
            snprintf(run.fault, sizeof run.fault,
                     "threads 0 and %u of a block wait at different places: %s:%u and %s:%u", w,
                     at.file ? at.file : "the end", at.line, other.file ? other.file : "the end", other.line);
            return run.fault;
        }
        if (!at.file) return NULL;
    }
}

const char *native_run(native_kernel kernel, void **arguments, unsigned blocks)
{
    const unsigned workers = native_workers;
    if (workers < 1 || workers > NATIVE_WORKERS_MAX) return "the size of the block";
    const char *fault = NULL;
    run.kernel = kernel;
    run.arguments = arguments;
    run.random = native_settings.seed;
    for (unsigned w = 0; w < workers && !fault; w++) {
        if (!run.fibers[w].stack) run.fibers[w].stack = malloc(STACK);
        if (!run.fibers[w].stack) fault = "no memory for a stack";
    }
    for (unsigned b = 0; b < blocks && !fault; b++) {
        native_block.x = b;
        fault = run_block(workers);
    }
    return fault;
}
