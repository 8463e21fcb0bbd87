/* store_lines_rows.c: rows and facts of a store of lines; several stores into one. */
#include "wasi/store_lines.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void store_close(struct store *store)
{
    if (!store) return;
    const paritas_allocator allocator = store->context->allocator;
    if (store->file) fclose(store->file);
    paritas_release(&allocator, store->facts);
    paritas_release(&allocator, store->rows);
    arena_free(&store->arena);
    paritas_release(&allocator, store);
}

const struct store_run *store_run(const struct store *store)
{
    return &store->run;
}

const char *store_entry(const struct store *store, const char *name)
{
    return run_entry(&store->run, name);
}

const char *store_path(const struct store *store)
{
    return store->name;
}

/* ---- rows ---- */

static paritas_status check_kind(struct store *store, enum store_kind kind)
{
    return store->run.kind == kind
               ? PARITAS_OK
               : lines_fail(store, PARITAS_INVALID_ARGUMENT, "the store holds rows of another kind");
}

static paritas_status add(struct store *store, enum store_kind kind, size_t n, const void *rows)
{
    const size_t before = store->n;
    TRY(check_kind(store, kind));
    if (!store->file)
        return lines_fail(store, PARITAS_INVALID_ARGUMENT, "the store is open for reading only");
    for (size_t i = 0; i < n; i++)
        TRY(lines_keep_row(store, (const char *)rows + i * run_table(&store->run)->row_size));
    return lines_append(store, store->n_facts, before);
}

paritas_status store_add(struct store *store, size_t n, const paritas_toy *rows)
{
    return add(store, STORE_TESTS, n, rows);
}

paritas_status store_add_fits(struct store *store, size_t n, const struct store_fit *rows)
{
    return add(store, STORE_FITS, n, rows);
}

static bool is_at(const struct store *store, const void *row, double mu, double hypothesis)
{
    const paritas_toy *test = row;
    return store->run.kind == STORE_FITS || (test->mu == mu && test->hypothesis == hypothesis);
}

paritas_status store_present(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                             unsigned char *present)
{
    if (n > 0) memset(present, 0, n);
    for (size_t i = 0; i < store->n; i++) {
        const void *row = lines_row(store, i);
        const uint64_t toy = row_toy(run_table(&store->run), row);
        if (toy >= first && toy - first < n && is_at(store, row, mu, hypothesis)) present[toy - first] = 1;
    }
    return PARITAS_OK;
}

static paritas_status fail_cancelled(struct store *store)
{
    return lines_fail(store, PARITAS_CANCELLED, "reading was cancelled");
}

paritas_status store_read(struct store *store, int (*take)(void *user, const paritas_toy *row), void *user)
{
    TRY(check_kind(store, STORE_TESTS));
    TRY(lines_sort(store));
    for (size_t i = 0; i < store->n; i++)
        if (take(user, lines_row(store, i)) != 0) return fail_cancelled(store);
    return PARITAS_OK;
}

paritas_status store_read_fits(struct store *store, int (*take)(void *user, const struct store_fit *row),
                               void *user)
{
    TRY(check_kind(store, STORE_FITS));
    TRY(lines_sort(store));
    for (size_t i = 0; i < store->n; i++)
        if (take(user, lines_row(store, i)) != 0) return fail_cancelled(store);
    return PARITAS_OK;
}

paritas_status store_read_range(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                                int (*take)(void *user, const paritas_toy *row), void *user)
{
    TRY(check_kind(store, STORE_TESTS));
    TRY(lines_sort(store));
    for (size_t i = 0; i < store->n; i++) {
        const paritas_toy *row = lines_row(store, i);
        if (row->toy < first || row->toy - first >= n || !is_at(store, row, mu, hypothesis)) continue;
        if (take(user, row) != 0) return fail_cancelled(store);
    }
    return PARITAS_OK;
}

