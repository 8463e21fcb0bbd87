/* Writing, building, comparing and digesting trees. */
#include "base_testing.h"

#include <math.h>

static void writes(const char *text, const char *expected)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, text);
    assert_string_equal(written(&context, document->root, 0, false), expected);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

TEST(one_line_is_written_as_python_writes_it)
{
    writes(
        "{\"b\":[1,2.50,-0,-0.0,1E2,12345678901234567890],\"a\":{},\"c\":[],\"d\":null,\"e\":[true,false]}",
        "{\"b\": [1, 2.5, 0, -0.0, 100.0, 12345678901234567890], \"a\": {}, \"c\": [], \"d\": null, \"e\": "
        "[true, false]}");
    writes("\"\\u0001\\u001f\\b\\f\\n\\r\\t\\\"\\\\\\/\\u007f\\u00e9\"",
           "\"\\u0001\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\x7f\xc3\xa9\"");
}

TEST(indented_text_reads_back_equal)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, "{\"b\": [1, {\"x\": []}], \"a\": {}}"), *again;
    char *text;
    size_t length;
    assert_int_equal(paritas_workspace_write(&context, document, 2, &text, &length), PARITAS_OK);
    assert_string_equal(text, "{\n  \"b\": [\n    1,\n    {\n      \"x\": []\n    }\n  ],\n  \"a\": {}\n}");
    assert_int_equal(strlen(text), length);
    assert_int_equal(paritas_workspace_parse(&context, text, length, NULL, &again), PARITAS_OK);
    assert_true(json_equal(document->root, again->root));
    paritas_text_free(&context, text);
    paritas_workspace_free(again);
    assert_int_equal(paritas_workspace_write(&context, document, 40, &text, NULL), PARITAS_OK);
    assert_non_null(strstr(text, "\n                                        \"a\": {}\n}"));
    paritas_text_free(&context, text);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

TEST(keys_are_sorted_by_code_point)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document =
        parse(&context, "{\"b\": 1, \"\xf0\x9f\x98\x80\": 2, \"\xef\xbf\xbd\": 3, \"ab\": 4, \"\": 5, \"a\": "
                        "6, \"B\": {\"z\": 0, \"y\": 0}}");
    assert_string_equal(written(&context, document->root, 0, true),
                        "{\"\": 5, \"B\": {\"y\": 0, \"z\": 0}, \"a\": 6, \"ab\": 4, \"b\": 1, "
                        "\"\xef\xbf\xbd\": 3, \"\xf0\x9f\x98\x80\": 2}");
    paritas_workspace_free(document);
}

TEST(trees_are_built_changed_and_cloned)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, "{\"keep\": 1}"), *copy;
    struct json *array = json_new(document, JSON_ARRAY);
    assert_true(json_append(array, json_new_number(document, 0.1)));
    assert_true(json_append(array, json_new_text(document, "two")));
    assert_true(json_append(array, json_new_number(document, (double)INFINITY)));
    assert_false(json_append(array, NULL));
    assert_true(json_set(document, document->root, "new", array));
    assert_string_equal(written(&context, document->root, 0, false),
                        "{\"keep\": 1, \"new\": [0.1, \"two\", null]}");
    assert_true(json_set(document, document->root, "keep", json_new(document, JSON_TRUE)));
    assert_int_equal(json_copy(&context, document->root, "copy", &copy), PARITAS_OK);
    paritas_workspace_free(document);
    assert_string_equal(copy->label, "copy");
    assert_string_equal(written(&context, copy->root, 0, false),
                        "{\"keep\": true, \"new\": [0.1, \"two\", null]}");
    array = copy->root->last;
    json_remove(array, array->last);
    json_remove(array, array->first);
    assert_string_equal(written(&context, copy->root, 0, false), "{\"keep\": true, \"new\": [\"two\"]}");
    json_append(array, json_new_number(copy, 3));
    json_remove(copy->root, copy->root->first);
    assert_string_equal(written(&context, copy->root, 0, false), "{\"new\": [\"two\", 3.0]}");
    paritas_workspace_free(copy);
    assert_int_equal(ledger.live, 0);
}

TEST(equality_is_by_value_and_without_order_of_members)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"1", "1.0", true},
        {"100", "1e2", true},
        {"-0", "0", true},
        {"1", "\"1\"", false},
        {"9007199254740993", "9007199254740992", false},
        {"9007199254740993", "9007199254740992.0", true},
        {"null", "false", false},
        {"[1, 2]", "[2, 1]", false},
        {"[1, 2]", "[1, 2, 3]", false},
        {"{\"a\": 1, \"b\": [2], \"c\": 3}", "{\"c\": 3.0, \"a\": 1, \"b\": [2]}", true},
        {"{\"a\": 1, \"b\": 2}", "{\"a\": 1, \"c\": 2}", false},
        {"{\"a\": 1, \"b\": 2}", "{\"b\": 1, \"a\": 2}", false},
        {"{\"a\": 1}", "{\"a\": 1, \"b\": 2}", false},
        {"{}", "[]", false},
        {"\"a\"", "\"ab\"", false},
    };
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct paritas_workspace *a = parse(&context, cases[i].a), *b = parse(&context, cases[i].b);
        if (json_equal(a->root, b->root) != cases[i].equal || json_equal(b->root, a->root) != cases[i].equal)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
        paritas_workspace_free(a);
        paritas_workspace_free(b);
    }
    assert_int_equal(ledger.live, 0);
}

