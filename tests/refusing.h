/* refusing.h: an allocator that counts, and refuses a request on demand. */
#ifndef PARITAS_TESTS_REFUSING_H
#define PARITAS_TESTS_REFUSING_H

#include "common.h"
#include "paritas.h"

#include <stdbool.h>
#include <stdlib.h>

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

#endif