paritas_status store_counts(struct store *store, uint64_t counts[PARITAS_FIT_STATUS_COUNT])
{
    memset(counts, 0, PARITAS_FIT_STATUS_COUNT * sizeof *counts);
    for (size_t i = 0; i < store->n; i++) {
        const void *row = lines_row(store, i);
        counts[store->run.kind == STORE_FITS ? ((const struct store_fit *)row)->status
                                             : ((const paritas_toy *)row)->status]++;
    }
    return PARITAS_OK;
}

/* ---- facts ---- */

paritas_status store_get_fact(struct store *store, const char *name, double *value, bool *known)
{
    *known = false;
    *value = NAN;
    for (size_t i = 0; i < store->n_facts && !*known; i++) {
        *known = strcmp(store->facts[i].name, name) == 0;
        if (*known) *value = store->facts[i].value;
    }
    return PARITAS_OK;
}

paritas_status store_set_fact(struct store *store, const char *name, double value)
{
    double there;
    bool known;
    TRY(store_get_fact(store, name, &there, &known));
    value += 0.0; /* no -0.0, as in rows */
    if (known) return fact_check(store->context, store->name, name, there, value);
    TRY(lines_keep_fact(store, name, value));
    return lines_append(store, store->n_facts - 1, store->n);
}

/* ---- several into one ---- */

static paritas_status read_shards(paritas_context *context, size_t n, const char *const *paths,
                                  struct store **shards)
{
    for (size_t k = 0; k < n; k++) {
        TRY(store_open_read(context, paths[k], &shards[k]));
        TRY(run_compare(context, paths[k], &shards[k]->run, &shards[0]->run, store_shard_entries, paths[0],
                        PARITAS_INVALID_INPUT));
    }
    return PARITAS_OK;
}

static paritas_status merge_facts(struct store *pool, struct store *shard)
{
    for (size_t i = 0; i < shard->n_facts; i++) {
        const struct fact *fact = &shard->facts[i];
        double there;
        bool known;
        TRY(store_get_fact(pool, fact->name, &there, &known));
        if (known)
            TRY(fact_check_shard(shard->context, shard->name, fact->name, there, fact->value));
        else
            TRY(lines_keep_fact(pool, fact->name, fact->value));
    }
    return PARITAS_OK;
}

static paritas_status fill_pool(struct store *pool, size_t n, struct store *const *shards)
{
    pool->file = fopen(pool->name, "wb");
    if (!pool->file) return lines_fail(pool, PARITAS_UNWRITABLE, "cannot be written: %s", strerror(errno));
    size_t longest = 0;
    for (size_t k = 1; k < n; k++)
        if (run_longer(&shards[k]->run, &shards[longest]->run)) longest = k;
    TRY(lines_begin(pool, &shards[longest]->run, STORE_SHARD));
    for (size_t k = 0; k < n; k++) {
        TRY(merge_facts(pool, shards[k]));
        for (size_t i = 0; i < shards[k]->n; i++) TRY(lines_keep_row(pool, lines_row(shards[k], i)));
    }
    TRY(lines_sort(pool));
    return lines_append(pool, 0, 0);
}

static paritas_status make_pool(paritas_context *context, const char *output, size_t n,
                                struct store *const *shards)
{
    FILE *file = fopen(output, "rb");
    if (file) {
        fclose(file);
        return paritas_refuse(context, "%s: exists already; the pooled store must be a new file", output);
    }
    struct store *pool;
    TRY(lines_open(context, output, &pool));
    const paritas_status status = fill_pool(pool, n, shards);
    store_close(pool);
    if (status != PARITAS_OK) remove(output);
    return status;
}

paritas_status paritas_store_merge(paritas_context *context, size_t n, const char *const *paths,
                                   const char *output)
{
    REQUIRE(context, paths, output);
    TRY(stores_check(context, n, paths));
    struct store **shards = paritas_allocate_clear(context, n, sizeof(struct store *));
    if (!shards) return paritas_fail_memory(context);
    paritas_status status = read_shards(context, n, paths, shards);
    if (status == PARITAS_OK) status = make_pool(context, output, n, shards);
    for (size_t k = 0; k < n; k++) store_close(shards[k]);
    paritas_release(&context->allocator, shards);
    return status;
}
