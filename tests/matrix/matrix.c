/* matrix.c: see matrix.h. `matrix [FAMILY...] [DEVICE [PRECISION]]` runs the cells of these families (none:
 * all) on this device; without a device on all but those that a program must be started for: OpenCL, whose
 * drivers are slow to compile, the CPU, and CUDA's stand-in, which hides a true driver. */
#include "matrix/matrix.h"
#include "device/accelerator.h"
#include "share.h"
#if defined(CUDA_NATIVE)
#include "cuda/native_device.h"
#include "cuda/stand_in.h"
#endif
#if defined(FAKE_METAL)
#include "device/metal/metal.h"
#include "metal/metal_fake.h"
#endif

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

/* ---- cells ---- */

static bool is_device(const struct target *target, const char *device)
{
    return strcmp(target->device, device) == 0;
}

static bool is_chosen(const struct matrix *matrix, const struct target *target)
{
    if (matrix->precision && matrix->precision != target->precision) return false;
    if (matrix->device) return is_device(target, matrix->device);
    return !is_device(target, "opencl") && !is_device(target, "cpu") && !is_device(target, CUDA_STAND_IN);
}

static void name_cell(struct cell *cell, const char *claim, const char *subject)
{
    static const char *const turns[] = {"", ", backwards", ", mixed"};
    const struct target *t = cell->target;
    const size_t room = sizeof cell->name;
    size_t n =
        (size_t)snprintf(cell->name, room, "%s: %s on %s, f%u", claim, subject, t->device, t->precision);
    if (t->isa || t->threads)
        n += (size_t)snprintf(cell->name + n, room - n, ", %s, %u lanes, %u threads", t->isa ? t->isa : "any",
                              t->lanes, t->threads);
    else
        n += (size_t)snprintf(cell->name + n, room - n, ", teams of %u%s", t->workers, turns[t->turns]);
    n += (size_t)snprintf(cell->name + n, room - n, "%s%s", t->flushes ? ", flushing" : "",
                          t->polished ? ", polished" : "");
    assert_true(n < room);
}

void matrix_add(struct matrix *matrix, const char *claim, CMUnitTestFunction run,
                const struct subject *subjects, size_t n_subjects, const struct target *targets,
                size_t n_targets)
{
    for (size_t k = 0; k < n_subjects * n_targets; k++) {
        const struct target *target = &targets[k % n_targets];
        const struct subject *subject = &subjects[k / n_targets];
        struct cell *cell = &matrix->cells[matrix->n];
        if (!is_chosen(matrix, target)) continue;
        assert_true(matrix->n < MATRIX_MOST);
        cell->target = target;
        cell->subject = subject->value;
        name_cell(cell, claim, subject->name);
        matrix->tests[matrix->n++] =
            (struct CMUnitTest){.name = cell->name, .test_func = run, .initial_state = cell};
    }
}

/* ---- targets ---- */

#if defined(CUDA_NATIVE)
static struct fake_cuda *cuda_stand_in;

/* Loaded by its path first, a library is what its name finds later. */
static bool find_cuda_stand_in(void)
{
    static const char *const names[] = {"libcuda.so.1", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "libnvrtc.so.11.2"};
    for (size_t k = 0; !cuda_stand_in && k < COUNT(names); k++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", CUDA_STAND_INS, names[k]);
        assert_non_null(library_open(path));
    }
    cuda_stand_in = stand_in_find();
    return cuda_stand_in != NULL;
}
#endif

/* False: this program has none. */
static bool prepare_stand_in(const struct target *target)
{
#if defined(FAKE_METAL)
    fake_metal_reset();
    fake_metal.order = (enum team_order)target->turns;
    fake_metal.flushes = target->flushes;
    metal_library = is_device(target, METAL_TEXT) ? FAKE_METAL : NULL;
#else
    if (is_device(target, METAL_TEXT)) return false;
#endif
#if defined(CUDA_NATIVE)
    if (is_device(target, CUDA_STAND_IN)) {
        if (!find_cuda_stand_in()) return false;
        stand_in_reset(cuda_stand_in);
    }
    return true;
#else
    return !is_device(target, CUDA_TEXT) && !is_device(target, CUDA_STAND_IN);
#endif
}

