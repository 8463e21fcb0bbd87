/* device.c: a device beside the CPU as the number of jobs grows, its peaks, and the kernels that it loaded.
 *
 *   device QUESTION [WORKSPACE] --device NAME [--patch FILE] [--precision 64|32] [--jobs N,...] [--seconds S]
 *
 * Questions of a workspace: nll, gradient, hessian (N points), fits (N fluctuated data sets), toys (N, half
 * of them at each hypothesis, each drawn and fitted twice). Without one: losscones (N sweeps), and peak.
 * For each N the CPU, the device and `auto` take turns in one process, about S seconds each. One that would
 * need ten times as long (the device: thirty times) is left out. `auto` is timed once it has tried the
 * accelerator. Peaks are measured by fma chains and by adding to memory, in kernels of this program. Prints
 * one JSON document. */
#define _POSIX_C_SOURCE 200809L
#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#define PARITAS_VARIANT bench_device
#include "dialect/dialect_c.h"

#include "counting.h"
#include "device/accelerator.h"
#include "device/cuda/cuda.h"
#include "device/device_automatic.h"
#include "device/opencl/opencl.h"
#include "fit/family.h"
#include "losscone/synthetic.h"
#include "measuring.h"

enum { SIZES = 32, TURNS = 9, LEAST_TURNS = 3, DRAWN = 500, WARM_TURNS_OF_AUTO = 5 };
#define MEMORY_MOST 3e9 /* bytes of jobs and answers */

enum side { CPU, DEVICE, AUTO, SIDES };
static const char *const side_names[SIDES] = {"cpu", "device", "auto"};

struct bench {
    const char *question, *path, *patch, *device;
    unsigned precision;
    double seconds;
    size_t n_sizes, sizes[SIZES];
    paritas_context *contexts[SIDES];
    paritas_model *model;
    size_t parameters;
    double *points, *rows; /* of the largest size; DRAWN data sets */
    paritas_job *jobs;
    struct synthetic drawn;
    void *answers[SIDES];
    double per_job[SIDES]; /* seconds, of the size before; 0: not known */
    double times[SIDES][TURNS];
    size_t turns[SIDES];
    uint64_t launches[SIDES]; /* on accelerators in the last turn */
};

static int is(const struct bench *b, const char *question)
{
    return strcmp(b->question, question) == 0;
}

/* ---- jobs ---- */

/* Bytes of a job and of its answer. */
static size_t job_bytes(const struct bench *b)
{
    if (is(b, "nll") || is(b, "gradient") || is(b, "hessian")) return b->parameters * sizeof(double);
    return is(b, "fits")        ? sizeof(paritas_job)
           : is(b, "losscones") ? 2 * ROWS * (CELLS + 1) * sizeof(double)
                                : 0;
}
static size_t answer_bytes(const struct bench *b, size_t n)
{
    const size_t p = b->parameters;
    return is(b, "nll")         ? n * sizeof(double)
           : is(b, "gradient")  ? n * p * sizeof(double)
           : is(b, "hessian")   ? n * p * p * sizeof(double)
           : is(b, "fits")      ? n * sizeof(paritas_fit_result)
           : is(b, "losscones") ? n * sizeof(paritas_losscone_result)
                                : sizeof(paritas_hypotest_toys_result);
}

static int is_small_enough(const struct bench *b, size_t n)
{
    return (double)n * (double)job_bytes(b) + SIDES * (double)answer_bytes(b, n) <= MEMORY_MOST;
}

static paritas_status run_toys(const struct bench *b, paritas_context *context, size_t n, void *answer)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    options.n = n / 2;
    return paritas_hypotest_toys(context, b->model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &options, answer);
}

