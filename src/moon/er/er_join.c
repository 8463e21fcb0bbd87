/* er_join.c: files of one date become one day, in which each sweep counts once.
 *
 * A sweep of a later file repeats one that begins at the same time, or has its number at about that time. The
 * one with more rows stays: a truncated copy adds nothing, whichever file is read first. */
#include "moon/er/er.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define NOWHERE SIZE_MAX

/* A sweep by its number or time. */
struct keyed {
    double key;
    size_t sweep;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* NOWHERE: none has this key. */
static size_t find_key(const struct keyed *sorted, size_t n, double key)
{
    const struct keyed wanted = {key, 0}, *found = NULL;
    if (n > 0 && !isnan(key)) found = bsearch(&wanted, sorted, n, sizeof *sorted, by_key);
    return found ? found->sweep : NOWHERE;
}

/* Time of the sweep's first row with one; NaN: none. */
static double time_of(const paritas_er_day *day, size_t k)
{
    for (size_t i = k * ROWS; i < (k + 1) * ROWS; i++)
        if (!isnan(day->time[i])) return day->time[i];
    return NAN;
}

static unsigned rows_of(const paritas_er_day *day, size_t k)
{
    unsigned rows = 0;
    for (size_t i = k * ROWS; i < (k + 1) * ROWS; i++) rows += !isnan(day->energy[i]);
    return rows;
}

/* Is the k-th sweep of `one` more than the j-th of `other`? */
static bool is_more(const paritas_er_day *one, size_t k, const paritas_er_day *other, size_t j)
{
    const bool kept = one->sweep_reason[k] == PARITAS_ER_KEPT,
               other_kept = other->sweep_reason[j] == PARITAS_ER_KEPT;
    return kept != other_kept ? kept : rows_of(one, k) > rows_of(other, j);
}

/* Are the rows of a sweep among those of another? Masked sweeps have no fluxes to compare. */
static bool is_part(const paritas_er_day *less, size_t k, const paritas_er_day *more, size_t j)
{
    const bool masked = less->sweep_reason[k] != PARITAS_ER_KEPT || more->sweep_reason[j] != PARITAS_ER_KEPT;
    for (size_t i = k * ROWS; i < (k + 1) * ROWS; i++) {
        bool found = isnan(less->energy[i]);
        for (size_t m = j * ROWS; m < (j + 1) * ROWS && !found; m++)
            found = less->energy[i] == more->energy[m] && less->time[i] == more->time[m] &&
                    memcmp(less->field + 3 * i, more->field + 3 * m, 3 * sizeof *less->field) == 0 &&
                    (masked || (memcmp(less->flux + i * CELLS, more->flux + m * CELLS,
                                       CELLS * sizeof *less->flux) == 0 &&
                                memcmp(less->azimuth + i * CELLS, more->azimuth + m * CELLS,
                                       CELLS * sizeof *less->azimuth) == 0));
        if (!found) return false;
    }
    return true;
}

/* Finds for each sweep of `part` the same one in `whole`, or NOWHERE. Returns whether a number is used for
 * another sweep there. `keys`: room for two a sweep of `whole`. */
static bool find_repeated(const paritas_er_day *whole, const paritas_er_day *part, struct keyed *keys,
                          size_t *same)
{
    const size_t n = whole->n;
    struct keyed *numbers = keys, *times = keys + n;
    size_t timed = 0;
    bool used = false;
    for (size_t k = 0; k < n; k++) {
        numbers[k] = (struct keyed){(double)whole->number[k], k};
        const double time = time_of(whole, k);
        if (!isnan(time)) times[timed++] = (struct keyed){time, k};
    }
    qsort(numbers, n, sizeof *numbers, by_key);
    qsort(times, timed, sizeof *times, by_key);
    for (size_t k = 0; k < part->n; k++) {
        const double time = time_of(part, k);
        const size_t numbered = find_key(numbers, n, (double)part->number[k]);
        same[k] = find_key(times, timed, time);
        if (same[k] != NOWHERE || numbered == NOWHERE) continue;
        const double apart = time - time_of(whole, numbered); /* NaN: the number decides */
        if (apart > ER_SPAN || apart < -ER_SPAN)
            used = true;
        else
            same[k] = numbered;
    }
    return used;
}

static void drop_counts(paritas_er_day *day, const uint64_t counts[PARITAS_ER_REASON_COUNT])
{
    for (size_t r = 1; r < PARITAS_ER_REASON_COUNT; r++) {
        paritas_er_count *counted = &day->counts[r];
        counted->count -= counts[r] < counted->count ? counts[r] : counted->count;
        if (counted->count == 0) *counted = (paritas_er_count){0};
    }
}

static void add_counts(paritas_er_day *whole, const paritas_er_day *part)
{
    for (size_t r = 0; r < PARITAS_ER_REASON_COUNT; r++) {
        if (whole->counts[r].count == 0)
            whole->counts[r] = part->counts[r];
        else
            whole->counts[r].count += part->counts[r].count;
    }
    whole->rows += part->rows;
    whole->bytes += part->bytes;
}

static int64_t number_above(const paritas_er_day *day)
{
    int64_t above = 0;
    for (size_t k = 0; k < day->n; k++)
        if (day->number[k] >= above) above = day->number[k] + 1;
    return above;
}

/* `both` has room for all sweeps; at its end are those that `whole` has not. */
static void join_sweeps(paritas_er_day *both, size_t n_whole, paritas_er_day *part, const size_t *same,
                        struct er_joined *joined)
{
    uint64_t lost_whole[PARITAS_ER_REASON_COUNT] = {0}, lost_part[PARITAS_ER_REASON_COUNT] = {0};
    size_t at = n_whole;
    for (size_t k = 0; k < part->n; k++) {
        const size_t j = same[k];
        if (j == NOWHERE) {
            er_day_put(both, at, part, k);
            both->number[at++] += joined->shift;
            continue;
        }
        const bool more = is_more(part, k, both, j);
        joined->repeated++;
        if (!(more ? is_part(both, j, part, k) : is_part(part, k, both, j)) && joined->other++ == 0)
            joined->first_other = part->number[k];
        er_sweep_counts(more ? both : part, more ? j : k, more ? lost_whole : lost_part);
        const int64_t number = both->number[j];
        if (more) er_day_put(both, j, part, k);
        both->number[j] = number;
    }
    drop_counts(both, lost_whole);
    drop_counts(part, lost_part);
    add_counts(both, part);
}

static paritas_status join(paritas_context *context, paritas_er_day **whole, paritas_er_day *part,
                           struct er_joined *joined, struct keyed *keys, size_t *same)
{
    const paritas_er_day *before = *whole;
    paritas_er_day *both = NULL;
    if (!keys || !same) return paritas_fail_memory(context);
    if (find_repeated(before, part, keys, same)) joined->shift = number_above(before);
    size_t n = before->n;
    for (size_t k = 0; k < part->n; k++) n += same[k] == NOWHERE;
    TRY(paritas_er_day_create(context, n, &both));
    for (size_t k = 0; k < before->n; k++) er_day_put(both, k, before, k);
    memcpy(both->counts, before->counts, sizeof both->counts);
    both->rows = before->rows;
    both->bytes = before->bytes;
    join_sweeps(both, before->n, part, same, joined);
    paritas_er_day_free(*whole);
    *whole = both;
    return PARITAS_OK;
}

paritas_status er_join(paritas_context *context, paritas_er_day **whole, paritas_er_day *part,
                       struct er_joined *joined)
{
    *joined = (struct er_joined){.sweeps = part->n};
    if (!*whole) {
        *whole = part;
        return PARITAS_OK;
    }
    struct keyed *keys = paritas_allocate(context, 2 * (*whole)->n + 1, sizeof *keys);
    size_t *same = paritas_allocate(context, part->n + 1, sizeof *same);
    const paritas_status status = join(context, whole, part, joined, keys, same);
    paritas_release(&context->allocator, keys);
    paritas_release(&context->allocator, same);
    paritas_er_day_free(part);
    return status;
}
