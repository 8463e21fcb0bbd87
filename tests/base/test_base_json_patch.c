/* JSON Patch: every operation, every way a pointer can fail, and what is said then. */
#include "base_testing.h"

/* As paritas_workspace_patch, on a document that shares. */
static paritas_status patch_shared(paritas_context *context, const struct paritas_workspace *document,
                                   const struct paritas_workspace *operations,
                                   struct paritas_workspace **patched)
{
    struct paritas_workspace *shared;
    const paritas_status status = json_share(context, document, &shared);
    if (status != PARITAS_OK) return status;
    return json_hand_out(json_patch(context, shared, operations->root, operations->label), shared, patched);
}

/* Applies `patch` to `text` and expects the document `result`, or the whole message behind the label "p". */
static void patch_so(bool shares, const char *text, const char *patch_text, const char *result,
                     const char *message)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, text), *operations, *patched = NULL;
    assert_int_equal(json_read(&context, patch_text, strlen(patch_text), "p", &operations), PARITAS_OK);
    paritas_status status =
        (shares ? patch_shared : paritas_workspace_patch)(&context, document, operations, &patched);
    if (!shares) paritas_workspace_free(operations); /* the patched document owns all it holds */
    if (message) {
        assert_int_equal(status, PARITAS_INVALID_INPUT);
        assert_string_equal(context.message, message);
        assert_null(patched);
    } else {
        if (status) fail_msg("%s: %s", patch_text, context.message);
        struct paritas_workspace *expected = parse(&context, result);
        assert_string_equal(written(&context, patched->root, 0, false), result);
        assert_true(json_equal(patched->root, expected->root));
        paritas_workspace_free(expected);
    }
    struct paritas_workspace *before = parse(&context, text);
    assert_true(json_equal(document->root, before->root)); /* the original is as it was */
    paritas_workspace_free(before);
    if (shares) {
        before = parse(&context, patch_text);
        assert_true(json_equal(operations->root, before->root)); /* so is the patch */
        paritas_workspace_free(before);
        paritas_workspace_free(operations);
    }
    paritas_workspace_free(patched);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

static void patch(const char *text, const char *patch_text, const char *result, const char *message)
{
    patch_so(false, text, patch_text, result, message);
    patch_so(true, text, patch_text, result, message);
}

static void gives(const char *text, const char *patch_text, const char *result)
{
    patch(text, patch_text, result, NULL);
}

static void refuses(const char *text, const char *patch_text, const char *message)
{
    patch(text, patch_text, NULL, message);
}

TEST(add_puts_members_elements_and_documents)
{
    gives("{\"a\": 1}", "[{\"op\": \"add\", \"path\": \"/b\", \"value\": {\"x\": [2]}}]",
          "{\"a\": 1, \"b\": {\"x\": [2]}}");
    gives("{\"a\": 1, \"b\": 2}", "[{\"op\": \"add\", \"path\": \"/a\", \"value\": null}]",
          "{\"a\": null, \"b\": 2}");
    gives("{\"a\": [1, 3]}", "[{\"op\": \"add\", \"path\": \"/a/1\", \"value\": 2}]", "{\"a\": [1, 2, 3]}");
    gives("{\"a\": [1, 3]}", "[{\"op\": \"add\", \"path\": \"/a/0\", \"value\": 0}]", "{\"a\": [0, 1, 3]}");
    gives("{\"a\": [1, 3]}", "[{\"op\": \"add\", \"path\": \"/a/2\", \"value\": 4}]", "{\"a\": [1, 3, 4]}");
    gives("[]",
          "[{\"op\": \"add\", \"path\": \"/-\", \"value\": []}, {\"op\": \"add\", \"path\": \"/0/-\", "
          "\"value\": \"x\"}]",
          "[[\"x\"]]");
    gives("{\"a\": 1}",
          "[{\"op\": \"add\", \"path\": \"\", \"value\": [1]}, {\"op\": \"add\", \"path\": \"/-\", "
          "\"value\": 2}]",
          "[1, 2]");
    refuses("[1, 2]", "[{\"op\": \"add\", \"path\": \"/3\", \"value\": 0}]",
            "p: [0].path: /3: index 3 is beyond the end of an array of 2");
    refuses("{}", "[{\"op\": \"add\", \"path\": \"/a/b\", \"value\": 0}]",
            "p: [0].path: /a/b: there is no member 'a'");
    refuses("{}", "[{\"op\": \"add\", \"path\": \"/a\"}]", "p: [0].value: is missing");
}

