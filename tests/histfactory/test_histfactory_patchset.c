/* Patch sets: what is refused and how, digests, applying. */
#include "histfactory/documents.h"
#include "histfactory/workspace/patchset.h"
#include "histfactory/workspace/workspace_read.h"
#include "fit/family.h"

#define PATCH(name, values)                                       \
    "{\"metadata\": {\"name\": \"" name "\", \"values\": " values \
    "}, \"patch\": [{\"op\": \"replace\", \"path\": \"/version\", \"value\": \"" name "\"}]}"
#define DIGEST "0000000000000000000000000000000000000000000000000000000000000000"

static const char *const set_text =
    "{\"metadata\": {\"references\": {\"hepdata\": \"ins1234567\"}, \"digests\": {\"sha256\": \"" DIGEST
    "\"}, \"labels\": [\"m1\", \"m2\"], \"description\": \"two points\", \"more\": 1}, \"patches\": [" PATCH(
        "a", "[1, 2]") ", " PATCH("b", "[1, \"2\"]") "], \"version\": \"1.0.0\"}";

/* The patch set with the digest of `workspace`. */
static struct paritas_workspace *patchset_for(paritas_context *context,
                                              const struct paritas_workspace *workspace)
{
    char digest[72];
    assert_int_equal(paritas_workspace_digest(context, workspace, digest), PARITAS_OK);
    return parse(context, swapped(set_text, DIGEST, digest + 7));
}

TEST(patches_are_counted_named_and_applied)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *workspace = parse(&context, small), *same = parse(&context, small),
                             *set = patchset_for(&context, workspace), *patched;
    size_t count;
    const char *name;
    assert_int_equal(paritas_patchset_count(&context, set, &count), PARITAS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(paritas_patchset_name(&context, set, 1, &name), PARITAS_OK);
    assert_string_equal(name, "b");
    assert_int_equal(paritas_patchset_name(&context, set, 2, &name), PARITAS_NOT_FOUND);
    assert_null(name);
    const char *names[2];
    assert_int_equal(paritas_patchset_names(&context, set, 2, names), PARITAS_OK);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    assert_int_equal(paritas_patchset_names(&context, set, 1, names), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(context.message, "`count` is 1, but test.json has 2 patches");
    assert_int_equal(paritas_patchset_apply(&context, workspace, set, "b", &patched), PARITAS_OK);
    assert_true(json_text_is(json_get(patched->root, "version"), "b"));
    assert_string_equal(patched->label, "test.json (patched by b)");
    assert_true(json_equal(workspace->root, same->root));
    paritas_workspace_free(patched);
    assert_int_equal(paritas_patchset_apply(&context, workspace, set, "c", &patched), PARITAS_NOT_FOUND);
    assert_null(patched);
    assert_string_equal(context.message, "test.json: there is no patch \"c\", but \"a\", \"b\"");
    paritas_workspace_free(workspace);
    paritas_workspace_free(same);
    paritas_workspace_free(set);
    assert_int_equal(ledger.live, 0);
}

TEST(a_set_is_checked_once_and_a_wrong_one_every_time)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *set = parse(&context, set_text),
                             *wrong = parse(&context, swapped(set_text, "\"b\"", "\"a\""));
    size_t count;
    const char *name;
    assert_int_equal(paritas_patchset_count(&context, set, &count), PARITAS_OK);
    const long requests = ledger.requests;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(paritas_patchset_name(&context, set, i, &name), PARITAS_OK);
    assert_int_equal(ledger.requests, requests); /* a check enters all names into a table */
    for (int k = 0; k < 2; k++)
        assert_int_equal(paritas_patchset_count(&context, wrong, &count), PARITAS_INVALID_INPUT);
    paritas_workspace_free(set);
    paritas_workspace_free(wrong);
    assert_int_equal(ledger.live, 0);
}

