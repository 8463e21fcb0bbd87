/* test_device_accelerator.c: the layer that all accelerators share: chunks, memory, models that stay, kernels
 * kept on disk, faults. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "common.h"
#include "device/device.h"
#include "device/fake_accelerator.h"
#include "opencl/workspace.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* One model in a context whose device is the fake one. */
struct setting {
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    size_t parameters;
};

static void set_up(struct setting *s, unsigned precision, unsigned workers, const char *cache)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = precision;
    options.threads = 1;
    options.workers = workers;
    options.cache = cache;
    assert_int_equal(paritas_open(&options, &s->context), PARITAS_OK);
    assert_int_equal(
        paritas_workspace_parse(s->context, small_workspace, strlen(small_workspace), "small", &s->workspace),
        PARITAS_OK);
    assert_int_equal(paritas_model_create(s->context, s->workspace, NULL, &s->model), PARITAS_OK);
    s->parameters = paritas_model_parameter_count(s->model);
    assert_int_equal(fake_use(s->context), PARITAS_OK);
    fake.runs = 0; /* of the self-test */
    fake.largest = 0;
}

static void tear_down(struct setting *s)
{
    paritas_model_free(s->model);
    paritas_workspace_free(s->workspace);
    paritas_close(s->context);
    assert_int_equal(fake.buffers, 0);
    assert_int_equal(fake.opens, fake.closes);
    assert_int_equal(fake.loads, fake.unloads);
}

#define ROWS 50

/* Twice the NLL at points around the start. */
static paritas_status evaluate(const struct setting *s, double *nll)
{
    double points[ROWS * 64];
    assert_true(s->parameters <= 64);
    for (size_t i = 0; i < ROWS * s->parameters; i++)
        points[i] =
            paritas_model_suggested_init(s->model)[i % s->parameters] + 0.001 * (double)(i / s->parameters);
    return paritas_evaluate(s->context, s->model, ROWS, points, 0, NULL,
                            SIZED(paritas_evaluate_answers, .twice_nll = nll));
}

/* From set_up to tear_down, but on the CPU. Returns the accelerator, for end_on_cpu. */
static struct paritas_device *set_up_on_cpu(struct setting *s, unsigned precision)
{
    const struct device_request request = {.precision = precision, .threads = 1};
    struct paritas_device *cpu;
    fake_reset();
    set_up(s, precision, 0, NULL);
    struct paritas_device *accelerator = s->context->device;
    assert_int_equal(device_open(s->context, "cpu", &request, &cpu), PARITAS_OK);
    s->context->device = cpu;
    return accelerator;
}

static void end_on_cpu(struct setting *s, struct paritas_device *accelerator)
{
    device_close(s->context->device);
    s->context->device = accelerator;
    tear_down(s);
}

static void expect(unsigned precision, double *nll)
{
    struct setting s;
    struct paritas_device *accelerator = set_up_on_cpu(&s, precision);
    assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    end_on_cpu(&s, accelerator);
}

TEST(results_do_not_depend_on_chunks)
{
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        double wanted[ROWS], got[ROWS];
        expect(precision, wanted);
        for (uint32_t teams = 1; teams < 40; teams += 6) {
            struct setting s;
            fake_reset();
            set_up(&s, precision, 0, NULL);
            fake.teams_most = teams;
            assert_int_equal(evaluate(&s, got), PARITAS_OK);
            assert_true(fake.largest <= teams && fake.runs >= ROWS / (teams < 16 ? teams : 16));
            assert_memory_equal(got, wanted, sizeof got);
            tear_down(&s);
        }
    }
}

TEST(too_little_memory_for_one_team_is_said)
{
    struct setting s;
    double nll[ROWS];
    fake_reset();
    set_up(&s, 64, 0, NULL);
    fake.buffer_most = 64;
    assert_int_equal(evaluate(&s, nll), PARITAS_OUT_OF_MEMORY);
    assert_non_null(strstr(paritas_error_message(s.context), "fake:0"));
    fake.buffer_most = 0;
    assert_int_equal(evaluate(&s, nll), PARITAS_OK); /* and the device is as good as before */
    tear_down(&s);
}

TEST(a_device_that_is_gone_is_said)
{
    struct setting s;
    double nll[ROWS];
    fake_reset();
    set_up(&s, 64, 0, NULL);
    fake.gone_after = 2;
    assert_int_equal(evaluate(&s, nll), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(s.context), "it is gone"));
    tear_down(&s);
}

