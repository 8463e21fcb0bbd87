/* refusing.h: an allocator that counts, and refuses a request on demand. */
#ifndef PARITAS_TESTS_REFUSING_H
#define PARITAS_TESTS_REFUSING_H

#include "common.h"
#include "paritas.h"
#include "share.h"

#include <stdbool.h>
#include <stdlib.h>

/* From one refused request to the next. All are refused, or every third, or every eleventh: an odd number,
 * since many come in pairs. */
enum { REFUSED_STEP = 2 * SHARE - 1 };

/* What the allocator has handed out, and which request fails. */
struct ledger {
    long live, requests;
    long fail_at;  /* 0: none */
    bool for_good; /* and all after it */
};

static inline bool refused(struct ledger *ledger)
{
    const long request = ++ledger->requests;
    return ledger->fail_at && (request == ledger->fail_at || (ledger->for_good && request > ledger->fail_at));
}

static inline void *ledger_allocate(void *user, size_t size)
{
    struct ledger *ledger = user;
    if (refused(ledger)) return NULL;
    void *memory = malloc(size);
    if (memory) ledger->live++;
    return memory;
}

static inline void *ledger_reallocate(void *user, void *memory, size_t size)
{
    struct ledger *ledger = user;
    if (refused(ledger)) return NULL;
    void *moved = realloc(memory, size);
    if (moved && !memory) ledger->live++;
    return moved;
}

static inline void ledger_release(void *user, void *memory)
{
    struct ledger *ledger = user;
    if (memory) ledger->live--;
    free(memory);
}

/* Borrows the ledger. */
static inline paritas_allocator ledger_allocator(struct ledger *ledger)
{
    return (paritas_allocator){ledger_allocate, ledger_reallocate, ledger_release, ledger};
}

/* What may run out of memory: `make` opens a context with the options, `prepare` comes before `take`, and
 * `end` frees all. */
struct refused_work {
    void (*make)(void *user, const paritas_options *options);
    void (*prepare)(void *user);
    paritas_status (*take)(void *user);
    void (*end)(void *user);
    void *user;
};

/* Takes the work with its n-th request refused, n = 1, 1 + REFUSED_STEP, ..., until none was; each time also
 * once more with all that it asks for. */
static inline void refuse_requests_of(const struct refused_work *work, bool for_good)
{
    long n = 1, times = 0;
    for (bool struck = true; struck; n += REFUSED_STEP) {
        struct ledger ledger = {.for_good = for_good};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.allocator = &allocator;
        options.threads = 1;
        work->make(work->user, &options);
        work->prepare(work->user);
        ledger.fail_at = ledger.requests + n;
        const paritas_status status = work->take(work->user);
        struck = ledger.requests >= ledger.fail_at;
        if (status != (struck ? PARITAS_OUT_OF_MEMORY : PARITAS_OK))
            fail_msg("request %ld: %s", n, paritas_status_name(status));
        ledger.fail_at = 0;
        if (struck) assert_int_equal(work->take(work->user), PARITAS_OK);
        work->end(work->user);
        assert_int_equal(ledger.live, 0);
        times += struck;
    }
    assert_true(times > 0);
    print_message("%ld requests refused one by one\n", times);
}

#endif