TEST(remove_takes_members_and_elements_away)
{
    gives("{\"a\": 1, \"b\": 2, \"c\": 3}",
          "[{\"op\": \"remove\", \"path\": \"/b\"}, {\"op\": \"remove\", \"path\": \"/c\"}]", "{\"a\": 1}");
    gives("[1, 2, 3]",
          "[{\"op\": \"remove\", \"path\": \"/2\"}, {\"op\": \"remove\", \"path\": \"/0\"}, {\"op\": "
          "\"add\", \"path\": \"/-\", \"value\": "
          "9}]",
          "[2, 9]");
    refuses("[1, 2]", "[{\"op\": \"remove\", \"path\": \"/2\"}]",
            "p: [0].path: /2: index 2 is beyond the end of an array of 2");
    refuses("[1, 2]", "[{\"op\": \"remove\", \"path\": \"/-\"}]",
            "p: [0].path: /-: index - is beyond the end of an array of 2");
    refuses("{\"a\": 1}", "[{\"op\": \"remove\", \"path\": \"/b\"}]",
            "p: [0].path: /b: there is no member 'b'");
    refuses("{\"a\": 1}", "[{\"op\": \"remove\", \"path\": \"\"}]",
            "p: [0].path: the whole document cannot be removed");
}

TEST(replace_keeps_the_place)
{
    gives("{\"a\": 1, \"b\": 2}", "[{\"op\": \"replace\", \"path\": \"/a\", \"value\": [1]}]",
          "{\"a\": [1], \"b\": 2}");
    gives("[1, 2, 3]",
          "[{\"op\": \"replace\", \"path\": \"/1\", \"value\": \"x\"}, {\"op\": \"replace\", \"path\": "
          "\"/2\", \"value\": \"y\"}]",
          "[1, \"x\", \"y\"]");
    gives("[1]", "[{\"op\": \"replace\", \"path\": \"\", \"value\": {}}]", "{}");
    refuses("{}", "[{\"op\": \"replace\", \"path\": \"/a\", \"value\": 0}]",
            "p: [0].path: /a: there is no member 'a'");
    refuses("{\"channels\": [{}, {}]}",
            "[{\"op\": \"replace\", \"path\": \"/channels/9/name\", \"value\": 0}]",
            "p: [0].path: /channels/9/name: index 9 is beyond the end of an array of 2");
}

TEST(move_takes_a_value_from_one_place_to_another)
{
    gives("{\"a\": {\"x\": 1, \"y\": 2}, \"b\": {}}",
          "[{\"op\": \"move\", \"from\": \"/a/x\", \"path\": \"/b/z\"}]",
          "{\"a\": {\"y\": 2}, \"b\": {\"z\": 1}}");
    gives("[1, 2, 3]", "[{\"op\": \"move\", \"from\": \"/0\", \"path\": \"/2\"}]", "[2, 3, 1]");
    gives("[1, 2, 3]", "[{\"op\": \"move\", \"from\": \"/2\", \"path\": \"/0\"}]", "[3, 1, 2]");
    gives("{\"a\": [1]}", "[{\"op\": \"move\", \"from\": \"/a\", \"path\": \"\"}]", "[1]");
    gives("{\"a\": [1]}", "[{\"op\": \"move\", \"from\": \"/a\", \"path\": \"/a\"}]", "{\"a\": [1]}");
    gives("{\"a\": 1, \"ab\": {}}", "[{\"op\": \"move\", \"from\": \"/a\", \"path\": \"/ab/c\"}]",
          "{\"ab\": {\"c\": 1}}");
    refuses("{\"a\": {\"b\": 1}}", "[{\"op\": \"move\", \"from\": \"/a\", \"path\": \"/a/b\"}]",
            "p: [0].from: /a: a value cannot be moved into itself");
    refuses("[1, 2]", "[{\"op\": \"move\", \"from\": \"/0\", \"path\": \"/2\"}]",
            "p: [0].path: /2: index 2 is beyond the end of an array of 1");
    refuses("{\"a\": 1}", "[{\"op\": \"move\", \"from\": \"/b\", \"path\": \"/c\"}]",
            "p: [0].from: /b: there is no member 'b'");
    refuses("{\"a\": 1}", "[{\"op\": \"move\", \"path\": \"/c\"}]", "p: [0].from: is missing");
    refuses("{\"a\": 1}", "[{\"op\": \"move\", \"from\": \"/a\"}]", "p: [0].path: is missing");
}