TEST(a_text_that_is_refused_is_said)
{
    struct setting s;
    double nll[ROWS];
    fake_reset();
    set_up(&s, 64, 0, NULL);
    fake.refuses_text = true;
    assert_int_equal(evaluate(&s, nll), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(s.context), "line 3"));
    tear_down(&s);
}

TEST(a_model_is_uploaded_once)
{
    struct setting s;
    double nll[ROWS];
    fake_reset();
    set_up(&s, 64, 0, NULL);
    for (int k = 0; k < 3; k++) assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    double point[64];
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    const paritas_job job = {.size = sizeof(paritas_job), .start = NULL};
    for (int k = 0; k < 3; k++)
        assert_int_equal(paritas_fit(s.context, s.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = point)),
                         PARITAS_OK);
    assert_int_equal(s.context->device->uploads, 1);
    assert_int_equal(s.context->device->builds, 2);
    assert_int_equal(fake.compiles, 3); /* and the self-test's */
    tear_down(&s);
}

/* More models than have room: the one that was not used for longest goes, and comes again with its own
 * numbers. */
TEST(models_come_and_go)
{
    struct setting s;
    paritas_model *models[DEVICE_RESIDENTS + 2];
    double first[ROWS], nll[ROWS];
    fake_reset();
    set_up(&s, 64, 0, NULL);
    paritas_model *own = s.model;
    assert_int_equal(evaluate(&s, first), PARITAS_OK);
    for (size_t k = 0; k < COUNT(models); k++) {
        assert_int_equal(paritas_model_create(s.context, s.workspace, NULL, &models[k]), PARITAS_OK);
        s.model = models[k];
        assert_int_equal(evaluate(&s, nll), PARITAS_OK);
        assert_memory_equal(nll, first, sizeof first);
    }
    assert_int_equal(s.context->device->uploads, 1 + COUNT(models));
    s.model = models[COUNT(models) - 1]; /* still there */
    assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    assert_int_equal(s.context->device->uploads, 1 + COUNT(models));
    s.model = own; /* went */
    assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    assert_memory_equal(nll, first, sizeof first);
    assert_int_equal(s.context->device->uploads, 2 + COUNT(models));
    for (size_t k = 0; k < COUNT(models); k++) paritas_model_free(models[k]);
    tear_down(&s);
}

TEST(a_team_too_large_for_an_entry_is_made_smaller_unless_asked_for)
{
    struct setting s;
    double nll[ROWS];
    fake_reset();
    set_up(&s, 64, 0, NULL);
    fake.workers_most_of_entry = 2;
    assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    const struct accelerator *accelerator = s.context->device->state;
    assert_int_equal(accelerator->modules[1].kernels[0].workers, 2);
    tear_down(&s);
    fake_reset();
    set_up(&s, 64, 16, NULL);
    fake.workers_most_of_entry = 2;
    assert_int_equal(evaluate(&s, nll), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(s.context), "at most 2 for hf_evaluate"));
    tear_down(&s);
}

/* Fewer teams than units: larger ones, and other kernels for them. The answer is the same. */
TEST(few_teams_are_larger)
{
    struct setting s;
    double all[ROWS], one;
    fake_reset();
    set_up(&s, 64, 0, NULL);
    struct accelerator *accelerator = s.context->device->state;
    accelerator->properties.workers_alone = 32;
    assert_int_equal(evaluate(&s, all), PARITAS_OK);
    assert_int_equal(accelerator->modules[1].kernels[0].workers, 8);
    assert_null(accelerator->modules[1].alone[0].function);
    assert_int_equal(paritas_evaluate(s.context, s.model, 1, paritas_model_suggested_init(s.model), 0, NULL,
                                      SIZED(paritas_evaluate_answers, .twice_nll = &one)),
                     PARITAS_OK);
    assert_int_equal(accelerator->modules[1].alone[0].workers, 32);
    assert_memory_equal(&one, &all[0], sizeof one);
    tear_down(&s);
}

/* ---- the cache on disk ---- */

struct folder {
    char path[64];
    char file[512]; /* the last of those listed */
    int files;
};

