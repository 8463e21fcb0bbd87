/* The JSON reader: what it takes, what it refuses and how it says so. */
#define _POSIX_C_SOURCE 200809L

#include "base_testing.h"

#include <sys/stat.h>
#include <unistd.h>

/* Expects the whole message behind the label "x". */
static void refuses_bytes(const char *text, size_t length, const char *message)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document;
    assert_int_equal(json_read(&context, text, length, "x", &document), PARITAS_INVALID_INPUT);
    assert_null(document);
    assert_string_equal(context.message, message);
    assert_int_equal(ledger.live, 0);
}

static void refuses(const char *text, const char *message)
{
    refuses_bytes(text, strlen(text), message);
}

TEST(a_document_keeps_types_order_and_literals)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document =
        parse(&context, " {\"b\" : [1, 2.50, -0, 1E2, 12345678901234567890],\r\n\t\"a\": "
                        "{\"x\":true,\"y\":false,\"z\":null}, \"\": \"\"} \n");
    const struct json *root = document->root, *numbers = json_get(root, "b");
    assert_int_equal(root->type, JSON_OBJECT);
    assert_int_equal(root->count, 3);
    assert_string_equal(root->first->key, "b");
    assert_string_equal(root->last->key, "");
    assert_int_equal(numbers->count, 5);
    assert_true(json_at(numbers, 0)->integer);
    assert_false(json_at(numbers, 1)->integer);
    assert_int_equal(json_at(numbers, 1)->length, 4);
    assert_memory_equal(json_at(numbers, 1)->text, "2.50", 4);
    assert_true(json_at(numbers, 1)->number == 2.5);
    assert_true(json_at(numbers, 3)->number == 100 && !json_at(numbers, 3)->integer);
    assert_true(json_at(numbers, 4)->number == 12345678901234567890.0 && json_at(numbers, 4)->integer);
    assert_null(json_at(numbers, 5));
    assert_null(json_get(numbers, "b"));
    assert_true(json_is(json_get(json_get(root, "a"), "z"), JSON_NULL));
    assert_null(json_get(json_get(root, "a"), "w"));
    assert_true(json_text_is(json_get(root, ""), ""));
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

TEST(escapes_and_utf8_are_decoded)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document =
        parse(&context, "{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\": \"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00 "
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 long enough for a second word of eight\"}");
    assert_string_equal(document->root->first->key, "\"\\/\b\f\n\r\t");
    assert_string_equal(document->root->first->text,
                        "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 long "
                        "enough for a second word of eight");
    paritas_workspace_free(document);
}

TEST(structure_errors_name_line_column_and_reason)
{
    refuses("", "x: line 1, column 1: the file is empty");
    refuses(" \n  ", "x: line 2, column 3: the text holds no value");
    refuses("[1, 2", "x: line 1, column 6: the text ends inside an array");
    refuses("[1,", "x: line 1, column 4: the text ends where a value is expected");
    refuses("[", "x: line 1, column 2: the text ends where a value is expected");
    refuses("{\"a\": 1", "x: line 1, column 8: the text ends inside an object");
    refuses("{", "x: line 1, column 2: the text ends inside an object");
    refuses("{\"a\": 1,", "x: line 1, column 9: the text ends inside an object");
    refuses("[1, 2,\n]", "x: line 1, column 6: a ',' stands before ']'");
    refuses("{\"a\": 1,}", "x: line 1, column 8: a ',' stands before '}'");
    refuses("[1 2]", "x: line 1, column 4: ',' or ']' is expected");
    refuses("{\"a\": 1 \"b\": 2}", "x: line 1, column 9: ',' or '}' is expected");
    refuses("{\"a\": 1]", "x: line 1, column 8: ',' or '}' is expected");
    refuses("[,1]", "x: line 1, column 2: a value is missing before ','");
    refuses("[1,,2]", "x: line 1, column 4: a value is missing before ','");
    refuses("]", "x: line 1, column 1: a value is expected");
    refuses("{\"a\"}", "x: line 1, column 5: ':' is expected after a key");
    refuses("{a: 1}", "x: line 1, column 2: a key in \" is expected");
    refuses("{1: 1}", "x: line 1, column 2: a key in \" is expected");
    refuses("{} {}", "x: line 1, column 4: text follows the value");
    refuses("1 2", "x: line 1, column 3: text follows the value");
    refuses("[1]]", "x: line 1, column 4: text follows the value");
    refuses("[\n  1, // one\n  2]", "x: line 2, column 6: JSON has no comments");
    refuses("[1 /* one */]", "x: line 1, column 4: JSON has no comments");
    refuses("# top\n1", "x: line 1, column 1: JSON has no comments");
    refuses("{\n# key\n}", "x: line 2, column 1: JSON has no comments");
}