TEST(copy_makes_an_independent_value)
{
    gives("{\"a\": {\"x\": [1]}}",
          "[{\"op\": \"copy\", \"from\": \"/a\", \"path\": \"/b\"}, {\"op\": \"add\", \"path\": \"/b/x/-\", "
          "\"value\": 2}]",
          "{\"a\": {\"x\": [1]}, \"b\": {\"x\": [1, 2]}}");
    gives("[1, {\"k\": 2}]", "[{\"op\": \"copy\", \"from\": \"/1\", \"path\": \"/0\"}]",
          "[{\"k\": 2}, 1, {\"k\": 2}]");
    gives("[1]", "[{\"op\": \"copy\", \"from\": \"\", \"path\": \"/-\"}]", "[1, [1]]");
    refuses("[1]", "[{\"op\": \"copy\", \"from\": 3, \"path\": \"/-\"}]",
            "p: [0].from: a string is expected, found a number");
}

TEST(test_compares_by_value)
{
    gives("{\"a\": [1, {\"x\": 2, \"y\": \"z\"}]}",
          "[{\"op\": \"test\", \"path\": \"/a\", \"value\": [1.0, {\"y\": \"z\", \"x\": 2}]}, {\"op\": "
          "\"test\", \"path\": \"/a/0\", "
          "\"value\": 1}]",
          "{\"a\": [1, {\"x\": 2, \"y\": \"z\"}]}");
    refuses("{\"a\": 1}", "[{\"op\": \"test\", \"path\": \"/a\", \"value\": \"1\"}]",
            "p: [0].path: /a: the test fails: another value is there");
    refuses("{\"a\": 1}", "[{\"op\": \"test\", \"path\": \"\", \"value\": {}}]",
            "p: [0].path: the test fails: another value is there");
    refuses("{\"a\": 1}", "[{\"op\": \"test\", \"path\": \"/b\", \"value\": 1}]",
            "p: [0].path: /b: there is no member 'b'");
}

TEST(pointers_have_escapes_empty_names_and_strict_indices)
{
    gives("{\"\": 1, \"a/b\": 2, \"m~n\": 3, \"~1\": 4, \" \": {\"0\": 5}}",
          "[{\"op\": \"test\", \"path\": \"/\", \"value\": 1}, {\"op\": \"test\", \"path\": \"/a~1b\", "
          "\"value\": 2}, {\"op\": \"test\", "
          "\"path\": \"/m~0n\", \"value\": 3}, "
          "{\"op\": \"test\", \"path\": \"/~01\", \"value\": 4}, {\"op\": \"replace\", \"path\": \"/ /0\", "
          "\"value\": 6}]",
          "{\"\": 1, \"a/b\": 2, \"m~n\": 3, \"~1\": 4, \" \": {\"0\": 6}}");
    refuses("[1, 2]", "[{\"op\": \"remove\", \"path\": \"/01\"}]",
            "p: [0].path: /01: '01' is not an array index");
    refuses("[1, 2]", "[{\"op\": \"remove\", \"path\": \"/+1\"}]",
            "p: [0].path: /+1: '+1' is not an array index");
    refuses("[1, 2]", "[{\"op\": \"remove\", \"path\": \"/\"}]", "p: [0].path: /: '' is not an array index");
    refuses("[1, 2]", "[{\"op\": \"remove\", \"path\": \"/1e0\"}]",
            "p: [0].path: /1e0: '1e0' is not an array index");
    refuses(
        "[1, 2]", "[{\"op\": \"remove\", \"path\": \"/18446744073709551616\"}]",
        "p: [0].path: /18446744073709551616: index 18446744073709551616 is beyond the end of an array of 2");
    refuses("{\"a\": 1}", "[{\"op\": \"remove\", \"path\": \"a\"}]",
            "p: [0].path: a: a JSON pointer begins with '/'");
    refuses("{\"a\": 1}", "[{\"op\": \"remove\", \"path\": \"/a~\"}]",
            "p: [0].path: /a~: '~' is followed by 0 or 1");
    refuses("{\"a\": 1}", "[{\"op\": \"remove\", \"path\": \"/a~2\"}]",
            "p: [0].path: /a~2: '~' is followed by 0 or 1");
    refuses("{\"a\": 1}", "[{\"op\": \"remove\", \"path\": \"/a/b\"}]",
            "p: [0].path: /a/b: 'b' is looked for in a number");
    refuses("{\"a\": \"text\"}", "[{\"op\": \"remove\", \"path\": \"/a/0\"}]",
            "p: [0].path: /a/0: '0' is looked for in a string");
}

