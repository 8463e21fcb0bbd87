/* The JSON reader beside jansson: the same verdict and the same tree on a table of documents and on thousands
 * of damaged ones.
 *
 * Differences that are meant: jansson refuses integers beyond 64 bits, this reader keeps their digits;
 * jansson stops at 2048 levels, this reader at 512; a zero byte behind the value is the end of the text to
 * jansson and refused here. */
#include "base_testing.h"

#include "jansson_verdict.h"

static const char *const documents[] = {
    "{\"channels\": [{\"name\": \"SR\", \"samples\": [{\"name\": \"signal\", \"data\": [12.5, 11], "
    "\"modifiers\": [{\"name\": \"mu\", "
    "\"type\": "
    "\"normfactor\", \"data\": null}]}]}], \"observations\": [{\"name\": \"SR\", \"data\": [51, 48]}], "
    "\"version\": \"1.0.0\"}",
    "[]",
    "{}",
    "[[], {}, [[]], [{}]]",
    "null",
    " true ",
    "\t\r\n false",
    "0",
    "-0",
    "-0.0",
    "1234567890123456789",
    "9223372036854775807",
    "12345678901234567890",
    "[0.1, 1e5, 1E+5, 1.5e-300, -2.25E10, 4.9406564584124654e-324, 1.7976931348623157e308, "
    "123456789.987654321]",
    "1e400",
    "1e-400",
    "\"\"",
    "\"plain text of more than eight bytes\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD834\\uDD1E\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"",
    "\"\xed\xa0\x80\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "{\"a\": 1, \"b\": {\"a\": 2}, \"c\": [{\"a\": 1}, {\"a\": 1}]}",
    "{\"a\": 1, \"a\": 1}",
    "{\"a\": 1, \"\\u0061\": 1}",
    "{\"k1\": 1, \"k2\": 1, \"k3\": 1, \"k4\": 1, \"k5\": 1, \"k6\": 1, \"k7\": 1, \"k8\": 1, \"k9\": 1, "
    "\"k10\": 1, \"k11\": 1, \"k12\": "
    "1, \"k13\": 1, "
    "\"k14\": 1, \"k15\": 1, \"k16\": 1, \"k17\": 1, \"k18\": 1}",
    "[1,]",
    "[,]",
    "{\"a\":}",
    "{,}",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "[1 2]",
    "{\"a\" 1}",
    "\xef\xbb\xbf[]",
    "[\"a\", // no\n 1]",
    "",
    "  ",
    "[1] x",
};

/* The same form as jansson_read's. */
static void print_tree(const struct json *node, char *out, size_t size, size_t *used)
{
    const struct json *child = node->first;
    switch ((json_type)node->type) {
    case JSON_NULL:
        verdict_print(out, size, used, "n");
        break;
    case JSON_TRUE:
        verdict_print(out, size, used, "t");
        break;
    case JSON_FALSE:
        verdict_print(out, size, used, "f");
        break;
    case JSON_NUMBER:
        if (node->integer) {
            verdict_print(out, size, used, "i%lld", strtoll(node->text, NULL, 10));
        } else {
            verdict_print(out, size, used, "r%a", node->number);
        }
        break;
    case JSON_STRING:
        assert_int_equal(strlen(node->text), node->length);
        verdict_print(out, size, used, "s%s", node->text);
        break;
    case JSON_ARRAY:
        verdict_print(out, size, used, "a%u", node->count);
        for (; child; child = child->next) print_tree(child, out, size, used);
        break;
    case JSON_OBJECT:
        verdict_print(out, size, used, "o%u", node->count);
        for (; child; child = child->next) {
            assert_int_equal(strlen(child->key), child->key_length);
            verdict_print(out, size, used, "k%s", child->key);
            print_tree(child, out, size, used);
        }
        break;
    }
}

/* Reads `text` with both. Returns 1 if both take it, 0 if both refuse it. */
static int compare(const char *text, size_t length)
{
    static char ours[65536], theirs[65536];
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document;
    paritas_status status = json_read(&context, text, length, "x", &document);
    enum verdict verdict = jansson_read(text, length, theirs, sizeof theirs);
    if (memchr(text, '\0', length)) {
        assert_int_equal(status, PARITAS_INVALID_INPUT);
        return 0;
    }
    if (verdict == VERDICT_BIG_INTEGER) { /* nothing to compare: jansson did not look at the rest */
        paritas_workspace_free(document);
        return status == PARITAS_OK;
    }
    if ((status == PARITAS_OK) != (verdict == VERDICT_TAKEN))
        fail_msg("%.*s: %s", (int)length, text, status ? context.message : "taken");
    if (status == PARITAS_OK) {
        size_t used = 0;
        print_tree(document->root, ours, sizeof ours, &used);
        assert_string_equal(ours, theirs);
    }
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
    return status == PARITAS_OK;
}

TEST(documents_get_the_verdict_of_jansson)
{
    for (size_t i = 0; i < COUNT(documents); i++) compare(documents[i], strlen(documents[i]));
}

/* Damages `length` bytes in a buffer of `size`; returns the new length. */
static size_t damage(char *text, size_t length, size_t size, uint64_t *random)
{
    static const char *const pieces[] = {
        "\"",  "\\",      "{",   "}",         "[",      "]",    ",",    ":",        "0",        "-",
        "1",   ".5",      "e1",  "e-7",       "null",   "true", "\n",   " ",        "\t",       "/",
        "\\u", "\\ud8",   "00",  "{\"a\":1}", "\"a\":", "\x80", "\xc3", "\xa9",     "\x1f",     "1e5",
        "99",  "\\u0041", "\\n", ",,",        "\\\"",   "9e99", "\xed", "\xf0\x9f", "[[[[]]]]", "\xff"};
    size_t place = length ? next_random(random) % length : 0;
    switch (next_random(random) % 4) {
    case 0:
        if (length) text[place] = (char)next_random(random);
        return length;
    case 1: { /* take a stretch out */
        size_t span = next_random(random) % 6;
        if (place + span > length) span = length - place;
        memmove(text + place, text + place + span, length - place - span);
        return length - span;
    }
    case 2: { /* double a stretch */
        size_t span = next_random(random) % 24;
        if (place + span > length) span = length - place;
        if (length + span > size) return length;
        memmove(text + place + span, text + place, length - place);
        return length + span;
    }
    default: {
        const char *piece = pieces[next_random(random) % COUNT(pieces)];
        size_t span = strlen(piece);
        if (length + span > size) return length;
        memmove(text + place + span, text + place, length - place);
        memcpy(text + place, piece, span);
        return length + span;
    }
    }
}

TEST(damaged_documents_get_the_verdict_of_jansson)
{
    uint64_t random = 20260101;
    long taken = 0, rounds = 200000;
    for (long round = 0; round < rounds; round++) {
        char text[2048];
        const char *seed = documents[next_random(&random) % COUNT(documents)];
        size_t length = strlen(seed);
        memcpy(text, seed, length);
        for (uint64_t times = next_random(&random) % 3 + 1; times > 0; times--)
            length = damage(text, length, sizeof text, &random);
        taken += compare(text, length);
    }
    assert_true(taken > rounds / 50 && taken < rounds / 2); /* both verdicts were met often */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_get_the_verdict_of_jansson),
        cmocka_unit_test(damaged_documents_get_the_verdict_of_jansson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
