/* toys_whole.c: do stores make a whole run? If not: which shards are missing.
 *
 *   key of a store ─► its part of the toys ─► gaps between parts ─► shards that fill them, of the same cuts
 *
 * A part is a range of the numbers of toys, which all hypotheses share. Stores may be cut differently. */
#include "base/json/json.h"
#include "store/store_run.h"
#include "toys/toys.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMED_MOST 8

struct part {
    uint64_t n;             /* toys of each hypothesis, of the whole run; 0: the key does not say */
    unsigned shard, shards; /* 0: the store is no shard */
    uint64_t first, end;    /* its toys of each hypothesis */
    uint64_t toys;          /* that it has, of all hypotheses */
};

struct whole {
    paritas_context *context;
    size_t n;
    struct part *parts; /* by their first toys */
    uint64_t toys;      /* of each hypothesis, of the longest run */
    uint64_t hypotheses;
    bool lengths_differ;
    unsigned named;
    struct text missing; /* "shard 2/3, toys 40 to 49" */
};

/* ---- parts ---- */

/* Toys of shard number `shard` of the same cut. */
static paritas_status place(paritas_context *context, const struct part *cut, unsigned shard, uint64_t *first,
                            uint64_t *end)
{
    return toys_share(context, &(paritas_toys_options){.n = cut->n, .shard = shard, .shards = cut->shards},
                      first, end);
}

static paritas_status read_part(struct whole *whole, struct store *store, struct part *part)
{
    const char *toys = store_entry(store, STORE_NTOYS), *shard = store_entry(store, STORE_SHARD);
    uint64_t counts[PARITAS_FIT_STATUS_COUNT];
    *part = (struct part){.n = toys ? strtoull(toys, NULL, 10) : 0};
    if (part->n == 0) return PARITAS_OK;
    if (part->n > (uint64_t)INT64_MAX ||
        (shard && (sscanf(shard, "%9u/%9u", &part->shard, &part->shards) != 2 || part->shard < 1 ||
                   part->shard > part->shards || part->n < part->shards)))
        return store_say(whole->context, store_path(store), PARITAS_INVALID_INPUT,
                         "no run has %s toys and the shard %s", toys, shard ? shard : "1/1");
    TRY(place(whole->context, part, part->shard, &part->first, &part->end));
    TRY(store_counts(store, counts));
    for (int i = 0; i < PARITAS_FIT_STATUS_COUNT; i++) part->toys += counts[i];
    return PARITAS_OK;
}

static paritas_status read_parts(struct whole *whole, const char *const *paths)
{
    struct store *first = NULL, *store;
    paritas_status status = PARITAS_OK;
    for (size_t k = 0; k < whole->n && status == PARITAS_OK; k++) {
        store = NULL;
        status = store_open_read(whole->context, paths[k], &store);
        if (status == PARITAS_OK && first)
            status = run_compare(whole->context, paths[k], store_run(store), store_run(first),
                                 store_shard_entries, paths[0], PARITAS_INVALID_INPUT);
        if (status == PARITAS_OK) status = read_part(whole, store, &whole->parts[k]);
        if (first)
            store_close(store);
        else
            first = store;
    }
    store_close(first);
    return status;
}

/* Each hypothesis of a run has as many toys. A killed shard has fewer. */
static bool is_whole(const struct whole *whole, const struct part *part)
{
    return part->toys >= whole->hypotheses * (part->end - part->first);
}

static void look_over(struct whole *whole)
{
    whole->hypotheses = 1;
    whole->toys = whole->parts[0].n;
    for (size_t k = 0; k < whole->n; k++) {
        const struct part *part = &whole->parts[k];
        const uint64_t own = part->end - part->first, hypotheses = own > 0 ? (part->toys + own - 1) / own : 0;
        if (hypotheses > whole->hypotheses) whole->hypotheses = hypotheses;
        if (part->n != whole->toys) whole->lengths_differ = true;
        if (part->n > whole->toys) whole->toys = part->n;
    }
}

/* ---- what is missing ---- */

static bool may_name(struct whole *whole)
{
    if (++whole->named <= NAMED_MOST) text_format(&whole->missing, "%s", whole->named > 1 ? ", " : "");
    if (whole->named == NAMED_MOST + 1) text_format(&whole->missing, " and more");
    return whole->named <= NAMED_MOST;
}