static void list(struct folder *f)
{
    f->files = 0;
    DIR *folder = opendir(f->path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            f->files++;
            snprintf(f->file, sizeof f->file, "%s/%s", f->path, entry->d_name);
        }
    if (folder) closedir(folder);
}

static void make_folder(struct folder *f)
{
    snprintf(f->path, sizeof f->path, "/tmp/paritas_cache_XXXXXX");
    assert_non_null(mkdtemp(f->path));
    strcat(f->path, "/kernels"); /* not there yet */
}

static void remove_folder(struct folder *f)
{
    for (list(f); f->files > 0; list(f)) assert_int_equal(unlink(f->file), 0);
    rmdir(f->path);
    *strrchr(f->path, '/') = '\0';
    assert_int_equal(rmdir(f->path), 0);
}

/* Evaluates in a new context and answers how many entries were compiled for it: that one and the
 * self-test's. */
static unsigned compiled(const char *cache, unsigned precision)
{
    struct setting s;
    double wanted[ROWS], nll[ROWS];
    expect(precision, wanted);
    fake.compiles = 0;
    set_up(&s, precision, 0, cache);
    assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    assert_memory_equal(nll, wanted, sizeof nll);
    tear_down(&s);
    return fake.compiles;
}

TEST(a_kernel_is_compiled_once)
{
    struct folder f;
    make_folder(&f);
    assert_int_equal(compiled(f.path, 64), 2);
    assert_int_equal(compiled(f.path, 64), 0);
    assert_int_equal(compiled(f.path, 32), 2); /* other kernels */
    assert_int_equal(compiled(f.path, 32), 0);
    list(&f);
    assert_int_equal(f.files, 4);
    remove_folder(&f);
}

TEST(another_driver_is_another_kernel)
{
    struct folder f;
    struct setting s;
    double nll[ROWS];
    make_folder(&f);
    for (int driver = 1; driver <= 2; driver++)
        for (int again = 0; again < 2; again++) {
            fake_reset();
            snprintf(fake.versions, sizeof fake.versions, "driver %d", driver);
            set_up(&s, 64, 0, f.path);
            assert_int_equal(evaluate(&s, nll), PARITAS_OK);
            assert_int_equal(fake.compiles, again ? 0 : 2);
            tear_down(&s);
        }
    remove_folder(&f);
}

/* Every way of being wrong is a miss, and is mended by what is compiled then. */
TEST(garbage_is_a_miss)
{
    struct folder f;
    make_folder(&f);
    assert_int_equal(compiled(f.path, 64), 2);
    list(&f);
    char good[4096];
    FILE *file = fopen(f.file, "rb");
    const size_t size = fread(good, 1, sizeof good, file);
    fclose(file);
    assert_true(size > 100 && size < sizeof good);
    for (size_t cut = 0; cut < size; cut += cut < 80 ? 9 : 31) {
        assert_int_equal(truncate(f.file, (off_t)cut), 0);
        assert_int_equal(compiled(f.path, 64), 1);
        assert_int_equal(compiled(f.path, 64), 0);
    }
    for (size_t at = 0; at < size; at += 13) {
        file = fopen(f.file, "r+b");
        fseek(file, (long)at, SEEK_SET);
        fputc(good[at] ^ 0x20, file);
        fclose(file);
        assert_int_equal(compiled(f.path, 64), 1);
    }
    remove_folder(&f);
}

TEST(what_is_no_file_is_a_miss)
{
    struct folder f;
    make_folder(&f);
    assert_int_equal(compiled(f.path, 64), 2);
    list(&f);
    assert_int_equal(unlink(f.file), 0);
    assert_int_equal(mkfifo(f.file, 0600), 0);
    assert_int_equal(compiled(f.path, 64), 1);
    assert_int_equal(compiled(f.path, 64), 0); /* renamed over it */
    remove_folder(&f);
}

/* A good file that the driver does not take: compiled again. */
TEST(a_binary_that_is_refused_is_compiled_again)
{
    struct folder f;
    struct setting s;
    double nll[ROWS];
    make_folder(&f);
    assert_int_equal(compiled(f.path, 64), 2);
    fake_reset();
    set_up(&s, 64, 0, f.path);
    fake.refuses_binaries = true;
    assert_int_equal(evaluate(&s, nll), PARITAS_NO_DEVICE);
    assert_int_equal(fake.compiles, 1);
    fake.refuses_binaries = false;
    assert_int_equal(evaluate(&s, nll), PARITAS_OK);
    tear_down(&s);
    remove_folder(&f);
}