TEST(a_patch_set_of_another_workspace_is_refused_with_both_digests)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *workspace = parse(&context, small), *set = parse(&context, set_text), *patched;
    char digest[72];
    workspace->label = "small.json";
    assert_int_equal(paritas_workspace_digest(&context, workspace, digest), PARITAS_OK);
    assert_int_equal(paritas_patchset_verify(&context, workspace, set), PARITAS_INVALID_INPUT);
    assert_non_null(strstr(context.message, "test.json: metadata.digests.sha256"));
    assert_non_null(strstr(context.message, "small.json"));
    assert_non_null(strstr(context.message, "the sha256 digest " DIGEST));
    assert_non_null(strstr(context.message, digest + 7));
    assert_int_equal(paritas_patchset_apply(&context, workspace, set, "a", &patched), PARITAS_INVALID_INPUT);
    assert_null(patched);
    paritas_workspace_free(workspace);
    paritas_workspace_free(set);
    assert_int_equal(ledger.live, 0);
}

TEST(a_patch_that_does_not_fit_is_named_with_its_place)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *workspace = parse(&context, small), *other = patchset_for(&context, workspace),
                             *patched;
    const char *text = written(&context, other->root, 0, false);
    struct paritas_workspace *set =
        parse(&context, swapped(text, "\"path\": \"/version\", \"value\": \"b\"",
                                "\"path\": \"/channels/9/name\", \"value\": \"b\""));
    assert_int_equal(paritas_patchset_apply(&context, workspace, set, "b", &patched), PARITAS_INVALID_INPUT);
    assert_non_null(strstr(context.message, "test.json: patches[1].patch"));
    assert_non_null(strstr(context.message, "/channels/9/name"));
    paritas_workspace_free(workspace);
    paritas_workspace_free(other);
    paritas_workspace_free(set);
    assert_int_equal(ledger.live, 0);
}

TEST(what_is_no_patch_set_is_refused_with_its_place)
{
    static const struct {
        const char *old, *new, *message;
    } cases[] = {
        {"\"version\": \"1.0.0\"", "\"version\": \"2\"", "version: must be \"1.0.0\", found \"2\""},
        {"{\"metadata\"", "{\"x\": 1, \"metadata\"", "unknown key \"x\""},
        {", \"description\": \"two points\"", "", "metadata.description: is missing"},
        {"\"ins1234567\"", "\"ins123\"",
         "metadata.references.hepdata: must be \"ins\" and seven digits, found \"ins123\""},
        {"\"sha256\": \"0", "\"sha256\": \"", "metadata.digests.sha256: must be 64 hexadecimal digits"},
        {"\"sha256\": \"0", "\"sha256\": \"g", "metadata.digests.sha256: must be 64 hexadecimal digits"},
        {"\"sha256\"", "\"sha1\"", "metadata.digests: unknown key \"sha1\""},
        {"\"sha256\": \"" DIGEST "\"", "", "metadata.digests: must name md5 or sha256"},
        {"[\"m1\", \"m2\"]", "[]", "metadata.labels: must not be empty"},
        {"[\"m1\", \"m2\"]", "[\"m1\", \"m 2\"]",
         "metadata.labels[1]: must be letters, digits and underscores, found \"m 2\""},
        {"[\"m1\", \"m2\"]", "[\"m1\"]",
         "patches[0].metadata.values: must have 1 values, one a label, found 2"},
        {"[1, 2]", "[1, null]", "patches[0].metadata.values[1]: must be a number or a string, found null"},
        {"[1, \"2\"]", "[1.0, 2e0]", "patches[1].metadata.values: the same as those of patches[0]"},
        {"\"name\": \"b\"", "\"name\": \"a\"", "patches[1].metadata.name: the same as those of patches[0]"},
        {"\"name\": \"b\"", "\"name\": \"b-c\"",
         "patches[1].metadata.name: must be letters, digits and underscores, found \"b-c\""},
        {"\"name\": \"b\", ", "", "patches[1].metadata.name: is missing"},
        {"\"op\": \"replace\", ", "", "patches[0].patch[0].op: is missing"},
        {"\"op\": \"replace\"", "\"op\": \"put\"", "patches[0].patch[0].op: unknown operation \"put\""},
        {"\"op\": \"replace\"", "\"op\": \"move\"", "patches[0].patch[0].from: is missing"},
        {", \"value\": \"a\"", "", "patches[0].patch[0].value: is missing"},
        {"\"path\": \"/version\"", "\"path\": 1", "patches[0].patch[0].path: must be a string, found 1"},
    };
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct paritas_workspace *set = parse(&context, swapped(set_text, cases[i].old, cases[i].new));
        size_t count;
        assert_int_equal(paritas_patchset_count(&context, set, &count), PARITAS_INVALID_INPUT);
        assert_int_equal(strncmp(context.message, "test.json: ", 11), 0);
        assert_string_equal(context.message + 11, cases[i].message);
        paritas_workspace_free(set);
    }
    assert_int_equal(ledger.live, 0);
}