static paritas_status run(const struct bench *b, paritas_context *context, size_t n, void *answer)
{
    if (is(b, "toys")) return run_toys(b, context, n, answer);
    if (is(b, "fits"))
        return paritas_fit(context, b->model, NULL, n, b->jobs,
                           SIZED(paritas_fit_answers, .results = answer));
    if (is(b, "losscones")) {
        paritas_sweeps sweeps = sweeps_of(&b->drawn);
        sweeps.n = n;
        return paritas_losscone_fit(context, &sweeps, NULL, answer);
    }
    return paritas_evaluate(context, b->model, n, b->points, 0, NULL,
                            &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers),
                                                        .twice_nll = is(b, "nll") ? answer : NULL,
                                                        .gradient = is(b, "gradient") ? answer : NULL,
                                                        .hessian = is(b, "hessian") ? answer : NULL});
}

/* About a normal deviate: the sum of twelve uniform numbers. */
static double deviate(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += draw(state);
    return sum;
}

/* Points around the start, within the bounds. */
static void make_points(struct bench *b, size_t n)
{
    const size_t p = b->parameters;
    const double *start = paritas_model_suggested_init(b->model),
                 *lower = paritas_model_lower_bounds(b->model), *upper = paritas_model_upper_bounds(b->model);
    const unsigned char *fixed = paritas_model_suggested_fixed(b->model);
    uint64_t state = 1;
    b->points = array(n * p, sizeof *b->points);
    for (size_t i = 0; i < n * p; i++) {
        const size_t k = i % p;
        const double x = start[k] + (fixed[k] ? 0.0 : 0.05 * deviate(&state));
        b->points[i] = x < lower[k] ? lower[k] : x > upper[k] ? upper[k] : x;
    }
}

/* Fits of DRAWN fluctuated data sets, over and over. */
static void make_fits(struct bench *b, size_t n)
{
    const size_t main_count = paritas_model_main_count(b->model),
                 all = main_count + paritas_model_aux_count(b->model);
    const double *data = paritas_model_data(b->model);
    uint64_t state = 1;
    b->rows = array(DRAWN * all, sizeof *b->rows);
    for (size_t i = 0; i < DRAWN * all; i++) {
        const double expected = data[i % all], count = expected + sqrt(fabs(expected)) * deviate(&state);
        b->rows[i] = i % all >= main_count ? expected : count > 0.0 ? floor(count + 0.5) : 0.0;
    }
    b->jobs = sized_array(n, sizeof *b->jobs);
    for (size_t j = 0; j < n; j++) b->jobs[j].data = b->rows + j % DRAWN * all;
}

/* DRAWN sweeps, over and over. */
static void make_sweeps(struct bench *b, size_t n)
{
    const paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic some = synthetic_sweeps(n < DRAWN ? n : DRAWN, 1, -400.0, &options),
                     all = synthetic_room(n);
    for (size_t k = 0; k < n; k++) {
        const size_t from = k % some.n, row = ROWS * sizeof(double);
        memcpy(all.energy + k * ROWS, some.energy + from * ROWS, row);
        memcpy(all.potential + k * ROWS, some.potential + from * ROWS, row);
        memcpy(all.cosine + k * ROWS * CELLS, some.cosine + from * ROWS * CELLS, CELLS * row);
        memcpy(all.flux + k * ROWS * CELLS, some.flux + from * ROWS * CELLS, CELLS * row);
    }
    synthetic_free(&some);
    b->drawn = all;
}

/* Of the largest size that memory allows. */
static paritas_status make_jobs(struct bench *b)
{
    if (b->path) {
        const paritas_status status = load_model(b->contexts[CPU], b->path, b->patch, &b->model);
        if (status) return status;
        b->parameters = paritas_model_parameter_count(b->model);
    }
    size_t n = b->sizes[0];
    for (size_t k = 1; k < b->n_sizes; k++)
        if (is_small_enough(b, b->sizes[k])) n = b->sizes[k];
    if (is(b, "losscones"))
        make_sweeps(b, n);
    else if (is(b, "fits"))
        make_fits(b, n);
    else if (!is(b, "toys"))
        make_points(b, n);
    return PARITAS_OK;
}

/* ---- measuring ---- */

