/* cpu.c: the reference device. Threads take teams from a counter; each keeps its slab. The processor decides
 * the instruction set, each launch's slab size the lanes: a fit that fills the cache runs alone in packs,
 * small ones side by side. */
#include "device/device_kind.h"
#include "device/device_precision.h"
#include "base/processor.h"
#include "variants.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

static const struct {
    const char *isa;
    unsigned precision, lanes;
} built[] = {
#define X(suffix, isa, f64, lanes, pack) {#isa, f64 ? 64 : 32, lanes},
    PARITAS_KERNEL_VARIANTS(X)
#undef X
};

/* best first */
static const char *const isas[] = {"avx512", "avx2", "neon", "relaxed_simd", "scalar", "portable"};
#define ISAS (COUNT_OF(isas))

/* About half of a usual L2 cache; beyond it a lone fit beats lanes. */
#define SLABS_IN_CACHE ((size_t)512 * 1024)
/* Queues stream data and keep lanes busy far beyond the cache (tHu: 1.8 MB for 8). */
#define SLABS_OF_QUEUES ((size_t)8 << 20)
/* Cost that pays for a thread (about 50 us): a test of two bins takes 35 us on one, 150 us on two. */
#define WORTH_A_THREAD 2.5e7

#if defined(__wasm__)
#define PORTABLE_FMA " (fma in software)" /* kernels/dialect/dialect_software_fma.h */
#else
#define PORTABLE_FMA ""
#endif

#define ROWS_KEPT ((size_t)4 << 20) /* numbers in f32 */

#define THREADS_MOST 256 /* paritas_open's limit */

struct slab {
    char *memory; /* aligned */
    size_t bytes;
    struct device_part untouched; /* bytes that were never cleared */
};

struct cpu_state {
    struct slab *slabs; /* one per thread */
    float *rows[2];     /* f32: rows in and out; kept, since fresh pages cost as much as small fits */
    size_t row_numbers[2];
    unsigned threads;
    char description[160];
};

struct cpu_model {
    const struct kernel_module *module;
    const uint32_t *ints; /* f64: the caller's; f32: copies */
    const void *reals;
};

#if defined(__wasm_relaxed_simd__)
/* An engine rounds relaxed_madd once or twice, always the same way. (1 + e)(1 - e) - 1 is -e^2 or 0. */
static int madd_is_fused(void)
{
    const volatile double e = 0x1p-30;
    const v128_t f64 =
        wasm_f64x2_relaxed_madd(wasm_f64x2_splat(1 + e), wasm_f64x2_splat(1 - e), wasm_f64x2_splat(-1.0));
    const volatile float h = 0x1p-14f;
    const v128_t f32 =
        wasm_f32x4_relaxed_madd(wasm_f32x4_splat(1 + h), wasm_f32x4_splat(1 - h), wasm_f32x4_splat(-1.0f));
    return wasm_f64x2_extract_lane(f64, 0) == -0x1p-60 && wasm_f32x4_extract_lane(f32, 0) == -0x1p-28f;
}
#endif

static int isa_runs(const char *isa)
{
    if (!strcmp(isa, "portable")) return 1;
#if defined(__x86_64__)
    if (!strcmp(isa, "scalar") || !strcmp(isa, "avx2")) return processor_level() >= 3;
    if (!strcmp(isa, "avx512")) return processor_level() >= 4;
    return 0;
#elif defined(__wasm__)
#if defined(__wasm_relaxed_simd__)
    if (!strcmp(isa, "relaxed_simd")) return madd_is_fused();
#endif
    return 0;
#else
    return 1; /* every arm64 has fma and NEON */
#endif
}

/* Looks for the one-lane variant, which replaces missing widths. */
static int isa_built(const char *isa, unsigned precision)
{
    for (size_t v = 0; v < COUNT_OF(built); v++)
        if (built[v].precision == precision && built[v].lanes == 1 && !strcmp(built[v].isa, isa)) return 1;
    return 0;
}

