/* store_absent.c: stores of toys need SQLite and locks of files, which WASI lacks. Runs without a store keep
 * their toys in memory. */
#include "store/store.h"

static paritas_status fail_absent(paritas_context *context, const char *path, struct store **store)
{
    *store = NULL;
    return paritas_fail(context, PARITAS_UNWRITABLE,
                        "%s: a program in WebAssembly has no stores of toys; without a store it keeps them "
                        "in memory",
                        path);
}

paritas_status store_open(paritas_context *context, const char *path, const struct store_run *run,
                          bool resume, struct store **store)
{
    (void)run;
    (void)resume;
    return fail_absent(context, path, store);
}
paritas_status store_open_read(paritas_context *context, const char *path, struct store **store)
{
    return fail_absent(context, path, store);
}
paritas_status paritas_store_merge(paritas_context *context, size_t n, const char *const *paths,
                                   const char *output)
{
    struct store *store;
    REQUIRE(context, paths, output);
    (void)n;
    return fail_absent(context, output, &store);
}
void store_close(struct store *store)
{
    (void)store;
}

/* No store is ever open, so nothing calls these. */
#define NEVER(type, name, ...) \
    type name(__VA_ARGS__)     \
    {                          \
        __builtin_trap();      \
    }
#define TAKE_TOY int (*take)(void *, const paritas_toy *), void *user
#define TAKE_FIT int (*take)(void *, const struct store_fit *), void *user
#define TOYS double mu, double hypothesis, uint64_t first, size_t n
NEVER(const struct store_run *, store_run, const struct store *store)
NEVER(const char *, store_entry, const struct store *store, const char *name)
NEVER(const char *, store_path, const struct store *store)
NEVER(paritas_status, store_present, struct store *store, TOYS, unsigned char *present)
NEVER(paritas_status, store_add, struct store *store, size_t n, const paritas_toy *rows)
NEVER(paritas_status, store_add_fits, struct store *store, size_t n, const struct store_fit *rows)
NEVER(paritas_status, store_read, struct store *store, TAKE_TOY)
NEVER(paritas_status, store_read_fits, struct store *store, TAKE_FIT)
NEVER(paritas_status, store_read_range, struct store *store, TOYS, TAKE_TOY)
NEVER(paritas_status, store_counts, struct store *store, uint64_t counts[PARITAS_FIT_STATUS_COUNT])
NEVER(paritas_status, store_set_fact, struct store *store, const char *name, double value)
NEVER(paritas_status, store_get_fact, struct store *store, const char *name, double *value, bool *known)