/* Opened for one size: `auto` goes by what it has measured. */
static paritas_status open_auto(struct bench *b)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = "auto";
    options.precision = b->precision;
    const paritas_status status = paritas_open(&options, &b->contexts[AUTO]);
    if (status == PARITAS_OK) /* the first launch looks for an accelerator */
        b->contexts[AUTO]->device->automatic->seconds = AUTOMATIC_SECONDS;
    return status;
}

/* Seconds that a run will need, by the size before. */
static double foreseen(const struct bench *b, enum side side, size_t n)
{
    return (double)n * b->per_job[side];
}

/* Which sides fit into the time. */
static void choose_sides(const struct bench *b, size_t n, int asked[SIDES])
{
    const double cpu = foreseen(b, CPU, n), device = foreseen(b, DEVICE, n);
    asked[CPU] = cpu <= 10.0 * b->seconds;
    asked[DEVICE] = device <= 30.0 * b->seconds;
    asked[AUTO] = asked[CPU] && cpu + 2.0 * device <= 20.0 * b->seconds;
}

/* Runs a side before it is timed: kernels are compiled, memory is allocated, `auto` has decided. */
static paritas_status warm_up(struct bench *b, enum side side, size_t n)
{
    paritas_status status = PARITAS_OK;
    const int turns = side == AUTO ? WARM_TURNS_OF_AUTO : foreseen(b, side, n) <= b->seconds;
    for (int k = 0; k < turns && !status; k++) status = run(b, b->contexts[side], n, b->answers[side]);
    return status;
}

/* Launches on the accelerator of a context so far. */
static uint64_t launches_of(const paritas_context *context)
{
    const struct device_automatic *automatic = context->device->automatic;
    const struct paritas_device *device = automatic ? automatic->accelerator : context->device;
    return device ? device->launches : 0;
}

static paritas_status measure_size(struct bench *b, size_t n, const int asked[SIDES])
{
    paritas_status status = PARITAS_OK;
    for (int side = 0; side < SIDES && !status; side++)
        if (asked[side]) status = warm_up(b, (enum side)side, n);
    const double begin = now();
    for (size_t turn = 0; turn < TURNS && !status; turn++) {
        const double spent = now() - begin;
        if (spent > 10.0 * b->seconds || (turn >= LEAST_TURNS && spent > SIDES * b->seconds)) break;
        for (int side = 0; side < SIDES && !status; side++) {
            if (!asked[side]) continue;
            const uint64_t launches = launches_of(b->contexts[side]);
            const double before = now();
            status = run(b, b->contexts[side], n, b->answers[side]);
            b->times[side][b->turns[side]++] = now() - before;
            b->launches[side] = launches_of(b->contexts[side]) - launches;
        }
    }
    for (int side = 0; side < SIDES; side++)
        if (b->turns[side]) b->per_job[side] = b->times[side][b->turns[side] - 1] / (double)n;
    return status;
}

static void print_size(const struct bench *b, size_t n, int first)
{
    printf("%s{\"jobs\": %zu", first ? "" : ", ", n);
    for (int side = 0; side < SIDES; side++) {
        printf(", \"%s\": [", side_names[side]);
        for (size_t k = 0; k < b->turns[side]; k++) printf("%s%.6g", k ? ", " : "", b->times[side][k]);
        printf("]");
    }
    if (b->turns[DEVICE]) printf(", \"launches\": %llu", (unsigned long long)b->launches[DEVICE]);
    if (b->turns[AUTO]) printf(", \"auto_launches\": %llu", (unsigned long long)b->launches[AUTO]);
    if (b->turns[CPU] && b->turns[DEVICE])
        printf(", \"same_bits\": %s",
               memcmp(b->answers[CPU], b->answers[DEVICE], answer_bytes(b, n)) == 0 ? "true" : "false");
    printf("}");
}