TEST(wrong_values_are_named)
{
    refuses("[NaN]", "x: line 1, column 2: NaN is not a JSON number");
    refuses("[Infinity]", "x: line 1, column 2: Infinity is not a JSON number");
    refuses("[-Infinity]", "x: line 1, column 2: -Infinity is not a JSON number");
    refuses("[nan]", "x: line 1, column 2: 'nan' is not a JSON value");
    refuses("[True]", "x: line 1, column 2: 'True' is not a JSON value");
    refuses("[nulls]", "x: line 1, column 2: 'nulls' is not a JSON value");
    refuses("tru", "x: line 1, column 1: 'tru' is not a JSON value");
    refuses("['a']", "x: line 1, column 2: strings are quoted by \", not by '");
    refuses("[+1]", "x: line 1, column 2: a number does not begin with '+'");
    refuses("[.5]", "x: line 1, column 2: a number does not begin with '.'");
    refuses("[01]", "x: line 1, column 2: a number does not begin with 0");
    refuses("[-01]", "x: line 1, column 3: a number does not begin with 0");
    refuses("[-]", "x: line 1, column 3: a digit is expected");
    refuses("[1.]", "x: line 1, column 4: a digit is expected after the decimal point");
    refuses("[1.e5]", "x: line 1, column 4: a digit is expected after the decimal point");
    refuses("[1e]", "x: line 1, column 4: a digit is expected in the exponent");
    refuses("[1e+]", "x: line 1, column 5: a digit is expected in the exponent");
    refuses("[1e999]", "x: line 1, column 2: the number is too large for a double");
    refuses("[-1.8e308]", "x: line 1, column 2: the number is too large for a double");
    refuses("[0x10]", "x: line 1, column 3: ',' or ']' is expected");
    refuses("[\xc3\xa9]", "x: line 1, column 2: a value does not begin with '\xc3\xa9'");
    refuses("\xef\xbb\xbf{}",
            "x: line 1, column 1: the text begins with a byte order mark, which JSON does not allow");
    refuses_bytes("[\0]", 3, "x: line 1, column 2: a zero byte is not allowed");
    refuses_bytes("[1\0]", 4, "x: line 1, column 3: ',' or ']' is expected");
}

TEST(strings_are_checked)
{
    refuses("\"abc", "x: line 1, column 5: the text ends inside a string");
    refuses("\"abc\\", "x: line 1, column 5: a backslash is followed by one of \"\\/bfnrtu");
    refuses("\"abc\\n", "x: line 1, column 7: the text ends inside a string");
    refuses("[\"a\nb\"]",
            "x: line 1, column 4: a control character in a string must be written as an escape");
    refuses_bytes("\"a\0b\"", 5,
                  "x: line 1, column 3: a control character in a string must be written as an escape");
    refuses("\"\\x\"", "x: line 1, column 2: a backslash is followed by one of \"\\/bfnrtu");
    refuses("\"\\u12g4\"", "x: line 1, column 2: \\u is followed by four hexadecimal digits");
    refuses("\"\\u12", "x: line 1, column 2: \\u is followed by four hexadecimal digits");
    refuses("\"a\\u0000\"",
            "x: line 1, column 3: \\u0000 is not allowed: texts and names hold no zero character");
    refuses("\"\\ud83d\"", "x: line 1, column 2: half of a surrogate pair stands alone");
    refuses("\"\\ud83d\\u0041\"", "x: line 1, column 2: half of a surrogate pair stands alone");
    refuses("\"\\ude00\\ud83d\"", "x: line 1, column 2: half of a surrogate pair stands alone");
    static const char *const not_utf8[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xc3(",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xef\xbf\x7f",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80",
        "\xf0\x9f\x98",
        "\xff",
    };
    for (size_t i = 0; i < COUNT(not_utf8); i++) {
        char text[16];
        snprintf(text, sizeof text, "\"\xc3\xa9%s\"", not_utf8[i]);
        refuses(text, "x: line 1, column 3: the text is not UTF-8");
    }
}

TEST(columns_count_characters_also_behind_strings)
{
    refuses("{\"\xc3\xa9\xe2\x82\xac\": \"\\u0041\", x}", "x: line 1, column 18: a key in \" is expected");
}

TEST(duplicate_keys_are_refused)
{
    refuses("{\"a\": 1,\n \"b\": 2, \"a\": 3}",
            "x: line 2, column 10: the key \"a\" stands twice in one object");
    refuses("[{\"a\": {\"\": 1, \"\": 1}}]", "x: line 1, column 16: the key \"\" stands twice in one object");
    refuses("{\"a\": 1, \"\\u0061\": 3}", "x: line 1, column 21: the key \"a\" stands twice in one object");
}

TEST(a_duplicate_among_many_keys_is_found_wherever_it_stands)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    for (int duplicate = -1; duplicate < 40; duplicate++) {
        struct text text;
        text_open(&text, &context.allocator);
        text_append(&text, "{", 1);
        for (int i = 0; i < 40; i++) text_format(&text, "\"key%d\": %d, ", i * 7 % 40, i);
        text_format(&text, "\"key%d\": 0}", duplicate);
        struct paritas_workspace *document;
        paritas_status status = json_read(&context, text.bytes, text.length, "x", &document);
        assert_int_equal(status, duplicate < 0 ? PARITAS_OK : PARITAS_INVALID_INPUT);
        if (status) {
            size_t column = text.length - (duplicate < 10 ? 9 : 10);
            char expected[100];
            snprintf(expected, sizeof expected,
                     "x: line 1, column %zu: the key \"key%d\" stands twice in one object", column,
                     duplicate);
            assert_string_equal(context.message, expected);
        }
        paritas_workspace_free(document);
        text_free(&text);
    }
    assert_int_equal(ledger.live, 0);
}