TEST(a_cache_that_cannot_be_written_is_no_error)
{
    static const char *const nowhere[] = {"/proc/paritas", "/dev/null/kernels", ""};
    for (size_t k = 0; k < COUNT(nowhere); k++) assert_int_equal(compiled(nowhere[k], 64), 2);
}

/* ---- jobs that may take long ---- */

#define FITS 3
struct fits {
    paritas_fit_result results[FITS];
    double parameters[FITS * 64];
};

static int stop_at(void *user, uint64_t done, uint64_t total)
{
    unsigned *left = user;
    (void)done;
    (void)total;
    return *left == 0 ? 0 : --*left == 0;
}

/* By differential evolution, from starts further and further away. */
static paritas_status evolve(const struct setting *s, struct fits *fits)
{
    double starts[FITS * 64];
    paritas_job jobs[FITS];
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.minimizer = PARITAS_MINIMIZER_DE;
    options.population = 8;
    options.max_iterations = 300;
    memset(fits, 0, sizeof *fits);
    for (size_t k = 0; k < FITS; k++) {
        fits->results[k].size = sizeof fits->results[k];
        jobs[k] = (paritas_job)PARITAS_JOB_DEFAULT;
        jobs[k].start = starts + k * s->parameters;
        for (size_t i = 0; i < s->parameters; i++)
            starts[k * s->parameters + i] = paritas_model_suggested_init(s->model)[i] + 0.01 * (double)k;
    }
    return paritas_fit(s->context, s->model, &options, FITS, jobs,
                       SIZED(paritas_fit_answers, .results = fits->results, .parameters = fits->parameters));
}

static void evolve_on_cpu(unsigned precision, struct fits *fits)
{
    struct setting s;
    struct paritas_device *accelerator = set_up_on_cpu(&s, precision);
    assert_int_equal(evolve(&s, fits), PARITAS_OK);
    end_on_cpu(&s, accelerator);
}

TEST(an_evolution_in_pieces_has_the_bits_of_one_launch)
{
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        struct fits wanted, got;
        evolve_on_cpu(precision, &wanted);
        assert_true(wanted.results[0].iterations > 8);
        for (uint32_t teams = 1; teams <= FITS; teams += 2) {
            struct setting s;
            fake_reset();
            set_up(&s, precision, 0, NULL);
            fake.teams_most = teams;
            assert_int_equal(evolve(&s, &got), PARITAS_OK);
            assert_true(fake.runs >= 4);
            assert_memory_equal(&got, &wanted, sizeof got);
            tear_down(&s);
        }
    }
}

TEST(an_evolution_is_cancelled_between_its_pieces)
{
    for (unsigned pieces = 1; pieces <= 4; pieces++) {
        struct setting s;
        struct fits fits;
        unsigned left = pieces;
        fake_reset();
        set_up(&s, 64, 0, NULL);
        s.context->progress = stop_at;
        s.context->progress_user = &left;
        assert_int_equal(evolve(&s, &fits), PARITAS_CANCELLED);
        assert_int_equal(fake.runs, pieces);
        assert_int_equal(evolve(&s, &fits), PARITAS_OK); /* asks no more, and all is well */
        tear_down(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_chunks),
        cmocka_unit_test(too_little_memory_for_one_team_is_said),
        cmocka_unit_test(a_device_that_is_gone_is_said),
        cmocka_unit_test(a_text_that_is_refused_is_said),
        cmocka_unit_test(a_model_is_uploaded_once),
        cmocka_unit_test(models_come_and_go),
        cmocka_unit_test(a_team_too_large_for_an_entry_is_made_smaller_unless_asked_for),
        cmocka_unit_test(few_teams_are_larger),
        cmocka_unit_test(a_kernel_is_compiled_once),
        cmocka_unit_test(another_driver_is_another_kernel),
        cmocka_unit_test(garbage_is_a_miss),
        cmocka_unit_test(what_is_no_file_is_a_miss),
        cmocka_unit_test(a_binary_that_is_refused_is_compiled_again),
        cmocka_unit_test(a_cache_that_cannot_be_written_is_no_error),
        cmocka_unit_test(an_evolution_in_pieces_has_the_bits_of_one_launch),
        cmocka_unit_test(an_evolution_is_cancelled_between_its_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