#define SIGNAL "/channels/0/samples/0"
#define BACKGROUND "/channels/0/samples/1"
#define OPERATION(op, path, more) "{\"op\": \"" op "\", \"path\": \"" path "\"" more "}"
#define ADD(path, value) OPERATION("add", path, ", \"value\": " value)
#define REPLACE(path, value) OPERATION("replace", path, ", \"value\": " value)
#define MOVE(from, path) OPERATION("move", path, ", \"from\": \"" from "\"")
#define REMOVE(path) OPERATION("remove", path, "")
#define FACTOR(name) "{\"name\": \"" name "\", \"type\": \"normfactor\", \"data\": null}"
#define SAMPLE(name, modifiers) \
    "{\"name\": \"" name "\", \"data\": [1.0, 2.0], \"modifiers\": [" modifiers "]}"

/* Patches of `small`: accepted and refused ones. */
static const char *const changes[] = {
    "[]",
    "[" REMOVE(SIGNAL) "]",
    "[" ADD(SIGNAL, SAMPLE("second", FACTOR("nu"))) "]",
    "[" ADD(SIGNAL, SAMPLE("signal", "")) "]",
    "[" ADD("/channels/1/samples/0/modifiers/-", FACTOR("stat")) "]",
    "[" REPLACE(BACKGROUND "/data/0", "25") "]",
    "[" REPLACE(BACKGROUND "/data", "[25]") "]",
    "[" REMOVE(BACKGROUND "/modifiers/2") "]",
    "[" OPERATION("copy", "/channels/0/samples/-", ", \"from\": \"" SIGNAL "\"") "]",
    "[" MOVE(SIGNAL, BACKGROUND) "]",
    "[" MOVE(SIGNAL, "/channels/1/samples/1") "]",
    "[" REMOVE("/channels/1") "]",
    "[" REMOVE("/channels/1") ", " REMOVE("/observations/1") "]",
    "[" REPLACE(SIGNAL "/modifiers/0/type", "\"factor\"") "]",
    "[" REPLACE("/observations/0/data/0", "-1") "]",
    "[" REPLACE("/channels/0/name", "\"CR\"") "]",
};

static void check_same_model(const paritas_model *a, const paritas_model *b)
{
    const struct frozen *x = paritas_model_frozen(a), *y = paritas_model_frozen(b);
    assert_int_equal(x->tables.n_ints, y->tables.n_ints);
    assert_int_equal(x->tables.n_reals, y->tables.n_reals);
    assert_memory_equal(x->tables.ints, y->tables.ints, x->tables.n_ints * sizeof *x->tables.ints);
    assert_memory_equal(x->tables.reals, y->tables.reals, x->tables.n_reals * sizeof *x->tables.reals);
    assert_int_equal(x->n_parameters, y->n_parameters);
    for (size_t i = 0; i < x->n_parameters; i++)
        assert_string_equal(paritas_model_parameter_name(a, i), paritas_model_parameter_name(b, i));
    assert_int_equal(x->n_data, y->n_data);
    assert_memory_equal(x->data, y->data, x->n_data * sizeof *x->data);
}