TEST(depth_is_limited)
{
    enum { DEEP = 100000 };
    char *text = malloc(2 * DEEP);
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    refuses_bytes(text, 2 * DEEP, "x: line 1, column 513: arrays and objects are nested too deeply");
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document;
    assert_int_equal(json_read(&context, text + DEEP - JSON_DEPTH_MAX, 2 * JSON_DEPTH_MAX, "x", &document),
                     PARITAS_OK);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
    free(text);
}

TEST(the_text_may_end_anywhere)
{
    static const char whole[] =
        "{\"k\\u00e9y\": [1.5e-3, true, \"a\\ud83d\\ude00 b\", {\"x\": null}], \"b\": [false]}";
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char *exact = malloc(length ? length : 1); /* so that a read beyond its end is seen */
        memcpy(exact, whole, length);
        struct paritas_workspace *document;
        assert_int_equal(json_read(&context, exact, length, "x", &document), PARITAS_INVALID_INPUT);
        free(exact);
    }
    assert_int_equal(ledger.live, 0);
}

TEST(a_message_shows_control_bytes_of_a_label)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document;
    assert_int_equal(json_read(&context, "", 0, "a\nb\x1b\xff\xc3\xa9", &document), PARITAS_INVALID_INPUT);
    assert_string_equal(context.message, "a\\x0ab\\x1b\\xff\xc3\xa9: line 1, column 1: the file is empty");
}

TEST(files_are_read_or_refused_with_their_path)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document;
    char folder[] = "/tmp/paritas_test_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.json", folder);
    char expected[128];

    assert_int_equal(json_read_file(&context, path, &document), PARITAS_UNREADABLE);
    snprintf(expected, sizeof expected, "%s: No such file or directory", path);
    assert_string_equal(context.message, expected);
    assert_int_equal(json_read_file(&context, folder, &document), PARITAS_UNREADABLE);
    snprintf(expected, sizeof expected, "%s: is a directory", folder);
    assert_string_equal(context.message, expected);

    FILE *file = fopen(path, "w");
    fputs("[1, 2", file);
    fclose(file);
    assert_int_equal(json_read_file(&context, path, &document), PARITAS_INVALID_INPUT);
    snprintf(expected, sizeof expected, "%s: line 1, column 6: the text ends inside an array", path);
    assert_string_equal(context.message, expected);

    file = fopen(path, "w");
    fputc('[', file);
    for (int i = 0; i < 100000; i++) fprintf(file, "%d,\n", i);
    fputs("0]", file);
    fclose(file);
    assert_int_equal(json_read_file(&context, path, &document), PARITAS_OK);
    assert_string_equal(document->label, path);
    assert_int_equal(document->root->count, 100001);
    paritas_workspace_free(document);
    if (geteuid() != 0) { /* root may read everything */
        chmod(path, 0);
        assert_int_equal(json_read_file(&context, path, &document), PARITAS_UNREADABLE);
    }
    unlink(path);
    rmdir(folder);
    assert_int_equal(ledger.live, 0);
}