static paritas_status measure(struct bench *b, size_t n, int first)
{
    int asked[SIDES];
    choose_sides(b, n, asked);
    memset(b->turns, 0, sizeof b->turns);
    if (!is_small_enough(b, n) || !asked[DEVICE]) return PARITAS_OK;
    for (int side = 0; side < SIDES; side++) {
        const size_t size = answer_bytes(b, 1), count = is(b, "toys") ? 1 : n;
        b->answers[side] = is(b, "fits") || is(b, "losscones") || is(b, "toys") ? sized_array(count, size)
                                                                                : array(count, size);
    }
    paritas_status status = asked[AUTO] ? open_auto(b) : PARITAS_OK;
    if (!status) status = measure_size(b, n, asked);
    if (!status) print_size(b, n, first);
    for (int side = 0; side < SIDES; side++) free(b->answers[side]);
    if (!status || !asked[AUTO]) {
        paritas_close(b->contexts[AUTO]);
        b->contexts[AUTO] = NULL;
    }
    return status;
}

/* Operations of a job, and the bytes that pass at least: tables once, the slab there and back. */
static void print_work(const struct bench *b)
{
    if (!b->model || is(b, "toys")) return;
    const struct frozen *frozen = paritas_model_frozen(b->model);
    const struct count count = count_operations(frozen->tables.ints);
    const double iteration = count.gradient + count.hessian + count.factor + count.solve;
    const size_t slab = is(b, "nll") || is(b, "gradient") ? frozen->slab_value : frozen->slab,
                 element = b->precision / 8;
    double steps = 1.0;
    if (is(b, "fits")) {
        paritas_fit_result *fits = sized_array(DRAWN, sizeof *fits);
        const size_t n = b->sizes[b->n_sizes - 1] < DRAWN ? b->sizes[b->n_sizes - 1] : DRAWN;
        steps = 0.0;
        if (run(b, b->contexts[CPU], n, fits) == PARITAS_OK)
            for (size_t k = 0; k < n; k++) steps += fits[k].iterations / (double)n;
        free(fits);
    }
    printf(", \"flops\": %.6g, \"bytes\": %.6g",
           steps * (is(b, "nll")        ? count.nll
                    : is(b, "gradient") ? count.gradient
                    : is(b, "hessian")  ? count.gradient + count.hessian
                                        : iteration),
           steps * (double)(frozen->tables.n_ints * sizeof *frozen->tables.ints +
                            frozen->tables.n_reals * element + 2 * slab * element));
}

/* ---- what is loaded ---- */

/* A number that the driver may not know: null. */
static void print_number(const char *name, int known, uint64_t number)
{
    if (known)
        printf(", \"%s\": %llu", name, (unsigned long long)number);
    else
        printf(", \"%s\": null", name);
}

static void print_cuda_kernel(struct accelerator *accelerator, const struct accelerator_kernel *kernel)
{
    static const struct {
        const char *name;
        int attribute;
    } wanted[] = {{"registers", 4}, {"local", 3}, {"shared", 1}};
    const struct cuda_state *state = accelerator->state;
    const int inside = accelerator->operations->enter(accelerator) == 0;
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        int value = 0;
        const int code =
            inside ? state->api.cuFuncGetAttribute(&value, wanted[k].attribute, kernel->function) : 1;
        print_number(wanted[k].name, code == 0, (uint64_t)value);
    }
    if (inside) accelerator->operations->leave(accelerator);
}

static void print_opencl_kernel(const struct accelerator *accelerator,
                                const struct accelerator_kernel *kernel)
{
    static const struct {
        const char *name;
        uint32_t what;
    } wanted[] = {{"local", 0x11B4 /* CL_KERNEL_PRIVATE_MEM_SIZE */},
                  {"shared", 0x11B2 /* CL_KERNEL_LOCAL_MEM_SIZE */}};
    const struct opencl_state *state = accelerator->state;
    print_number("registers", 0, 0);
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        uint64_t value = 0;
        const opencl_code code = state->api.clGetKernelWorkGroupInfo(
            kernel->function, state->device, wanted[k].what, sizeof value, &value, NULL);
        print_number(wanted[k].name, code == 0, value);
    }
}

