/* kinks.c: covariances at kinks from those of both sides. */
#include "fit/kinks.h"
#include "fit/cholesky.h"
#include "fit/minimum.h"

#include <math.h>
#include <string.h>

enum side { DOWN, UP, SIDES };

struct at_kinks {
    paritas_context *context;
    const struct frozen *model;
    struct fit_job job; /* as asked */
    size_t *kinks, n;   /* parameters */
    /* a row each: point, bounds; flags */
    double *start, *lower, *upper;
    unsigned char *fixed;
    double *held, *sided[SIDES], *whole[SIDES]; /* answers: kinks fixed; each bound to a side; free there */
    /* n x n: of one side, of both; n_slots x n: how others follow on each side */
    double *stiff, *both, *follow[SIDES];
};

bool kinks_hold(const struct frozen *model, const struct fit_job *job)
{
    for (size_t p = 0; p < model->n_parameters; p++)
        if (job->start[p] == 0.0 && rows_is_kinked(model, job, p)) return true;
    return false;
}

/* ---- the answers ---- */

static size_t answer_size(const struct frozen *model)
{
    return COVARIANCE_SIZE(model->n_slots, 1);
}

struct taken {
    size_t size;
    double *answer;
};

static void take_answer(void *user, const struct fit_job *job, const double *answer)
{
    const struct taken *to = user;
    (void)job;
    memcpy(to->answer, answer, to->size * sizeof *answer);
}

/* The covariance at the rows' point. */
static paritas_status run(struct at_kinks *k, double *answer)
{
    struct taken to = {answer_size(k->model), answer};
    struct fit_job job = k->job;
    job.start = k->start;
    job.lower = k->lower;
    job.upper = k->upper;
    job.fixed = k->fixed;
    return rows_fits_run(k->context, k->context->host,
                         &(struct rows_fits){.model = k->model,
                                             .entry = k->model->family->covariance,
                                             .args = {[FIT_ARG_WHOLE] = 1},
                                             .n = 1,
                                             .jobs = &job,
                                             .take = take_answer,
                                             .user = &to});
}

/* +1, -1: the side of 0 where parameter p is; the other one where a bound leaves no room. */
static double sign_of(const struct at_kinks *k, size_t p, enum side side)
{
    const bool up = side == UP ? k->job.upper[p] > 0.0 : !(k->job.lower[p] < 0.0);
    return up ? 1.0 : -1.0;
}

/* Finds both answers of a side. */
static paritas_status run_side(struct at_kinks *k, enum side side)
{
    const double place = fits_are_raw(k->context) ? KINK_SIDE_F32 : KINK_SIDE_F64;
    for (size_t i = 0; i < k->n; i++) {
        const size_t p = k->kinks[i];
        const bool up = sign_of(k, p, side) > 0.0;
        k->start[p] = up ? place : -place;
        k->lower[p] = up ? place : k->job.lower[p];
        k->upper[p] = up ? k->job.upper[p] : -place;
    }
    TRY(run(k, k->sided[side]));
    for (size_t i = 0; i < k->n; i++) {
        k->lower[k->kinks[i]] = -1e300;
        k->upper[k->kinks[i]] = 1e300;
    }
    return run(k, k->whole[side]);
}

static paritas_status run_all(struct at_kinks *k)
{
    const size_t n = k->model->n_parameters;
    memcpy(k->start, k->job.start, n * sizeof *k->start);
    memcpy(k->lower, k->job.lower, n * sizeof *k->lower);
    memcpy(k->upper, k->job.upper, n * sizeof *k->upper);
    memcpy(k->fixed, k->job.fixed, n);
    for (size_t i = 0; i < k->n; i++) k->fixed[k->kinks[i]] = 1;
    TRY(run(k, k->held));
    memcpy(k->fixed, k->job.fixed, n);
    for (enum side side = DOWN; side < SIDES; side++) TRY(run_side(k, side));
    return PARITAS_OK;
}