TEST(digests_are_those_of_python)
{
    /* The text hashed is the JSON string with its quotes. Expected values: Python's hashlib over
     * json.dumps(...). */
    static const struct {
        const char *text, *sha256, *md5;
    } cases[] = {
        {"1", "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
         "c4ca4238a0b923820dcc509a6f75849b"},
        {"\"abc\"", "6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25",
         "ebd9f4c7b06cb0aaf5d13d80e49d8b90"},
        {"{\"b\": [1, 2.50, -0, -0.0, 1E2, 12345678901234567890], \"a\": {\"z\": null, \"\xc3\xa9"
         "\": \"tab\\there\"}}",
         "4f447f25a48378d59bb3cb051ec1a11cdace75fe692192389b47d5d6648fc255",
         "c6d19ddc2f2b4bcd231ad88e192413fe"},
        {"{\"data\": [1e-5, 1e16, 0.1, 123456.75, 1e22, 5e-324], \"version\": \"1.0.0\"}",
         "5b19cd932f390ec69cf520d0c9c65d20b5a1627847ed936272475923ea2515c0",
         "675d6220d58bc27da660c620385aeb68"},
    };
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    char hex[65];
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct paritas_workspace *document = parse(&context, cases[i].text);
        assert_int_equal(json_digest(&context, document->root, "sha256", hex), PARITAS_OK);
        assert_string_equal(hex, cases[i].sha256);
        char digest[72];
        assert_int_equal(paritas_workspace_digest(&context, document, digest), PARITAS_OK);
        assert_memory_equal(digest, "sha256:", 7);
        assert_string_equal(digest + 7, hex);
        assert_int_equal(json_digest(&context, document->root, "md5", hex), PARITAS_OK);
        assert_string_equal(hex, cases[i].md5);
        assert_int_equal(json_digest(&context, document->root, "crc32", hex), PARITAS_INVALID_ARGUMENT);
        paritas_workspace_free(document);
    }
    assert_string_equal(context.message, "the digest algorithm 'crc32' is not known (sha256 and md5 are)");
    assert_int_equal(ledger.live, 0);
}

TEST(digests_are_right_at_every_length_around_a_block)
{
    /* The digest of the list of the digests of [], [[]], [[], []], ... up to 70 elements, as Python computes
     * it. */
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    for (int md5 = 0; md5 < 2; md5++) {
        struct paritas_workspace *list = parse(&context, "[]"), *empties = parse(&context, "[]");
        char hex[65];
        for (int i = 0; i <= 70; i++) {
            assert_int_equal(json_digest(&context, empties->root, md5 ? "md5" : "sha256", hex), PARITAS_OK);
            json_append(list->root, json_new_text(list, hex));
            json_append(empties->root, json_new(empties, JSON_ARRAY));
        }
        assert_int_equal(json_digest(&context, list->root, md5 ? "md5" : "sha256", hex), PARITAS_OK);
        assert_string_equal(hex, md5 ? "32a9aa07e3b7f43634989539364572e9"
                                     : "3f4b6a92e6c9ffbb728abe2df9757ab46736d4c658c51612b7d633db01a70e9c");
        paritas_workspace_free(list);
        paritas_workspace_free(empties);
    }
    assert_int_equal(ledger.live, 0);
}

static paritas_status write_and_digest(paritas_context *context)
{
    struct paritas_workspace *document;
    static const char text[] = "{\"b\": {\"d\": 1.5, \"c\": \"a long text, so that the buffer has to grow "
                               "more than once while it is written\"}, \"a\": [1, 2, "
                               "3], "
                               "\"another key\": \"another long text, so that the buffer has to grow more "
                               "than once while it is written, once more\"}";
    paritas_status status = paritas_workspace_parse(context, text, sizeof text - 1, NULL, &document);
    if (status) return status;
    char digest[72], *written_text = NULL;
    status = paritas_workspace_digest(context, document, digest);
    if (!status) status = paritas_workspace_write(context, document, 4, &written_text, NULL);
    paritas_text_free(context, written_text);
    paritas_workspace_free(document);
    return status;
}

static paritas_status copy_and_build(paritas_context *context)
{
    struct paritas_workspace *document, *copy = NULL;
    static const char text[] = "{\"a\": [1, \"text\", {\"b\": null}]}";
    paritas_status status = paritas_workspace_parse(context, text, sizeof text - 1, NULL, &document);
    if (status) return status;
    status = json_copy(context, document->root, "copy", &copy);
    for (int i = 0; i < 200 && !status; i++) { /* the arena has to grow */
        struct json *text_node = json_new_text(copy, "a text"), *number = json_new_number(copy, 1e-7);
        if (!text_node || !number || !json_append(copy->root->first, number) ||
            !json_set(copy, copy->root, "key", text_node))
            status = paritas_fail_memory(context);
    }
    paritas_workspace_free(copy);
    paritas_workspace_free(document);
    return status;
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    check_every_failure(write_and_digest);
    check_every_failure(copy_and_build);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_is_written_as_python_writes_it),
        cmocka_unit_test(indented_text_reads_back_equal),
        cmocka_unit_test(keys_are_sorted_by_code_point),
        cmocka_unit_test(trees_are_built_changed_and_cloned),
        cmocka_unit_test(equality_is_by_value_and_without_order_of_members),
        cmocka_unit_test(digests_are_those_of_python),
        cmocka_unit_test(digests_are_right_at_every_length_around_a_block),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