static void print_kernel(struct accelerator *accelerator, const char *entry,
                         const struct accelerator_kernel *kernel, int *n)
{
    const struct device_operations *operations = accelerator->device->operations;
    if (!kernel->function) return;
    printf("%s{\"entry\": \"%s\", \"workers\": %u", (*n)++ ? ", " : "", entry, kernel->workers);
    print_number("workers_most", 1, kernel->workers_most);
    if (operations == &DEVICE_KIND(PARITAS_DEVICE_CUDA)) print_cuda_kernel(accelerator, kernel);
    if (operations == &DEVICE_KIND(PARITAS_DEVICE_OPENCL)) print_opencl_kernel(accelerator, kernel);
    printf("}");
}

/* What a multiprocessor has; CUDA's drivers say it. */
static void print_unit(struct accelerator *accelerator)
{
    static const struct {
        const char *name;
        int attribute;
    } wanted[] = {{"registers", 82}, {"threads", 39}, {"teams", 106}, {"shared", 81}};
    const struct cuda_state *state = accelerator->state;
    printf(", \"unit\": {\"units\": %u", accelerator->properties.units);
    if (accelerator->device->operations == &DEVICE_KIND(PARITAS_DEVICE_CUDA))
        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
            int value = 0;
            const int code = state->api.cuDeviceGetAttribute(&value, wanted[k].attribute, state->device);
            print_number(wanted[k].name, code == 0, (uint64_t)value);
        }
    printf("}");
}

static void print_kernels(const paritas_context *context)
{
    struct accelerator *accelerator = context->device->state;
    int n = 0;
    if (!context->device->operations->accelerator) return;
    print_unit(accelerator);
    printf(", \"kernels\": [");
    for (const struct accelerator_module *m = accelerator->modules;
         m < accelerator->modules + ACCELERATOR_MODULES_MAX && m->module; m++)
        for (unsigned k = 0; k < m->module->n_entries; k++) {
            print_kernel(accelerator, m->module->entries[k], &m->kernels[k], &n);
            print_kernel(accelerator, m->module->entries[k], &m->alone[k], &n);
        }
    printf("]");
}

/* ---- peaks ---- */

enum { CHAINS = 8, STEPS_A_TURN = 4, STREAM = 1 << 17, FMA_TURNS_MOST = 1 << 19 };

/* Each chain counts its steps by fma with a factor of 1 that no compiler knows; each number in memory counts
 * the passes. So the answers are known. */
static const unsigned char peak_text[] =
    "KERNEL(peak_fma)\n"
    "{\n"
    "    const real x = REAL_OF(in[0]), y = REAL_OF(in[1]);\n"
    "    TEAM_FOR(w, args[1])\n"
    "    {\n"
    "        real a = y, b = y, c = y, d = y, e = y, f = y, g = y, h = y;\n"
    "        for (u32 i = 0; i < args[0]; i++)\n"
    "            UNROLL for (u32 k = 0; k < 4; k++) {\n"
    "                a = FMA(a, x, y), b = FMA(b, x, y), c = FMA(c, x, y), d = FMA(d, x, y);\n"
    "                e = FMA(e, x, y), f = FMA(f, x, y), g = FMA(g, x, y), h = FMA(h, x, y);\n"
    "            }\n"
    "        s[w] = ((a + b) + (c + d)) + ((e + f) + (g + h));\n"
    "    }\n"
    "    TEAM_BARRIER();\n"
    "    ONE_WORKER out[TEAM_INDEX] = s[0];\n"
    "}\n"
    "KERNEL(peak_stream)\n"
    "{\n"
    "    const real y = REAL_OF(in[1]);\n"
    "    TEAM_FOR(i, args[1]) s[i] = y;\n"
    "    for (u32 k = 0; k < args[0]; k++) {\n"
    "        TEAM_BARRIER();\n"
    "        TEAM_FOR(i, args[1]) s[i] = s[i] + y;\n"
    "    }\n"
    "    TEAM_BARRIER();\n"
    "    ONE_WORKER out[TEAM_INDEX] = s[0];\n"
    "}\n";