paritas_context *target_open(const struct target *target)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    const bool cuda_text = is_device(target, CUDA_TEXT), metal_text = is_device(target, METAL_TEXT),
               stand_in = is_device(target, CUDA_STAND_IN);
    note_absence("this program has no stand-in for the device");
    if (!prepare_stand_in(target)) return NULL;
    options.device = cuda_text ? "cpu" : metal_text ? "metal" : stand_in ? "cuda:0" : target->device;
    options.isa = target->isa;
    options.precision = target->precision;
    options.workers = cuda_text ? 0 : target->workers;
    options.lanes = target->isa || target->threads ? target->lanes : 1;
    options.threads = target->threads ? target->threads : 1;
    options.no_polish = !target->polished;
    options.cache = metal_text || stand_in ? NULL : kernel_cache_folder();
    paritas_context *context = NULL;
    const paritas_status status = paritas_open(&options, &context);
    if (status != PARITAS_OK) {
        if (status != PARITAS_NO_DEVICE || metal_text || stand_in)
            fail_msg("%s", paritas_error_message(context));
        note_absence(paritas_error_message(context));
        paritas_close(context);
        return NULL;
    }
#if defined(CUDA_NATIVE)
    if (cuda_text) {
        const struct native_team team = {target->workers, (enum native_order)target->turns, ""};
        use_native_team(&team, 7);
        use_native_device(context);
    }
#endif
    return context;
}

void target_close(const struct target *target, paritas_context *context)
{
    paritas_close(context);
    (void)target;
#if defined(CUDA_NATIVE)
    if (native_fault[0]) fail_msg("%s", native_fault);
    if (is_device(target, CUDA_STAND_IN)) stand_in_look_back(cuda_stand_in);
#endif
#if defined(FAKE_METAL)
    if (!is_device(target, METAL_TEXT)) return;
    assert_true(fake_metal.was_safe);
    assert_string_equal(fake_metal.violation, "");
    assert_int_equal(fake_metal.live, 0);
    assert_int_equal(fake_metal.pools, 0);
#endif
}

struct target target_reference(const struct target *target)
{
    return (struct target)ON("cpu", target->precision, 0, .polished = target->polished, .isa = "portable",
                             .lanes = 1, .threads = 1);
}

void spoil_memory(paritas_context *context)
{
    if (!context->device->operations->accelerator) return;
    struct accelerator *accelerator = context->device->state;
    const struct accelerator_operations *operations = accelerator->operations;
    struct accelerator_buffer *const buffers[] = {&accelerator->slabs, &accelerator->out};
    const size_t bytes = (size_t)16 << 20;
    char *spoilt = malloc(bytes);
    assert_non_null(spoilt);
    memset(spoilt, 0xff, bytes);
    if (operations->enter) assert_int_equal(operations->enter(accelerator), 0);
    for (size_t k = 0; k < COUNT(buffers); k++) {
        if (buffers[k]->memory) operations->release(accelerator, buffers[k]->memory);
        assert_int_equal(operations->allocate(accelerator, bytes, &buffers[k]->memory), 0);
        assert_int_equal(operations->write(accelerator, buffers[k]->memory, spoilt, bytes), 0);
        buffers[k]->bytes = bytes;
    }
    if (operations->finish) assert_int_equal(operations->finish(accelerator), 0);
    if (operations->leave) operations->leave(accelerator);
    free(spoilt);
}

void assert_every_entry_ran(const paritas_context *context, const char *except)
{
    if (!context->device->operations->accelerator) return;
    const struct accelerator *accelerator = context->device->state;
    unsigned missing = 0, all = 0;
    for (const struct accelerator_module *m = accelerator->modules;
         m < accelerator->modules + ACCELERATOR_MODULES_MAX && m->module; m++)
        for (unsigned k = 0; k < m->module->n_entries; k++) {
            if (except && strcmp(m->module->entries[k], except) == 0) continue;
            all++;
            if (m->kernels[k].function || m->alone[k].function) continue;
            print_error("%s was not run\n", m->module->entries[k]);
            missing++;
        }
    print_message("%u of %u entries\n", all - missing, all);
    assert_true(all > 0 && missing == 0);
}