/* Models of documents that share are those of copies; so are the messages. */
static void check_sharing(const char *background, size_t *accepted)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *lender = parse(&context, background), *patch, *copy, *shared;
    assert_int_equal(paritas_workspace_prepare(&context, lender), PARITAS_OK);
    for (size_t i = 0; i < COUNT(changes); i++) {
        paritas_model *of_copy = NULL, *of_shared = NULL;
        char message[sizeof context.message];
        patch = parse(&context, changes[i]);
        assert_int_equal(paritas_workspace_patch(&context, lender, patch, &copy), PARITAS_OK);
        const paritas_status status = paritas_model_create(&context, copy, NULL, &of_copy);
        memcpy(message, context.message, sizeof message);
        assert_int_equal(json_share(&context, lender, &shared), PARITAS_OK);
        assert_int_equal(json_patch(&context, shared, patch->root, "p"), PARITAS_OK);
        assert_int_equal(paritas_model_create(&context, shared, NULL, &of_shared), status);
        if (status == PARITAS_OK) {
            ++*accepted;
            check_same_model(of_copy, of_shared);
        } else {
            assert_string_equal(context.message, message);
        }
        paritas_model_free(of_copy);
        paritas_model_free(of_shared);
        paritas_workspace_free(shared);
        paritas_workspace_free(copy);
        paritas_workspace_free(patch);
    }
    paritas_workspace_free(lender);
    assert_int_equal(ledger.live, 0);
}

TEST(samples_that_documents_share_are_read_as_their_own)
{
    size_t accepted = 0;
    check_sharing(small, &accepted);
    assert_true(accepted >= 7 && accepted < COUNT(changes));
    /* nothing to share: the background alone is refused */
    check_sharing(swapped(small, "\"type\": \"lumi\"", "\"type\": \"loom\""), &accepted);
}

static paritas_status share_a_reading(paritas_context *context)
{
    struct paritas_workspace *lender, *shared = NULL;
    paritas_model *model = NULL;
    paritas_status status = json_read(context, small, strlen(small), "small.json", &lender);
    if (status != PARITAS_OK) return status;
    status = paritas_workspace_prepare(context, lender);
    if (status == PARITAS_OK) status = json_share(context, lender, &shared);
    if (status == PARITAS_OK) status = paritas_model_create(context, shared, NULL, &model);
    paritas_model_free(model);
    paritas_workspace_free(shared);
    paritas_workspace_free(lender);
    return status;
}

static paritas_status apply_a_patch(paritas_context *context)
{
    struct paritas_workspace *workspace, *set = NULL, *patched = NULL;
    paritas_status status = json_read(context, small, strlen(small), "small.json", &workspace);
    if (status != PARITAS_OK) return status;
    char digest[72];
    status = paritas_workspace_digest(context, workspace, digest);
    if (status == PARITAS_OK) {
        const char *text = swapped(set_text, DIGEST, digest + 7);
        status = json_read(context, text, strlen(text), "set.json", &set);
    }
    if (status == PARITAS_OK) status = paritas_patchset_apply(context, workspace, set, "b", &patched);
    paritas_workspace_free(workspace);
    paritas_workspace_free(set);
    paritas_workspace_free(patched);
    return status;
}

TEST(an_allocation_that_fails_anywhere_is_an_error)
{
    check_every_failure(apply_a_patch);
    check_every_failure(share_a_reading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_are_counted_named_and_applied),
        cmocka_unit_test(a_set_is_checked_once_and_a_wrong_one_every_time),
        cmocka_unit_test(a_patch_set_of_another_workspace_is_refused_with_both_digests),
        cmocka_unit_test(a_patch_that_does_not_fit_is_named_with_its_place),
        cmocka_unit_test(what_is_no_patch_set_is_refused_with_its_place),
        cmocka_unit_test(samples_that_documents_share_are_read_as_their_own),
        cmocka_unit_test(an_allocation_that_fails_anywhere_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