static const size_t peak_size = sizeof peak_text - 1;
static const char *const peak_entries[] = {"peak_fma", "peak_stream"};
static const struct kernel_module peak_module = {
    .name = "peak", .entries = peak_entries, .n_entries = 2, .text = peak_text, .text_size = &peak_size};

/* Seconds of a launch of so many teams and turns; below 0: it failed. */
static double launch_peak(paritas_context *context, unsigned entry, uint32_t teams, uint32_t turns)
{
    static const uint32_t no_ints = 0;
    static const double no_reals = 0.0, in[] = {1.0, 1.0};
    const uint32_t workers = context->device->team_workers, n = entry == 0 ? workers : STREAM;
    const uint32_t args[] = {turns, n};
    const double wanted = entry == 0 ? CHAINS * (1.0 + (double)STEPS_A_TURN * turns) : 1.0 + turns;
    double *out = array(teams, sizeof *out);
    const struct device_model model = {.serial = UINT64_MAX, /* no model counts so far */
                                       .module = &peak_module,
                                       .tables = {&no_ints, &no_reals, 1, 1}};
    const struct device_launch launch = {.entry = entry,
                                         .rows = teams,
                                         .args = args,
                                         .in = in,
                                         .out = out,
                                         .n_args = 2,
                                         .n_in = 2,
                                         .n_out = teams,
                                         .slab = n,
                                         .slab_most = n,
                                         .touched = n,
                                         .usual_teams = true};
    const double begin = now();
    double seconds = device_launch(context, context->device, &model, &launch) ? -1.0 : now() - begin;
    for (uint32_t k = 0; k < teams && seconds >= 0.0; k++)
        if (out[k] != wanted) {
            fprintf(stderr, "device: %s answers %g, not %g\n", peak_entries[entry], out[k], wanted);
            seconds = -2.0;
        }
    free(out);
    return seconds;
}

/* The best rate of launches that take long enough; below 0: failed. */
static double peak_rate(paritas_context *context, unsigned entry, double seconds)
{
    const uint32_t most = entry == 0 ? FMA_TURNS_MOST : 1 << 16;
    uint32_t turns = 16, teams = context->device->teams;
    double took = launch_peak(context, entry, teams, turns), best = 0.0; /* compiles */
    const double begin = now();
    while (took >= 0.0 && now() - begin < seconds) {
        took = launch_peak(context, entry, teams, turns);
        const double work = entry == 0
                                ? 2.0 * CHAINS * STEPS_A_TURN * turns * context->device->team_workers * teams
                                : 2.0 * (context->device->precision / 8.0) * STREAM * turns * teams;
        if (took > 0.0 && work / took > best) best = work / took;
        if (took < 0.1 * seconds && turns < most / 2)
            turns *= 2;
        else if (took < 0.1 * seconds && teams < 1u << 20)
            teams *= 2;
    }
    return took < 0.0 ? took : best;
}

static paritas_status measure_peak(struct bench *b)
{
    paritas_context *context = b->contexts[DEVICE];
    if (!context->device->operations->accelerator)
        return paritas_fail(context, PARITAS_NO_DEVICE, "bench/kernels measures the CPU's peak");
    const double flops = peak_rate(context, 0, b->seconds),
                 bytes = flops < 0.0 ? -1.0 : peak_rate(context, 1, b->seconds);
    if (bytes == -1.0) return PARITAS_NO_DEVICE; /* with its message */
    if (bytes < 0.0) return paritas_fail(context, PARITAS_NO_DEVICE, "a kernel gives wrong answers");
    printf(", \"flops_a_second\": %.6g, \"bytes_a_second\": %.6g", flops, bytes);
    return PARITAS_OK;
}

/* ---- the program ---- */

