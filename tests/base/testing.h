/* testing.h: an allocator that counts and fails on request, a context on it, and short ways to documents. */
#ifndef PARITAS_TESTS_BASE_TESTING_H
#define PARITAS_TESTS_BASE_TESTING_H

#include "base/json.h"
#include "common.h"

/* What the allocator has handed out, and which request fails. */
struct ledger {
    long live;     /* pieces that were not released yet */
    long requests; /* so far */
    long fail_at;  /* the request that fails, and all after it; 0: none */
};

static inline void *ledger_allocate(void *user, size_t size)
{
    struct ledger *ledger = user;
    if (ledger->fail_at && ++ledger->requests >= ledger->fail_at) return NULL;
    void *memory = malloc(size);
    if (memory) ledger->live++;
    return memory;
}

static inline void *ledger_reallocate(void *user, void *memory, size_t size)
{
    struct ledger *ledger = user;
    if (ledger->fail_at && ++ledger->requests >= ledger->fail_at) return NULL;
    return realloc(memory, size);
}

static inline void ledger_release(void *user, void *memory)
{
    struct ledger *ledger = user;
    if (memory) ledger->live--;
    free(memory);
}

static inline paritas_context make_context(struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    return (paritas_context){.allocator = {ledger_allocate, ledger_reallocate, ledger_release, ledger}};
}

/* Runs `work` with the first, second, ... request failing until it succeeds: each failure is PARITAS_OUT_OF_MEMORY with a message and
 * leaves nothing allocated. `work` frees what it makes. */
static inline void check_every_failure(paritas_status (*work)(paritas_context *context))
{
    for (long n = 1; n < 100000; n++) {
        struct ledger ledger;
        paritas_context context = make_context(&ledger);
        ledger.fail_at = n;
        paritas_status status = work(&context);
        assert_int_equal(ledger.live, 0);
        if (status == PARITAS_OK) {
            assert_true(n > 1);
            return;
        }
        assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
        assert_string_equal(context.message, "memory could not be allocated");
    }
    fail();
}

/* A document that must be right. */
static inline struct paritas_workspace *parse(paritas_context *context, const char *text)
{
    struct paritas_workspace *document;
    paritas_status status = json_read(context, text, strlen(text), "test.json", &document);
    if (status) fail_msg("%s: %s", text, context->message);
    return document;
}

/* The document on one line, valid until the next call. */
static inline const char *written(paritas_context *context, const struct json *node, unsigned indent, bool sort_keys)
{
    static char buffer[65536];
    struct text text;
    text_open(&text, &context->allocator);
    json_write(&text, node, indent, sort_keys);
    assert_false(text.failed);
    assert_true(text.length < sizeof buffer);
    memcpy(buffer, text.bytes, text.length);
    buffer[text.length] = '\0';
    text_free(&text);
    return buffer;
}

/* Numbers for random tests (xorshift64*), the same in every run. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

#endif