static void name_shard(struct whole *whole, const struct part *cut, unsigned shard)
{
    if (!may_name(whole)) return;
    text_format(&whole->missing, "shard %u/%u", shard, cut->shards);
    if (whole->lengths_differ) text_format(&whole->missing, " of %llu toys", (unsigned long long)cut->n);
}

static void name_toys(struct whole *whole, uint64_t first, uint64_t end)
{
    const unsigned long long from = first, last = end - 1;
    if (first >= end || !may_name(whole)) return;
    text_format(&whole->missing, "toy%s %llu", from < last ? "s" : "", from);
    if (from < last) text_format(&whole->missing, " to %llu", last);
}

/* The first shard of a cut that begins at toy `from` or behind it; more than there are: none. */
static unsigned shard_from(const struct part *cut, uint64_t from)
{
    const uint64_t each = cut->n / cut->shards, more = cut->n % cut->shards, longer = more * (each + 1);
    if (from >= cut->n) return cut->shards + 1;
    return (unsigned)(from <= longer ? (from + each) / (each + 1)
                                     : more + (from - longer + each - 1) / each) +
           1;
}

/* Names shards of the cuts that lie inside of the gap, and toys that none of them has. */
static paritas_status name_gap(struct whole *whole, uint64_t from, uint64_t to)
{
    while (from < to && whole->named <= NAMED_MOST) {
        const struct part *cut = NULL;
        uint64_t next = to, next_end = to;
        unsigned shard = 0;
        for (size_t k = 0; k < whole->n; k++) {
            const struct part *part = &whole->parts[k];
            const unsigned of_part = part->shards > 0 ? shard_from(part, from) : 1;
            uint64_t first, end;
            if (of_part > part->shards) continue;
            TRY(place(whole->context, part, of_part, &first, &end));
            if (end > to || first > next || (first == next && end <= next_end)) continue;
            cut = part;
            shard = of_part;
            next = first;
            next_end = end;
        }
        name_toys(whole, from, next);
        if (cut) name_shard(whole, cut, shard);
        from = next_end;
    }
    return PARITAS_OK;
}

static paritas_status find_missing(struct whole *whole)
{
    uint64_t at = 0;
    for (size_t k = 0; k < whole->n; k++) {
        const struct part *part = &whole->parts[k];
        TRY(name_gap(whole, at, part->first));
        if (!is_whole(whole, part)) name_shard(whole, part, part->shard);
        if (part->end > at) at = part->end;
    }
    return name_gap(whole, at, whole->toys);
}

/* A pool of some shards does not say which toys it lacks. */
static void count_missing(struct whole *whole)
{
    const uint64_t wanted = whole->hypotheses * whole->toys;
    uint64_t toys = 0;
    for (size_t k = 0; k < whole->n; k++) toys += whole->parts[k].toys;
    if (toys < wanted)
        text_format(&whole->missing, "%llu of %llu toys", (unsigned long long)(wanted - toys),
                    (unsigned long long)wanted);
}

static int by_first(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static paritas_status check(struct whole *whole)
{
    bool counts = false;
    look_over(whole);
    for (size_t k = 0; k < whole->n; k++) {
        const struct part *part = &whole->parts[k];
        if (part->n == 0) return PARITAS_OK;
        counts = counts || (part->shards == 0 && !is_whole(whole, part));
    }
    qsort(whole->parts, whole->n, sizeof *whole->parts, by_first);
    if (counts)
        count_missing(whole);
    else
        TRY(find_missing(whole));
    if (whole->missing.failed) return paritas_fail_memory(whole->context);
    if (whole->missing.length == 0) return PARITAS_OK;
    return paritas_fail(whole->context, PARITAS_INVALID_INPUT,
                        "the pool is no whole run: %.*s missing or incomplete; give all, or `partial`",
                        (int)whole->missing.length, whole->missing.bytes);
}

paritas_status paritas_store_check_whole(paritas_context *context, size_t n, const char *const *paths)
{
    REQUIRE(context, paths);
    TRY(stores_check(context, n, paths));
    struct whole whole = {.context = context, .n = n};
    whole.parts = paritas_allocate_clear(context, n, sizeof *whole.parts);
    if (!whole.parts) return paritas_fail_memory(context);
    text_open(&whole.missing, &context->allocator);
    paritas_status status = read_parts(&whole, paths);
    if (status == PARITAS_OK) status = check(&whole);
    text_free(&whole.missing);
    paritas_release(&context->allocator, whole.parts);
    return status;
}