/* *chosen: the requested one, or the best. */
static paritas_status choose_isa(paritas_context *context, unsigned precision, const char *asked,
                                 const char **chosen)
{
    char known[100] = "";
    for (size_t k = 0; k < ISAS; k++) {
        if (!asked || strcmp(asked, isas[k]) == 0) {
            *chosen = isas[k];
            if (isa_built(isas[k], precision) && isa_runs(isas[k])) return PARITAS_OK;
            if (asked)
                return paritas_fail(
                    context, PARITAS_NO_DEVICE,
                    "instruction set '%s' is not in this build in f%u or not in this processor", asked,
                    precision);
        }
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", k ? ", " : "", isas[k]);
    }
    if (!asked)
        return paritas_fail(context, PARITAS_NO_DEVICE, "this build has no kernels in f%u for this processor",
                            precision);
    return paritas_fail(context, PARITAS_NO_DEVICE, "instruction set '%s' is not known; there are %s", asked,
                        known);
}

/* What runs, and the instruction sets of this build. */
static void describe(struct cpu_state *state, const char *chosen, unsigned precision)
{
    char *const out = state->description;
    const size_t room = sizeof state->description;
    snprintf(out, room, "%s kernels%s, %u thread%s; built:", chosen,
             strcmp(chosen, "portable") == 0 ? PORTABLE_FMA : "", state->threads,
             state->threads == 1 ? "" : "s");
    for (size_t k = 0; k < ISAS; k++) {
        const size_t length = strlen(out);
        if (isa_built(isas[k], precision)) snprintf(out + length, room - length, " %s", isas[k]);
    }
}

static paritas_status cpu_open(paritas_context *context, struct paritas_device *device, const char *isa)
{
    const char *chosen = NULL;
    if (device->index != 0)
        return paritas_fail(context, DEVICE_ABSENT, "device '%s': there is one CPU device, cpu",
                            device->name);
    const paritas_status status = choose_isa(context, device->precision, isa, &chosen);
    if (status != PARITAS_OK) return status;
    struct cpu_state *state = paritas_allocate_clear(context, 1, sizeof *state);
    if (!state) return paritas_fail_memory(context);
    state->threads = device->threads ? device->threads : 1;
    state->slabs = paritas_allocate_clear(context, state->threads, sizeof *state->slabs);
    device->state = state;
    if (!state->slabs) {
        device->operations->close(device);
        return paritas_fail_memory(context);
    }
    device->keeps_models = device->precision == 32;
    device->is_processor = true;
    device->teams = 16 * state->threads;
    device->team_workers = 1;
    snprintf(device->isa, sizeof device->isa, "%s", chosen);
    describe(state, chosen, device->precision);
    return PARITAS_OK;
}

/* Releases rows of more than `most` numbers. */
static void release_rows(struct paritas_device *device, size_t most)
{
    struct cpu_state *state = device->state;
    for (int out = 0; out < 2; out++) {
        if (state->row_numbers[out] <= most) continue;
        paritas_release_aligned(&device->allocator, state->rows[out]);
        state->rows[out] = NULL;
        state->row_numbers[out] = 0;
    }
}

static void cpu_close(struct paritas_device *device)
{
    struct cpu_state *state = device->state;
    if (!state) return;
    for (unsigned t = 0; state->slabs && t < state->threads; t++)
        paritas_release_aligned(&device->allocator, state->slabs[t].memory);
    release_rows(device, 0);
    paritas_release(&device->allocator, state->slabs);
    paritas_release(&device->allocator, state);
    device->state = NULL;
}

static const char *cpu_describe(const struct paritas_device *device)
{
    return ((const struct cpu_state *)device->state)->description;
}

static void cpu_model_release(struct paritas_device *device, void *handle)
{
    struct cpu_model *model = handle;
    if (!model) return;
    precision_release(&device->allocator, device->precision, model->reals);
    if (device->precision == 32) paritas_release_aligned(&device->allocator, (void *)model->ints);
    paritas_release(&device->allocator, model);
}