/* ---- errors ---- */

/* Element of the covariance of a side's whole answer, at the slots' row and column. */
static double covariance_of(const struct at_kinks *k, enum side side, size_t a, size_t b)
{
    const size_t slots = k->model->n_slots, row = a > b ? a : b, column = a > b ? b : a;
    return k->whole[side][COVARIANCE_MATRIX(slots) + row * slots + column];
}

static size_t slot_of(const struct at_kinks *k, size_t i)
{
    return k->model->slot_of[k->kinks[i]];
}

/* `stiff`: curvature of the kinks on a side, others following. Adds it to `both`, the errors to `errors`,
 * each by half. `follow`: how others follow on this side. */
static bool add_side(struct at_kinks *k, enum side side, double *errors)
{
    const size_t n = k->n, slots = k->model->n_slots;
    const double *slopes = k->whole[side] + COVARIANCE_SLOPE * slots;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            k->stiff[i * n + j] = covariance_of(k, side, slot_of(k, i), slot_of(k, j));
    if (!invert_positive(n, k->stiff)) return false;
    for (size_t i = 0; i < n; i++) {
        const double rise = fmax(sign_of(k, k->kinks[i], side) * slopes[slot_of(k, i)], 0.0);
        errors[i] += 0.5 * kinks_error(rise, k->stiff[i * n + i]);
        for (size_t j = 0; j < n; j++) k->both[i * n + j] += 0.5 * k->stiff[i * n + j];
    }
    for (size_t a = 0; a < slots; a++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                k->follow[side][a * n + i] += covariance_of(k, side, a, slot_of(k, j)) * k->stiff[j * n + i];
    return true;
}

void kinks_correlate(size_t n, const double *errors, double *stiff)
{
    for (size_t i = 0; i < n; i++) stiff[i * n + i] = 1.0 / (errors[i] * errors[i]);
    if (invert_positive(n, stiff)) return;
    memset(stiff, 0, n * n * sizeof *stiff);
    for (size_t i = 0; i < n; i++) stiff[i * n + i] = errors[i] * errors[i];
}

/* Adds half of what the kinks' covariance does to the others on a side. */
static void add_followers(struct at_kinks *k, enum side side, double *matrix)
{
    const size_t n = k->n, slots = k->model->n_slots;
    double *follow = k->follow[side];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) follow[slot_of(k, i) * n + j] = i == j ? 1.0 : 0.0;
    for (size_t a = 0; a < slots; a++)
        for (size_t b = 0; b <= a; b++)
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    matrix[a * slots + b] += 0.5 * follow[a * n + i] * k->both[i * n + j] * follow[b * n + j];
}

static void put_matrix(struct at_kinks *k, double *answer)
{
    const size_t n = k->n, slots = k->model->n_slots;
    double *matrix = answer + COVARIANCE_MATRIX(slots), *errors = answer + COVARIANCE_ERRORS * slots;
    for (enum side side = DOWN; side < SIDES; side++) add_followers(k, side, matrix);
    for (size_t i = 0; i < n; i++) {
        answer[COVARIANCE_ACTIVE * slots + slot_of(k, i)] = 1.0;
        errors[slot_of(k, i)] = 1.0;
    }
    for (size_t a = 0; a < slots; a++)
        if (errors[a] > 0.0) errors[a] = sqrt(matrix[a * slots + a]);
}

