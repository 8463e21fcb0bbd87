/* claims_losscone.c: loss cones, kappa distributions and potentials are the CPU's bits, however many are
 * asked for at once. */
#include "losscone/devices.h"
#include "matrix/matrix.h"
#include "flush.h"
#include "share.h"

/* What is asked of the sample. */
struct question {
    unsigned parts;
    struct answers_wish wish;
    bool every_entry; /* of accelerators */
};

#define PLASMAS (1u << ANSWERS_KAPPA | 1u << ANSWERS_POTENTIAL)
#define LOSS_CONES (DEVICE_PARTS & ~PLASMAS)

static const struct sample *the_sample(void)
{
    static struct sample *sample;
    if (!sample) sample = make_sample();
    return sample;
}

/* The CPU's answers to the last question in each precision, all in one call: batches are not to count. */
static const struct answers *reference_answers(const struct question *question, const struct target *target)
{
    static struct {
        struct question question;
        struct answers answers;
    } kept[2];
    const size_t k = target->precision == 64;
    struct question whole = *question;
    whole.wish.chunk = 0;
    whole.every_entry = false;
    const struct question *last = &kept[k].question;
    if (kept[k].answers.n && last->parts == whole.parts && last->wish.n == whole.wish.n &&
        last->wish.box_limit == whole.wish.box_limit && last->wish.few == whole.wish.few)
        return &kept[k].answers;
    answers_free(&kept[k].answers);
    const struct target portable = target_reference(target);
    paritas_context *context = target_open(&portable);
    assert_non_null(context);
    kept[k].answers = collect_parts(context, the_sample(), whole.parts, &whole.wish);
    kept[k].question = whole;
    target_close(&portable, context);
    return &kept[k].answers;
}

CLAIM(answers_are_the_cpus)
{
    const struct cell *cell = *state;
    const struct question *question = cell->subject;
    paritas_context *context = target_open(cell->target);
    if (!context) skip_absent();
    struct answers got = collect_parts(context, the_sample(), question->parts, &question->wish);
    if (question->every_entry) assert_every_entry_ran(context, "losscone_cosines"); /* in f64, on the host */
    target_close(cell->target, context);
    const struct answers *wanted = reference_answers(question, cell->target);
    const char *difference = answers_difference(&got, wanted);
    if (difference) fail_msg("%s: %s", cell->name, difference);
    print_message("%zu numbers equal\n", wanted->n);
    if (question->parts == ANSWERS_ALL) assert_true(wanted->n > 100000);
    answers_free(&got);
}

/* ---- questions: of loss cones, and of plasmas ---- */