TEST(standard_input_is_read_to_its_end)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    FILE *file = tmpfile();
    fputc('"', file);
    for (int i = 0; i < 200000; i++) fputc('a' + i % 26, file);
    fputc('"', file);
    fflush(file);
    int kept = dup(STDIN_FILENO);
    for (int piped = 0; piped < 2; piped++) { /* once as a file of known size, once as a pipe */
        rewind(file);
        FILE *pipe = NULL;
        if (piped) {
            char command[64];
            snprintf(command, sizeof command, "cat <&%d", fileno(file));
            pipe = popen(command, "r");
        }
        dup2(fileno(piped ? pipe : file), STDIN_FILENO);
        struct paritas_workspace *document;
        assert_int_equal(json_read_file(&context, "-", &document), PARITAS_OK);
        assert_string_equal(document->label, "standard input");
        assert_int_equal(document->root->length, 200000);
        paritas_workspace_free(document);
        if (piped) pclose(pipe);
    }
    dup2(kept, STDIN_FILENO);
    close(kept);
    fclose(file);
    assert_int_equal(ledger.live, 0);
}

static paritas_status read_big(paritas_context *context)
{
    static char text[40000];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"esc\\n\": \"\\u00e9\"");
    for (int i = 0; i < 1000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", \"k%d\": [%d.5, {}]", i, i);
    text[used++] = '}';
    struct paritas_workspace *document;
    paritas_status status = paritas_workspace_parse(context, text, used, NULL, &document);
    paritas_workspace_free(document);
    return status;
}

static paritas_status read_from_file(paritas_context *context)
{
    struct paritas_workspace *document, *packed = NULL;
    char path[] = "/tmp/paritas_test_XXXXXX";
    int file = mkstemp(path);
    static const char text[] = "[{\"name\": \"a\\tb\"}, 1.25, [2, 3], [4, true]]";
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    paritas_status status = paritas_workspace_read(context, path, &document);
    if (status == PARITAS_OK) status = json_read_packed(context, path, &packed);
    unlink(path);
    paritas_workspace_free(document);
    paritas_workspace_free(packed);
    return status;
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    check_every_failure(read_big);
    check_every_failure(read_from_file);
}

TEST(public_functions_check_their_arguments)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    paritas_workspace *document = (paritas_workspace *)&ledger;
    assert_int_equal(paritas_workspace_read(NULL, "a", &document), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_read(&context, NULL, &document), PARITAS_INVALID_ARGUMENT);
    assert_null(document);
    assert_int_equal(paritas_workspace_parse(&context, NULL, 3, "a", &document), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_parse(&context, "1", 1, NULL, NULL), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_parse(&context, "x", 1, NULL, &document), PARITAS_INVALID_INPUT);
    assert_string_equal(paritas_error_message(&context), "text: line 1, column 1: 'x' is not a JSON value");
    paritas_workspace_free(NULL);
    paritas_text_free(&context, NULL);
}