static void put_answer(struct at_kinks *k, double *answer)
{
    const size_t slots = k->model->n_slots;
    double *errors = k->stiff + k->n * k->n, *scalars = answer + COVARIANCE_SCALAR(slots, 0);
    memcpy(answer, k->held, answer_size(k->model) * sizeof *answer);
    for (enum side side = DOWN; side < SIDES; side++) {
        const double *of_side = k->sided[side] + COVARIANCE_SCALAR(slots, 0);
        for (int scalar = COVARIANCE_EDM; scalar <= COVARIANCE_PULL; scalar++)
            if (!(scalars[scalar] >= of_side[scalar])) scalars[scalar] = of_side[scalar];
    }
    memset(errors, 0, k->n * sizeof *errors);
    bool known = scalars[COVARIANCE_BAD] == 0.0;
    for (enum side side = DOWN; side < SIDES; side++)
        known = known && rows_has_covariance(k->model, k->whole[side]) && add_side(k, side, errors);
    if (known) {
        kinks_correlate(k->n, errors, k->both);
        put_matrix(k, answer);
        return;
    }
    for (size_t i = 0; i < k->n; i++) {
        answer[COVARIANCE_ACTIVE * slots + slot_of(k, i)] = 1.0;
        for (size_t a = 0; a < slots; a++)
            answer[COVARIANCE_MATRIX(slots) + slot_of(k, i) * slots + a] =
                answer[COVARIANCE_MATRIX(slots) + a * slots + slot_of(k, i)] = (double)NAN;
    }
}

/* Takes the memory and lists the kinks. */
static paritas_status open_kinks(struct at_kinks *k, struct arena *arena)
{
    const size_t p = k->model->n_parameters, slots = k->model->n_slots, size = answer_size(k->model);
    arena_open(arena, &k->context->allocator);
    k->kinks = arena_array(arena, p, sizeof *k->kinks);
    k->start = arena_array(arena, 3 * p, sizeof *k->start);
    k->fixed = arena_array(arena, p, 1);
    k->held = arena_array(arena, 5 * size, sizeof *k->held);
    for (size_t i = 0; i < p && k->kinks; i++)
        if (k->job.start[i] == 0.0 && rows_is_kinked(k->model, &k->job, i)) k->kinks[k->n++] = i;
    k->stiff = arena_array(arena, k->n * (2 * k->n + 1 + SIDES * slots), sizeof *k->stiff);
    if (!k->kinks || !k->start || !k->fixed || !k->held || !k->stiff) return paritas_fail_memory(k->context);
    k->lower = k->start + p;
    k->upper = k->lower + p;
    for (size_t side = 0; side < SIDES; side++) {
        k->sided[side] = k->held + (1 + side) * size;
        k->whole[side] = k->held + (3 + side) * size;
    }
    k->both = k->stiff + k->n * (k->n + 1);
    k->follow[DOWN] = k->both + k->n * k->n;
    k->follow[UP] = k->follow[DOWN] + slots * k->n;
    return PARITAS_OK;
}

paritas_status kinks_covariance(paritas_context *context, const struct frozen *model,
                                const struct fit_job *job, double *answer)
{
    struct at_kinks k = {.context = context, .model = model, .job = *job};
    struct arena arena;
    paritas_status status = open_kinks(&k, &arena);
    if (status == PARITAS_OK) status = run_all(&k);
    if (status == PARITAS_OK) put_answer(&k, answer);
    arena_free(&arena);
    return status;
}

/* Does the likelihood rise on a side, by more than fits leave open? */
static bool rises(const struct at_kinks *k, size_t i, enum side side)
{
    const double *slopes = k->sided[side] + COVARIANCE_SLOPE * k->model->n_slots;
    return sign_of(k, k->kinks[i], side) * slopes[slot_of(k, i)] > PULL_TOLERANCE_F64;
}

paritas_status kinks_response(paritas_context *context, const struct frozen *model, const struct fit_job *job,
                              double *answer)
{
    struct at_kinks k = {.context = context, .model = model, .job = *job};
    struct arena arena;
    paritas_status status = open_kinks(&k, &arena);
    if (status == PARITAS_OK) status = run_all(&k);
    for (size_t i = 0; i < k.n && status == PARITAS_OK; i++)
        if (rises(&k, i, DOWN) && rises(&k, i, UP)) k.fixed[k.kinks[i]] = 1;
    if (status == PARITAS_OK) status = run(&k, answer);
    arena_free(&arena);
    return status;
}