static paritas_status ask(struct bench *b)
{
    printf("{\"question\": \"%s\", \"device\": \"%s\", \"description\": \"%s\", \"cpu\": \"%s\", "
           "\"precision\": %u",
           b->question, paritas_device_name(b->contexts[DEVICE]),
           b->contexts[DEVICE]->device->operations->describe(b->contexts[DEVICE]->device),
           b->contexts[CPU]->device->operations->describe(b->contexts[CPU]->device), b->precision);
    if (is(b, "peak")) return measure_peak(b);
    paritas_status status = make_jobs(b);
    printf(", \"parameters\": %zu, \"sizes\": [", b->parameters);
    for (size_t k = 0, first = 1; k < b->n_sizes && !status; k++) {
        status = measure(b, b->sizes[k], (int)first);
        first = first && b->turns[DEVICE] == 0;
    }
    printf("]");
    if (status) return status;
    print_work(b);
    print_kernels(b->contexts[DEVICE]);
    return PARITAS_OK;
}

/* False: they say nothing to do. */
static int read_arguments(struct bench *b, int argc, char **argv)
{
    static const char *const questions[] = {"nll",  "gradient",  "hessian", "fits",
                                            "toys", "losscones", "peak"};
    int known = 0, k = 2;
    for (size_t q = 0; argc > 1 && q < sizeof questions / sizeof questions[0]; q++)
        known = known || strcmp(argv[1], questions[q]) == 0;
    if (!known) return 0;
    b->question = argv[1];
    if (!is(b, "losscones") && !is(b, "peak")) b->path = argc > k ? argv[k++] : NULL;
    for (; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--device") == 0) b->device = argv[k + 1];
        if (strcmp(argv[k], "--patch") == 0) b->patch = argv[k + 1];
        if (strcmp(argv[k], "--precision") == 0) b->precision = (unsigned)strtoul(argv[k + 1], NULL, 10);
        if (strcmp(argv[k], "--seconds") == 0) b->seconds = strtod(argv[k + 1], NULL);
        if (strcmp(argv[k], "--jobs") == 0)
            for (char *at = argv[k + 1]; *at && b->n_sizes < SIZES; at += *at == ',')
                b->sizes[b->n_sizes++] = (size_t)strtoull(at, &at, 10);
    }
    if (b->n_sizes == 0)
        for (size_t n = 10; n <= 1000000; n *= 10) b->sizes[b->n_sizes++] = n;
    for (size_t s = 0; s < b->n_sizes; s++)
        if (b->sizes[s] < (s ? b->sizes[s - 1] : 2)) return 0;
    return b->device && (b->path || is(b, "losscones") || is(b, "peak")) && b->seconds > 0.0;
}

int main(int argc, char **argv)
{
    struct bench b = {.precision = 64, .seconds = 1.0};
    if (!read_arguments(&b, argc, argv)) {
        fputs("usage: device nll|gradient|hessian|fits|toys WORKSPACE, losscones or peak\n", stderr);
        fputs("  --device NAME [--patch FILE] [--precision 64|32] [--jobs N,...] [--seconds S]\n", stderr);
        return 2;
    }
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = b.precision;
    options.device = "cpu";
    paritas_status status = paritas_open(&options, &b.contexts[CPU]);
    options.device = b.device;
    options.cache = getenv("PARITAS_CACHE");
    if (!status) status = paritas_open(&options, &b.contexts[DEVICE]);
    if (!status) status = ask(&b);
    if (!status) printf("}\n");
    for (int side = 0; side < SIDES && status; side++)
        if (b.contexts[side] && paritas_error_message(b.contexts[side])[0])
            fprintf(stderr, "device: %s\n", paritas_error_message(b.contexts[side]));
    free(b.points), free(b.rows), free(b.jobs);
    synthetic_free(&b.drawn);
    paritas_model_free(b.model);
    for (int side = 0; side < SIDES; side++) paritas_close(b.contexts[side]);
    return status ? 1 : 0;
}