/* A file with `text`; the caller removes it. */
static void write_file(char *path, const char *text, size_t length)
{
    strcpy(path, "/tmp/paritas-json-XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), (ssize_t)length);
    close(file);
}

/* The reader sees 64 KiB of a document at a time: each token begins, lies and ends at the border once. */
TEST(tokens_lie_anywhere_in_the_window)
{
    static const char inside[] =
        "{\"k\\u00e9y\" :\t[-1.5e-3, 12345678901234567890 ,true, \"a\\ud83d\\ude00 \xc3\xa9\", "
        "{\"x\": null, \"name\": \"a text of more than sixteen bytes\"}], \"b\": [false,\n2]}";
    enum { WINDOW = 65536, MOST = WINDOW + 512 };
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *alone = parse(&context, inside), *document;
    char *text = malloc(MOST), path[64];
    for (size_t place = WINDOW - 200; place < WINDOW + 8; place++) {
        const size_t length = place + sizeof inside;
        memset(text, ' ', MOST);
        text[0] = '[';
        memcpy(text + place, inside, sizeof inside - 1);
        text[length - 1] = ']';
        assert_int_equal(json_read(&context, text, length, "x", &document), PARITAS_OK);
        assert_true(json_equal(document->root->first, alone->root));
        paritas_workspace_free(document);
        write_file(path, text, length);
        assert_int_equal(json_read_packed(&context, path, &document), PARITAS_OK);
        assert_true(json_equal(document->root->first, alone->root));
        paritas_workspace_free(document);
        unlink(path);
        text[length - 1] = '}'; /* the only line break lies four characters before */
        refuses_bytes(text, length, "x: line 2, column 4: ',' or ']' is expected");
        text[length - 1] = ' ';
        refuses_bytes(text, length, "x: line 2, column 5: the text ends inside an array");
    }
    paritas_workspace_free(alone);
    assert_int_equal(ledger.live, 0);
    free(text);
}

TEST(long_tokens_widen_the_window)
{
    enum { LONG = 300000 };
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document;
    char *text = malloc(LONG + 16);
    for (int kind = 0; kind < 3; kind++) { /* a plain text, one with escapes, a number */
        memset(text, kind == 2 ? '1' : 'a', LONG);
        if (kind < 2) text[0] = text[LONG - 1] = '"';
        if (kind == 1) memcpy(text + LONG - 3, "\\n", 2);
        if (kind == 2) text[1] = '.';
        assert_int_equal(json_read(&context, text, LONG, "x", &document), PARITAS_OK);
        assert_int_equal(document->root->length, kind == 2 ? LONG : kind == 1 ? LONG - 3 : LONG - 2);
        paritas_workspace_free(document);
        text[LONG - 1] = kind == 2 ? 'x' : 'a';
        refuses_bytes(text, LONG,
                      kind == 2 ? "x: line 1, column 300000: text follows the value"
                                : "x: line 1, column 300001: the text ends inside a string");
    }
    assert_int_equal(ledger.live, 0);
    free(text);
}

TEST(packed_arrays_have_the_numbers_and_the_literals)
{
    static const char text[] =
        "{\"n\": [1, 2.50,-0 ], \"mixed\": [1e2, 3, \"x\"], \"none\": [], \"deep\": [[7]]}";
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *packed, *usual = parse(&context, text), *copy;
    char path[64];
    write_file(path, text, sizeof text - 1);
    assert_int_equal(json_read_packed(&context, path, &packed), PARITAS_OK);
    unlink(path);
    const struct json *n = json_get(packed->root, "n");
    assert_true(n->packed && !n->first && n->count == 3);
    assert_true(json_numbers(n)[1] == 2.5 && json_numbers(n)[2] == 0);
    assert_null(json_numbers(json_get(packed->root, "mixed")));
    assert_null(json_numbers(json_get(packed->root, "none")));
    assert_true(json_get(packed->root, "deep")->first->packed);
    struct json_walk walk;
    const struct json *item = json_walk_first(&walk, n);
    assert_true(item->integer && item->length == 1 && item->text[0] == '1');
    item = json_walk_next(&walk);
    assert_true(!item->integer && item->length == 4 && memcmp(item->text, "2.50", 4) == 0);
    item = json_walk_next(&walk);
    assert_true(item->integer && item->length == 2 && memcmp(item->text, "-0", 2) == 0);
    assert_null(json_walk_next(&walk));
    assert_true(json_equal(packed->root, usual->root) && json_equal(usual->root, packed->root));
    assert_int_equal(json_copy(&context, packed->root, "copy", &copy), PARITAS_OK);
    assert_false(json_get(copy->root, "n")->packed);
    assert_true(json_equal(copy->root, packed->root));
    struct text written[2];
    for (int k = 0; k < 2; k++) {
        text_open(&written[k], &context.allocator);
        json_write(&written[k], k ? packed->root : usual->root, 2, true);
        text_append(&written[k], "", 1);
    }
    assert_string_equal(written[0].bytes, written[1].bytes);
    for (int k = 0; k < 2; k++) text_free(&written[k]);
    paritas_workspace_free(copy);
    paritas_workspace_free(packed);
    paritas_workspace_free(usual);
    assert_int_equal(ledger.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_keeps_types_order_and_literals),
        cmocka_unit_test(escapes_and_utf8_are_decoded),
        cmocka_unit_test(structure_errors_name_line_column_and_reason),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(strings_are_checked),
        cmocka_unit_test(columns_count_characters_also_behind_strings),
        cmocka_unit_test(duplicate_keys_are_refused),
        cmocka_unit_test(a_duplicate_among_many_keys_is_found_wherever_it_stands),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(the_text_may_end_anywhere),
        cmocka_unit_test(a_message_shows_control_bytes_of_a_label),
        cmocka_unit_test(tokens_lie_anywhere_in_the_window),
        cmocka_unit_test(long_tokens_widen_the_window),
        cmocka_unit_test(packed_arrays_have_the_numbers_and_the_literals),
        cmocka_unit_test(files_are_read_or_refused_with_their_path),
        cmocka_unit_test(standard_input_is_read_to_its_end),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(public_functions_check_their_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
