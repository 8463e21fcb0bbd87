/* fuzz_moments.c: an input is a document of moments. It is refused at a key, or becomes workspaces that make
 * models. */
#include "fuzzing.h"
#include "paritas.h"
#include "paritas_simplified.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_workspace *moments, *made;
    if (paritas_workspace_parse(&context, (const char *)data, size, "fuzz", &moments)) return 0;
    for (int form = PARITAS_SIMPLIFIED_LINEAR; form <= PARITAS_SIMPLIFIED_COMMON; form++) {
        paritas_model *model;
        const paritas_status status =
            paritas_simplified_workspace(&context, moments, (paritas_simplified)form, &made);
        if (status) {
            check(status == PARITAS_INVALID_INPUT && strncmp(context.message, "fuzz: ", 6) == 0);
            continue;
        }
        if (paritas_model_create(&context, made, NULL, &model) == PARITAS_OK) paritas_model_free(model);
        paritas_workspace_free(made);
    }
    paritas_workspace_free(moments);
    return 0;
}
