/* test_device_losscone.c: loss cones and plasmas on an accelerator that runs out of memory, is cancelled, or
 * goes: smaller launches have the same bits, and what cannot be done is said. */
#include "device/fake_accelerator.h"
#include "losscone/devices.h"
#include "share.h"

#define PARTS (DEVICE_PARTS & ~(1u << ANSWERS_COSINES))

static const struct answers_wish wish = {.box_limit = 400, .few = SHARE > 1};

static paritas_context *open_fake(unsigned precision)
{
    paritas_context *context = open_as("cpu", "portable", precision, 1, 1, 0);
    assert_non_null(context);
    fake_reset();
    assert_int_equal(fake_use(context), PARITAS_OK);
    fake.largest = fake.runs = 0; /* of the self-test */
    return context;
}

static void close_fake(paritas_context *context)
{
    paritas_close(context);
    assert_int_equal(fake.buffers, 0);
    assert_int_equal(fake.opens, fake.closes);
    assert_int_equal(fake.loads, fake.unloads);
}

TEST(results_do_not_depend_on_memory)
{
    struct sample *sample = make_sample();
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        struct answers wanted = reference(sample, precision, PARTS, &wish);
        paritas_context *context = open_fake(precision);
        compare_answers(context, sample, PARTS, &wish, &wanted, "enough memory");
        const unsigned runs = fake.runs;
        fake.teams_most = 3;
        fake.largest = 0;
        compare_answers(context, sample, PARTS, &wish, &wanted, "three teams at once");
        assert_int_equal(fake.largest, 3);
        close_fake(context);
        context = open_fake(precision);
        fake.buffer_most = (size_t)precision / 8 * 70000; /* room for one team at once */
        compare_answers(context, sample, PARTS, &wish, &wanted, "small buffers");
        assert_true(fake.runs > runs);
        print_message("f%u: %u runs, %u with small buffers\n", precision, runs, fake.runs);
        close_fake(context);
        answers_free(&wanted);
    }
    free(sample);
}

/* All sweeps, twice. */
enum { SWEEPS = 2 * SAMPLE_SWEEPS };

static double *twice(const double *numbers, size_t n)
{
    double *both = malloc(2 * n * sizeof *both);
    assert_non_null(both);
    memcpy(both, numbers, n * sizeof *both);
    memcpy(both + n, numbers, n * sizeof *both);
    return both;
}

static paritas_status fit(paritas_context *context, const struct sample *s, paritas_losscone_result *results)
{
    double *energy = twice(s->energy, COUNT(s->energy)),
           *potential = twice(s->potential, COUNT(s->potential)),
           *cosine = twice(s->cosine, COUNT(s->cosine)), *flux = twice(s->flux, COUNT(s->flux));
    const paritas_sweeps sweeps = {.size = sizeof(paritas_sweeps),
                                   .n = SWEEPS,
                                   .energy = energy,
                                   .potential = potential,
                                   .cosine = cosine,
                                   .flux = flux};
    const paritas_status status = paritas_losscone_fit(context, &sweeps, NULL, results);
    free(energy);
    free(potential);
    free(cosine);
    free(flux);
    return status;
}

/* Rows that have no room at once go in several launches. */
TEST(rows_without_room_go_in_several_launches)
{
    struct sample *sample = make_sample();
    paritas_losscone_result wanted[SWEEPS] = {PARITAS_INIT(paritas_losscone_result)},
                            results[SWEEPS] = {PARITAS_INIT(paritas_losscone_result)};
    paritas_context *context = open_as("cpu", NULL, 64, 0, 1, 0);
    assert_int_equal(fit(context, sample, wanted), PARITAS_OK);
    paritas_close(context);
    context = open_fake(64);
    fake.buffer_most = 70000 * sizeof(double);
    assert_int_equal(fit(context, sample, results), PARITAS_OK);
    assert_int_equal(context->device->uploads, 1);
    assert_int_equal(context->device->launches, 3); /* one that had no room, and two halves */
    for (size_t k = 0; k < SWEEPS; k++) {
        assert_int_equal(results[k].status, wanted[k].status);
        assert_memory_equal(&results[k].misfit, &wanted[k].misfit,
                            offsetof(paritas_losscone_result, boxes) -
                                offsetof(paritas_losscone_result, misfit));
        assert_memory_equal(results[k].vertex, wanted[k].vertex, sizeof wanted[k].vertex);
    }
    close_fake(context);
    free(sample);
}

TEST(too_little_memory_for_one_sweep_is_said)
{
    struct sample *sample = make_sample();
    paritas_losscone_result results[SWEEPS] = {PARITAS_INIT(paritas_losscone_result)};
    paritas_context *context = open_fake(64);
    fake.buffer_most = 1000;
    assert_int_equal(fit(context, sample, results), PARITAS_OUT_OF_MEMORY);
    assert_non_null(strstr(paritas_error_message(context), "fake:0"));
    fake.buffer_most = 0;
    assert_int_equal(fit(context, sample, results), PARITAS_OK); /* and the device is as good as before */
    fake.gone_after = fake.runs + 1;
    fake.teams_most = 4;
    assert_int_equal(fit(context, sample, results), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "it is gone"));
    close_fake(context);
    free(sample);
}

struct told {
    uint64_t done, calls, stop_at; /* 0: never */
    bool well;
};

static int tell(void *user, uint64_t done, uint64_t total)
{
    struct told *told = user;
    told->well &= done >= told->done && done <= total && total == SWEEPS;
    told->done = done;
    return ++told->calls == told->stop_at;
}

/* Over many launches of one call, some of them tried twice, on an accelerator and on the CPU. */
TEST(progress_rises_to_its_end_and_cancels)
{
    struct sample *sample = make_sample();
    paritas_losscone_result results[SWEEPS] = {PARITAS_INIT(paritas_losscone_result)};
    for (int cpu = 0; cpu < 2; cpu++)
        for (uint64_t stop_at = 0; stop_at < 3; stop_at++) {
            struct told told = {.stop_at = stop_at, .well = true};
            paritas_context *context = cpu ? open_as("cpu", NULL, 64, 0, 2, 0) : open_fake(64);
            context->progress = tell;
            context->progress_user = &told;
            fake.buffer_most = 70000 * sizeof(double);
            fake.teams_most = 2;
            if (cpu && stop_at > 1) told.stop_at = stop_at = 1; /* it tells once in a while only */
            const paritas_status status = fit(context, sample, results);
            assert_true(told.well);
            if (told.stop_at)
                assert_int_equal(status, PARITAS_CANCELLED);
            else if (!cpu)
                assert_int_equal(told.done, SWEEPS); /* of the CPU only one thread tells */
            if (!told.stop_at) assert_int_equal(status, PARITAS_OK);
            if (!cpu) assert_true(stop_at ? told.calls == stop_at : told.calls > 6);
            assert_true(context->progress == tell && context->progress_user == &told); /* given back */
            if (cpu)
                paritas_close(context);
            else
                close_fake(context);
            if (cpu && stop_at == 1) break;
        }
    free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_memory),
        cmocka_unit_test(rows_without_room_go_in_several_launches),
        cmocka_unit_test(too_little_memory_for_one_sweep_is_said),
        cmocka_unit_test(progress_rises_to_its_end_and_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