TEST(wrong_patches_are_described)
{
    refuses("{}", "{}", "p: a JSON Patch is an array of operations, found an object");
    refuses("{}", "[{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}, 7]",
            "p: [1]: an operation is an object, found a number");
    refuses("{}", "[{\"op\": \"put\", \"path\": \"/a\", \"value\": 1}]",
            "p: [0].op: 'put' is none of add, remove, replace, move, copy and test");
    refuses("{}", "[{\"path\": \"/a\", \"value\": 1}]", "p: [0].op: is missing");
    refuses("{}", "[{\"op\": null, \"path\": \"/a\"}]", "p: [0].op: a string is expected, found null");
    refuses("{}", "[{\"op\": \"add\", \"path\": [], \"value\": 1}]",
            "p: [0].path: a string is expected, found an array");
    gives("{}", "[]", "{}");
    gives("{}", "[{\"op\": \"add\", \"path\": \"/a\", \"value\": 1, \"from\": 7, \"comment\": \"ignored\"}]",
          "{\"a\": 1}");
}

TEST(patches_cannot_grow_a_document_without_bound)
{
    char operations[65536] = "[";
    size_t used = 1;
    for (int i = 0; i < 60; i++) { /* each doubles the document */
        used += (size_t)snprintf(operations + used, sizeof operations - used,
                                 "%s{\"op\": \"copy\", \"from\": \"\", \"path\": \"/-\"}", i ? ", " : "");
    }
    snprintf(operations + used, sizeof operations - used, "]");
    refuses("[]", operations, "p: [20].from: the copies of this patch are too large");
}

TEST(patches_cannot_nest_a_document_too_deeply)
{
    char operations[65536];
    size_t used =
        (size_t)snprintf(operations, sizeof operations, "[{\"op\": \"add\", \"path\": \"\", \"value\": []}");
    char pointer[2048] = "";
    for (int i = 0; i < 511; i++) strcat(pointer, "/0");
    char deep[1100] = "";
    for (int i = 0; i < 400; i++) strcat(deep, "[");
    for (int i = 0; i < 400; i++) strcat(deep, "]");
    used += (size_t)snprintf(operations + used, sizeof operations - used,
                             ", {\"op\": \"add\", \"path\": \"/0\", \"value\": %s}", deep);
    snprintf(operations + used, sizeof operations - used,
             ", {\"op\": \"copy\", \"from\": \"\", \"path\": \"%.*s\"}]", 2 * 401, pointer);
    char message[2048];
    snprintf(message, sizeof message, "p: [2].path: %.400s: arrays and objects would be nested too deeply",
             pointer);
    refuses("{}", operations, message);
}

static paritas_status patch_all_so(paritas_context *context, bool shares)
{
    static const char text[] = "{\"a\": [1, {\"x\": \"y\"}]}";
    static const char patch_text[] =
        "[{\"op\": \"add\", \"path\": \"/b\", \"value\": [\"text\", 2]}, {\"op\": \"copy\", \"from\": "
        "\"/a\", \"path\": \"/b/0\"}, "
        "{\"op\": \"move\", \"from\": \"/a/1\", \"path\": \"/c\"}, {\"op\": \"replace\", \"path\": \"/b/1\", "
        "\"value\": {\"k\": []}}, "
        "{\"op\": \"test\", \"path\": \"/c/x\", \"value\": \"y\"}, {\"op\": \"remove\", \"path\": \"/c\"}]";
    struct paritas_workspace *document, *operations = NULL, *patched = NULL;
    paritas_status status = paritas_workspace_parse(context, text, sizeof text - 1, NULL, &document);
    if (!status)
        status = paritas_workspace_parse(context, patch_text, sizeof patch_text - 1, NULL, &operations);
    for (int i = 0; i < 30 && !status; i++) { /* the arena has to grow */
        struct paritas_workspace *next = NULL;
        status = (shares ? patch_shared : paritas_workspace_patch)(context, document, operations, &next);
        paritas_workspace_free(patched);
        patched = next;
    }
    paritas_workspace_free(patched);
    paritas_workspace_free(operations);
    paritas_workspace_free(document);
    return status;
}

static paritas_status patch_all(paritas_context *context)
{
    return patch_all_so(context, false);
}

static paritas_status patch_all_shared(paritas_context *context)
{
    return patch_all_so(context, true);
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    check_every_failure(patch_all);
    check_every_failure(patch_all_shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_puts_members_elements_and_documents),
        cmocka_unit_test(remove_takes_members_and_elements_away),
        cmocka_unit_test(replace_keeps_the_place),
        cmocka_unit_test(move_takes_a_value_from_one_place_to_another),
        cmocka_unit_test(copy_makes_an_independent_value),
        cmocka_unit_test(test_compares_by_value),
        cmocka_unit_test(pointers_have_escapes_empty_names_and_strict_indices),
        cmocka_unit_test(wrong_patches_are_described),
        cmocka_unit_test(patches_cannot_grow_a_document_without_bound),
        cmocka_unit_test(patches_cannot_nest_a_document_too_deeply),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