#define BOTH(name, words, ...)                                                      \
    static const struct question name##_cones = {.parts = LOSS_CONES, __VA_ARGS__}, \
                                 name##_plasmas = {.parts = PLASMAS, __VA_ARGS__};  \
    static const struct subject name[] = {{"loss cones" words, &name##_cones},      \
                                          {"plasmas" words, &name##_plasmas}};
enum { SOME_SWEEPS = SHARE > 2 ? 3 : 0 };
BOTH(limited, ", short searches", .wish = {.n = SOME_SWEEPS, .box_limit = 400})
BOTH(limited_in_tens, ", short searches in tens", .wish = {.n = SOME_SWEEPS, .box_limit = 400, .chunk = 10},
     .every_entry = true)
BOTH(few, ", a few", .wish = {.n = 8, .box_limit = 400, .few = true}, .every_entry = true)
BOTH(whole, "", .every_entry = false)
BOTH(whole_by_every_entry, " by every entry", .every_entry = true)
BOTH(whole_in_tens, " in tens", .wish = {.chunk = 10})

static const struct question all_at_once = {.parts = ANSWERS_ALL},
                             all_in_fives = {.parts = ANSWERS_ALL, .wish = {.chunk = 5}},
                             all_in_sevens = {.parts = ANSWERS_ALL, .wish = {.chunk = 7}};
static const struct subject at_once = {"loss cones and plasmas at once", &all_at_once},
                            in_fives = {"loss cones and plasmas in fives", &all_in_fives},
                            in_sevens = {"loss cones and plasmas in sevens", &all_in_sevens};

/* ---- targets ---- */

static const struct target
    cuda_f64[] = {ON(CUDA_TEXT, 64, 3, .turns = TURNS_MIXED), ON(CUDA_TEXT, 64, 32, .turns = TURNS_MIXED),
                  ON(CUDA_TEXT, 64, 32, .turns = TURNS_BACKWARD), ON(CUDA_TEXT, 64, 1)},
    cuda_f32[] = {ON(CUDA_TEXT, 32, 3, .turns = TURNS_MIXED), ON(CUDA_TEXT, 32, 32, .turns = TURNS_MIXED),
                  ON(CUDA_TEXT, 32, 32, .turns = TURNS_BACKWARD), ON(CUDA_TEXT, 32, 1)},
    metal_text[] = {ON(METAL_TEXT, 32, 1), ON(METAL_TEXT, 32, 3, .turns = TURNS_BACKWARD),
                    ON(METAL_TEXT, 32, 32, .turns = TURNS_MIXED),
                    ON(METAL_TEXT, 32, 3, .turns = TURNS_MIXED, .flushes = true)},
    metal[] = {ON("metal", 32, 0), ON("metal", 32, 32)},
    cuda[] = {ON("cuda", 64, 0), ON("cuda", 64, 1), ON("cuda", 64, 7), ON("cuda", 64, 64),
              ON("cuda", 32, 0), ON("cuda", 32, 1), ON("cuda", 32, 7), ON("cuda", 32, 64)},
    cuda_usual[] = {ON("cuda", 64, 0), ON("cuda", 32, 0)},
    stand_in[] = {ON(CUDA_STAND_IN, 64, 7), ON(CUDA_STAND_IN, 32, 0)},
    opencl_one[] = {ON("opencl", 64, 1), ON("opencl", 32, 1)},
    opencl_teams[] = {ON("opencl", 64, 32), ON("opencl", 32, 32), ON("opencl", 64, 7),
                      ON("opencl", 32, 7),  ON("opencl", 64, 64), ON("opencl", 32, 64)};

static void add_devices(struct matrix *matrix, int which)
{
    const bool longer = getenv("PARITAS_LONG_TESTS") != NULL;
    ADD(matrix, answers_are_the_cpus, limited + which, 1, cuda_f64, COUNT(cuda_f64));
    ADD(matrix, answers_are_the_cpus, limited + which, 1, cuda_f32, COUNT(cuda_f32));
    ADD(matrix, answers_are_the_cpus, limited_in_tens + which, 1, metal_text,
        COUNT(metal_text) - !FLUSH_IS_KNOWN);
    ADD(matrix, answers_are_the_cpus, whole_by_every_entry + which, 1, metal, COUNT(metal));
    ADD(matrix, answers_are_the_cpus, whole + which, 1, cuda, COUNT(cuda));
    ADD(matrix, answers_are_the_cpus, few + which, 1, cuda_usual, COUNT(cuda_usual));
    ADD(matrix, answers_are_the_cpus, few + which, 1, stand_in, COUNT(stand_in));
    /* OpenCL's drivers take a quarter of a minute for each size and precision */
    ADD(matrix, answers_are_the_cpus, whole + which, 1, opencl_one, longer ? COUNT(opencl_one) : 1);
    ADD(matrix, answers_are_the_cpus, whole_in_tens + which, 1, opencl_teams,
        longer ? COUNT(opencl_teams) : 2);
}

/* Instruction sets, numbers of lanes and threads. */
static void add_processors(struct matrix *matrix)
{
    static const char *const sets[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static struct target targets[2][3][COUNT(sets)];
    for (unsigned k = 0; k < 2 * COUNT(sets); k++) {
        const unsigned precision = k < COUNT(sets) ? 64 : 32, i = k % COUNT(sets);
        struct target ways[] = {ON("cpu", precision, 0, .isa = sets[i], .lanes = 0, .threads = 3),
                                ON("cpu", precision, 0, .isa = sets[i], .lanes = 4, .threads = 2),
                                ON("cpu", precision, 0, .isa = sets[i], .lanes = 1, .threads = 1)};
        for (size_t w = 0; w < COUNT(ways); w++) targets[k / COUNT(sets)][w][i] = ways[w];
    }
    for (size_t p = 0; p < 2; p++) {
        ADD(matrix, answers_are_the_cpus, &in_fives, 1, targets[p][0], COUNT(sets));
        if (SHARE > 2) continue;
        ADD(matrix, answers_are_the_cpus, &in_sevens, 1, targets[p][1], COUNT(sets));
        ADD(matrix, answers_are_the_cpus, &at_once, 1, targets[p][2], COUNT(sets));
    }
}

void add_losscone(struct matrix *matrix)
{
    add_devices(matrix, 0);
    add_processors(matrix);
}

void add_kappa(struct matrix *matrix)
{
    add_devices(matrix, 1);
}