static paritas_status cpu_model_upload(paritas_context *context, struct paritas_device *device,
                                       const struct kernel_module *module, const struct device_tables *tables,
                                       void **handle)
{
    struct cpu_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    *handle = NULL;
    if (!model) return paritas_fail_memory(context);
    model->module = module;
    model->ints = tables->ints;
    if (device->precision == 32) {
        uint32_t *ints = paritas_allocate_aligned(context, tables->n_ints + 1, sizeof *ints);
        if (ints && tables->n_ints) memcpy(ints, tables->ints, tables->n_ints * sizeof *ints);
        model->ints = ints;
    }
    model->reals = precision_narrow(context, device->precision, tables->reals, tables->n_reals);
    if (!model->reals || (device->precision == 32 && !model->ints)) {
        cpu_model_release(device, model);
        return paritas_fail_memory(context);
    }
    device->uploads++;
    *handle = model;
    return PARITAS_OK;
}

struct work {
    const struct device_launch *launch;
    cpu_entry entry;
    const struct cpu_model *model;
    const void *in;
    void *out;
    uint32_t teams, rows_of_team;
    atomic_uint next;
    atomic_int cancelled;
};

struct worker {
    struct work *work;
    void *slab;
    bool tells; /* the calling thread reports progress */
};

/* Jobs that may take long run beside the calling thread, which asks every so often whether to go on. */
#define ASKS_EVERY 50000000L /* ns */

struct watch {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned running; /* threads */
};

struct watched {
    struct worker worker;
    struct watch *watch;
};

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct work *work = worker->work;
    const struct device_launch *launch = work->launch;
    for (;;) {
        const uint32_t team = atomic_fetch_add(&work->next, 1);
        if (team >= work->teams || atomic_load(&work->cancelled)) return NULL;
        work->entry(work->model->ints, work->model->reals, launch->args, work->in, work->out, worker->slab,
                    team);
        if (worker->tells && !device_report(launch, (uint64_t)(team + 1) * work->rows_of_team))
            atomic_store(&work->cancelled, 1);
    }
}

/* The wanted width; else as many lanes as rows and cache allow; else packs. NULL: none. */
static const struct cpu_variant *choose_among(const struct paritas_device *device, const char *isa,
                                              const struct kernel_module *module,
                                              const struct device_launch *launch)
{
    const size_t element = device->precision / 8, room = launch->share ? SLABS_OF_QUEUES : SLABS_IN_CACHE;
    const struct cpu_variant *best = NULL;
    for (size_t v = 0; v < module->n_variants; v++) {
        const struct cpu_variant *candidate = &module->variants[v];
        if (candidate->precision != device->precision || strcmp(candidate->isa, isa) != 0) continue;
        if (launch->lanes) {
            /* a missing width falls back to 1: same bits */
            if (candidate->lanes != launch->lanes && candidate->lanes != 1) continue;
            if (!best || candidate->lanes > best->lanes) best = candidate;
            continue;
        }
        const int fits = candidate->lanes == 1 || (launch->rows >= candidate->lanes &&
                                                   launch->touched * element * candidate->lanes <= room);
        if (fits && (!best || candidate->lanes * (candidate->lanes > 1 ? 16u : 1u) + candidate->pack >
                                  best->lanes * (best->lanes > 1 ? 16u : 1u) + best->pack))
            best = candidate;
    }
    return best;
}

/* Variant for the device's instruction set or the next plainer one. NULL: none. */
static const struct cpu_variant *choose_variant(const struct paritas_device *device,
                                                const struct kernel_module *module,
                                                const struct device_launch *launch)
{
    const struct cpu_variant *best = NULL;
    bool plainer = false;
    for (size_t k = 0; k < ISAS && !best; k++) {
        /* known to run; asking takes microseconds in virtual machines */
        const bool own = strcmp(isas[k], device->isa) == 0;
        if (own || (plainer && isa_runs(isas[k]))) best = choose_among(device, isas[k], module, launch);
        plainer = plainer || own;
    }
    return best;
}