/* ---- answers ---- */

void append_bytes(struct results *results, const void *bytes, size_t length)
{
    if (results->length + length + 1 > results->capacity) {
        results->capacity = 2 * (results->length + length) + 1;
        results->bytes = realloc(results->bytes, results->capacity);
        assert_non_null(results->bytes);
    }
    memcpy(results->bytes + results->length, bytes, length);
    results->length += length;
}

/* All answers are of numbers of eight bytes: names the first that differs. */
static void compare_bytes(const char *name, const struct results *got, const struct results *wanted)
{
    size_t at = 0, differ = 0;
    assert_int_equal(got->length, wanted->length);
    if (memcmp(got->bytes, wanted->bytes, wanted->length) == 0) return;
    while (got->bytes[at] == wanted->bytes[at]) at++;
    at &= ~(size_t)7;
    for (size_t k = at; k + 8 <= wanted->length; k += 8)
        differ += memcmp(got->bytes + k, wanted->bytes + k, 8) != 0;
    double numbers[2] = {0};
    memcpy(&numbers[0], got->bytes + at, 8);
    memcpy(&numbers[1], wanted->bytes + at, 8);
    fail_msg("%s: %zu of %zu numbers differ, first [%zu]: %.17g is not the CPU's %.17g", name, differ,
             wanted->length / 8, at / 8, numbers[0], numbers[1]);
}

/* The reference's answers to the questions of the last claim and subject. */
static const struct results *reference_answer(const struct cell *cell, matrix_question ask, unsigned parts)
{
    static struct {
        matrix_question ask;
        unsigned parts;
        const void *subject;
        struct results answers[2][2];
    } kept;
    const struct target target = target_reference(cell->target);
    if (kept.ask != ask || kept.parts != parts || kept.subject != cell->subject) {
        for (int k = 0; k < 4; k++) results_free(&kept.answers[k / 2][k % 2]);
        memset(kept.answers, 0, sizeof kept.answers);
        kept.ask = ask;
        kept.parts = parts;
        kept.subject = cell->subject;
    }
    struct results *answer = &kept.answers[target.precision == 64][target.polished];
    if (answer->length) return answer;
    paritas_context *context = target_open(&target);
    assert_non_null(context);
    ask(cell, context, parts, answer);
    target_close(&target, context);
    return answer;
}

void matrix_compare(const struct cell *cell, matrix_question ask, unsigned parts)
{
    struct results got = {0};
    paritas_context *context = target_open(cell->target);
    if (!context) skip_absent();
    const uint64_t launches = context->device->launches;
    ask(cell, context, parts, &got);
    assert_true(context->device->launches > launches);
    target_close(cell->target, context);
    const struct results *wanted = reference_answer(cell, ask, parts);
    assert_true(wanted->length > 0);
    compare_bytes(cell->name, &got, wanted);
    print_message("%zu bytes equal\n", wanted->length);
    results_free(&got);
}

/* ---- the program ---- */

static const struct {
    const char *name;
    void (*add)(struct matrix *matrix);
} families[] = {{"histfactory", add_histfactory},
                {"constraints", add_constraints},
                {"toys", add_toys},
                {"losscone", add_losscone},
                {"kappa", add_kappa},
                {"custom", add_custom}};

int main(int count, char **arguments)
{
    static struct matrix matrix;
    bool asked[COUNT(families)] = {false}, any = false;
    for (int a = 1; a < count; a++) {
        bool family = false;
        for (size_t k = 0; k < COUNT(families); k++)
            if (strcmp(arguments[a], families[k].name) == 0) family = any = asked[k] = true;
        if (family) continue;
        if (!matrix.device)
            matrix.device = strcmp(arguments[a], "cuda-stand-in") == 0 ? CUDA_STAND_IN : arguments[a];
        else
            matrix.precision = (unsigned)strtoul(arguments[a], NULL, 10);
    }
    for (size_t k = 0; k < COUNT(families); k++)
        if (asked[k] || !any) families[k].add(&matrix);
    return _cmocka_run_group_tests("matrix", matrix.tests, matrix.n, NULL, NULL);
}
