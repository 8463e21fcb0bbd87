/* fuzz_patchset.c: an input is a JSON array [workspace, patch set]. The patch set is refused with a message
 * that names the file and a place, or its patches have names, and each is applied to the document beside it
 * or refused; what comes out goes to the reader of workspaces. Digests are computed and compared, but a wrong
 * one does not end the journey. */
#include "fuzzing.h"
#include "histfactory/workspace/patchset.h"
#include "histfactory/workspace/workspace_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply_all(paritas_context *context, const paritas_workspace *workspace,
                      const paritas_workspace *set, size_t count)
{
    const char *name;
    paritas_workspace *patched;
    struct hf_spec *spec;
    size_t index = 0;
    for (const struct json *entry = json_get(set->root, "patches")->first; entry != NULL;
         entry = entry->next, index++) {
        const struct json *metadata = json_get(entry, "metadata");
        check(json_get(metadata, "values")->count ==
              json_get(json_get(set->root, "metadata"), "labels")->count);
        if (index < 4) {
            check(paritas_patchset_name(context, set, index, &name) == PARITAS_OK);
            check(name != NULL && strcmp(name, json_get(metadata, "name")->text) == 0);
        }
        paritas_status status = hf_patchset_apply_entry(context, workspace, set, entry, index, &patched);
        check((status == PARITAS_OK) == (patched != NULL));
        if (status == PARITAS_OK) {
            status = hf_spec_read(context, patched, NULL, NULL, &spec);
            check(status == PARITAS_OK || status == PARITAS_INVALID_INPUT);
            hf_spec_free(spec);
        } else {
            check(status == PARITAS_INVALID_INPUT && strncmp(context->message, "set: patches[", 13) == 0);
        }
        paritas_workspace_free(patched);
    }
    check(index == count);
    check(paritas_patchset_name(context, set, count, &name) == PARITAS_NOT_FOUND && name == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_workspace *input, *workspace, *set, *patched;
    size_t count;
    if (paritas_workspace_parse(&context, (const char *)data, size, "fuzz", &input)) return 0;
    const struct json *pair = input->root;
    if (json_is(pair, JSON_ARRAY) && pair->count == 2) {
        check(json_copy(&context, pair->first, "workspace", &workspace) == PARITAS_OK);
        check(json_copy(&context, pair->last, "set", &set) == PARITAS_OK);
        paritas_status status = paritas_patchset_count(&context, set, &count);
        if (status == PARITAS_OK) {
            check(count == json_get(set->root, "patches")->count);
            status = paritas_patchset_verify(&context, workspace, set);
            check(status == PARITAS_OK || (status == PARITAS_INVALID_INPUT &&
                                           strncmp(context.message, "set: metadata.digests.", 22) == 0));
            apply_all(&context, workspace, set, count);
        } else {
            check(status == PARITAS_INVALID_INPUT && strncmp(context.message, "set: ", 5) == 0);
            check(paritas_patchset_apply(&context, workspace, set, "a", &patched) == status &&
                  patched == NULL);
        }
        paritas_workspace_free(set);
        paritas_workspace_free(workspace);
    }
    paritas_workspace_free(input);
    return 0;
}