static unsigned threads_for(const paritas_context *context, const struct cpu_state *state,
                            const struct device_launch *launch, uint32_t teams)
{
    const double worth = 1.0 + (double)launch->rows * launch->cost / WORTH_A_THREAD;
    const unsigned now = context->threads_now ? atomic_load(context->threads_now) : state->threads,
                   most = now < state->threads ? now : state->threads;
    unsigned threads = most < teams ? most : teams;
    if (launch->cost > 0.0 && threads > worth) threads = (unsigned)worth;
    return threads < THREADS_MOST ? threads : THREADS_MOST;
}

#define LARGE_SLAB ((size_t)1 << 30) /* bytes; whose size a message tells */

/* Padding must be finite. A new slab's matrix stays untouched: it is much of a large model's memory, and a
 * value, a gradient and expected data have none. Another model or width has other numbers there. */
static void clear_untouched(struct slab *slab, struct device_part matrix)
{
    if (slab->untouched.from == matrix.from && slab->untouched.to == matrix.to) return;
    memset(slab->memory + slab->untouched.from, 0, slab->untouched.to - slab->untouched.from);
    slab->untouched = (struct device_part){0};
}

static paritas_status reserve_slabs(paritas_context *context, struct paritas_device *device, unsigned threads,
                                    unsigned lanes, const struct device_launch *launch)
{
    struct cpu_state *state = device->state;
    const size_t element = device->precision / 8 * lanes, bytes = launch->slab * element,
                 most = launch->slab_most * (device->precision / 8);
    const struct device_part matrix = {launch->matrix.from * element, launch->matrix.to * element};
    for (unsigned t = 0; t < threads; t++) {
        struct slab *slab = &state->slabs[t];
        if (slab->bytes >= bytes) {
            clear_untouched(slab, matrix);
            continue;
        }
        paritas_release_aligned(&device->allocator, slab->memory);
        *slab = (struct slab){0};
        /* for a covariance that may follow: untouched memory is free, fresh pages are not */
        const size_t room = lanes == 1 && most > bytes ? most : bytes;
        slab->memory = paritas_allocate_aligned(context, room, 1);
        if (!slab->memory && bytes < LARGE_SLAB) return paritas_fail_memory(context);
        if (!slab->memory)
            return paritas_fail(context, PARITAS_OUT_OF_MEMORY,
                                "memory could not be allocated: %.1f GB for each of %u threads",
                                1e-9 * (double)bytes, threads);
        memset(slab->memory, 0, matrix.from);
        memset(slab->memory + matrix.to, 0, bytes - matrix.to);
        slab->untouched = matrix;
        slab->bytes = room;
    }
    return PARITAS_OK;
}

static void *run_watched(void *argument)
{
    struct watched *watched = argument;
    struct watch *watch = watched->watch;
    run_worker(&watched->worker);
    pthread_mutex_lock(&watch->lock);
    watch->running--;
    pthread_cond_signal(&watch->ended);
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* Asks until all threads are done; `limit` goes to 0 if the caller cancels. */
static void watch_threads(struct watch *watch, struct work *work, volatile uint32_t *limit)
{
    pthread_mutex_lock(&watch->lock);
    while (watch->running > 0) {
        struct timespec until;
        timespec_get(&until, TIME_UTC);
        until.tv_nsec += ASKS_EVERY;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000L;
        }
        pthread_cond_timedwait(&watch->ended, &watch->lock, &until);
        if (watch->running == 0 || *limit == 0) continue;
        pthread_mutex_unlock(&watch->lock);
        const uint32_t begun = atomic_load(&work->next), n = begun < work->teams ? begun : work->teams;
        if (!device_report(work->launch, (uint64_t)(n > 0 ? n - 1 : 0) * work->rows_of_team)) {
            atomic_store(&work->cancelled, 1);
            *limit = 0;
        }
        pthread_mutex_lock(&watch->lock);
    }
    pthread_mutex_unlock(&watch->lock);
}

