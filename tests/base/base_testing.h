/* base_testing.h: an allocator that counts and fails on request, a context on it, and short ways to
 * documents. */
#ifndef PARITAS_BASE_TESTING_H
#define PARITAS_BASE_TESTING_H

#include "base/json/json.h"
#include "common.h"
#include "refusing.h"

static inline paritas_context make_context(struct ledger *ledger)
{
    *ledger = (struct ledger){.for_good = true};
    return (paritas_context){.allocator = ledger_allocator(ledger)};
}

/* Runs `work` with the first, second, ... request failing until it succeeds: each failure is
 * PARITAS_OUT_OF_MEMORY with a message and leaves nothing allocated. `work` frees what it makes. */
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
static inline const char *written(paritas_context *context, const struct json *node, unsigned indent,
                                  bool sort_keys)
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
