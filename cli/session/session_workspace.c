/* session_workspace.c: the workspace of a run, patched. */
#include "session/session.h"
#include "outputs.h"
#include "print/document_output.h"
#include "base/platform.h"
#include "paritas_datacard.h"

bool wants_patchset(const struct arguments *arguments)
{
    return argument_given(arguments, "--patchset") && !argument_given(arguments, "--patch-name");
}

static paritas_status apply_patch(struct session *session, const char *path, const char *name)
{
    paritas_context *context = session->context;
    paritas_workspace *patch = NULL, *patched = NULL;
    paritas_status status = paritas_workspace_read(context, path, &patch);
    if (status == PARITAS_OK)
        status = name ? paritas_patchset_apply(context, session->workspace, patch, name, &patched)
                      : paritas_workspace_patch(context, session->workspace, patch, &patched);
    if (status == PARITAS_OK) {
        paritas_workspace_free(session->workspace);
        session->workspace = patched;
    }
    paritas_workspace_free(patch);
    return status;
}

static paritas_status apply_masks(struct session *session)
{
    paritas_names masks;
    paritas_workspace *masked;
    TRY(list_of(session, "--mask", &masks));
    if (masks.count == 0) return PARITAS_OK;
    TRY(paritas_workspace_mask(session->context, session->workspace, &masks, &masked));
    paritas_workspace_free(session->workspace);
    session->workspace = masked;
    return PARITAS_OK;
}

paritas_status apply_patches(struct session *session)
{
    size_t at = 0;
    for (const struct given *given; (given = option_next(session, "--patch", &at));)
        TRY(apply_patch(session, given->text, NULL));
    return apply_masks(session);
}

/* What is made of a large document is about twice its size. */
static void prepare_memory(const char *path)
{
    struct platform_info file;
    const uint64_t least = 512 << 10, most = 256 << 20;
    if (!platform_info(path, &file) || file.kind != PLATFORM_FILE || file.size < least) return;
    platform_enlarge_pages(2 * (size_t)(file.size < most ? file.size : most));
}

paritas_status read_document(struct session *session, const char *path, paritas_workspace **workspace)
{
    paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    options.mass = option_text(session, "--mass");
    options.exact = option_flag(session, "--exact");
    TRY(list_of(session, "--map", &options.maps));
    return paritas_document_read(session->context, path, &options, workspace);
}

paritas_status load_workspace_of(struct session *session, const char *path)
{
    const char *patchset = option_text(session, "--patchset"), *name = option_text(session, "--patch-name");
    prepare_memory(path);
    TRY(read_document(session, path, &session->workspace));
    TRY(refuse_read_output(session));
    if (patchset && name) TRY(apply_patch(session, patchset, name));
    return apply_patches(session);
}

paritas_status load_workspace(struct session *session)
{
    return load_workspace_of(session, session->arguments->operands[0]);
}