/* Returns false if no thread was started, and nothing done. */
static bool run_beside(const struct cpu_state *state, struct work *work, unsigned threads, uint32_t *limit)
{
    struct watch watch = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    struct watched all[THREADS_MOST];
    pthread_t ids[THREADS_MOST];
    unsigned started = 0;
    for (; started < threads; started++) {
        all[started] = (struct watched){{work, state->slabs[started].memory, false}, &watch};
        pthread_mutex_lock(&watch.lock);
        watch.running++;
        pthread_mutex_unlock(&watch.lock);
        if (pthread_create(&ids[started], NULL, run_watched, &all[started]) == 0) continue;
        pthread_mutex_lock(&watch.lock);
        watch.running--;
        pthread_mutex_unlock(&watch.lock);
        break;
    }
    if (started > 0) watch_threads(&watch, work, limit);
    for (unsigned t = 0; t < started; t++) pthread_join(ids[t], NULL);
    return started > 0;
}

static void run_threads(const struct cpu_state *state, struct work *work, unsigned threads)
{
    struct worker workers[THREADS_MOST];
    pthread_t ids[THREADS_MOST];
    unsigned started = 1;
    for (unsigned t = 0; t < threads; t++) workers[t] = (struct worker){work, state->slabs[t].memory, t == 0};
    /* if a thread does not start, others do its share */
    while (started < threads && pthread_create(&ids[started], NULL, run_worker, &workers[started]) == 0)
        started++;
    run_worker(&workers[0]);
    for (unsigned t = 1; t < started; t++) pthread_join(ids[t], NULL);
}

/* Rows of an f32 device, in and out. */
static paritas_status reserve_rows(paritas_context *context, struct paritas_device *device,
                                   const struct device_launch *launch)
{
    struct cpu_state *state = device->state;
    const size_t counts[2] = {launch->n_in + 1, launch->n_out + 1};
    for (int out = 0; out < 2; out++) {
        if (state->row_numbers[out] >= counts[out]) continue;
        paritas_release_aligned(&device->allocator, state->rows[out]);
        state->row_numbers[out] = 0;
        state->rows[out] = paritas_allocate_aligned(context, counts[out], sizeof **state->rows);
        if (!state->rows[out]) return paritas_fail_memory(context);
        state->row_numbers[out] = counts[out];
    }
    precision_round(state->rows[0], launch->in, launch->n_in);
    return PARITAS_OK;
}

static paritas_status cpu_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                 const struct device_launch *launch)
{
    const struct cpu_model *model = handle;
    const struct cpu_variant *variant = choose_variant(device, model->module, launch);
    if (!variant)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device 'cpu': the kernels of %s were not built for this processor in f%u",
                            model->module->name, device->precision);
    if (launch->rows == 0) return PARITAS_OK;
    const uint32_t rows_of_team = variant->lanes * (launch->share ? launch->share : 1),
                   teams = (launch->rows + rows_of_team - 1) / rows_of_team;
    struct cpu_state *state = device->state;
    const unsigned threads = threads_for(context, state, launch, teams);
    const bool f32 = device->precision == 32;
    device->launches++;
    paritas_status status = f32 ? reserve_rows(context, device, launch) : PARITAS_OK;
    if (status == PARITAS_OK) status = reserve_slabs(context, device, threads, variant->lanes, launch);
    if (status == PARITAS_OK) {
        struct work work = {.launch = launch,
                            .entry = variant->entries[launch->entry],
                            .model = model,
                            .in = f32 ? state->rows[0]
                                      : precision_narrow(context, 64, launch->in, launch->n_in),
                            .out = f32 ? (void *)state->rows[1] : launch->out,
                            .teams = teams,
                            .rows_of_team = rows_of_team};
        atomic_init(&work.next, 0);
        atomic_init(&work.cancelled, 0);
        const bool asked = launch->limit && launch->progress && launch->progress->report;
        if (!asked || !run_beside(state, &work, threads, launch->limit)) run_threads(state, &work, threads);
        if (atomic_load(&work.cancelled))
            status = paritas_fail(context, PARITAS_CANCELLED, "cancelled by the caller");
        else
            precision_widen(launch->out, f32 ? state->rows[1] : NULL, launch->n_out);
    }
    release_rows(device, ROWS_KEPT);
    return status;
}

const struct device_operations DEVICE_KIND(PARITAS_DEVICE_CPU) = DEVICE_OPERATIONS(cpu);
