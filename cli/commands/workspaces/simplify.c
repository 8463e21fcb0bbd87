/* simplify.c: a workspace as a simplified likelihood, and published moments as a workspace. */
#include "print/document_output.h"

#include <string.h>

static const struct option options[] = {
    {"--control", OPTION_TEXT, "PATTERN",
     "control channels, which constrain the background and are left out of the answer (* is any text, ? one "
     "letter; repeatable)"},
    LIBRARY_ROWS(PARITAS_SIMPLIFY_OPTIONS, paritas_simplify_options),
    {"--to", OPTION_CHOICE, "linear|quadratic|common|moments",
     "form of the answer: a workspace, or moments as arrays", "linear"},
    {0},
};

static paritas_status find_moments(struct session *session, paritas_workspace **moments)
{
    paritas_simplify_options simplify = PARITAS_SIMPLIFY_OPTIONS_DEFAULT;
    paritas_model_options model = model_options(session);
    paritas_names control;
    model.poi = option_text(session, "--poi");
    TRY(options_take(session, "paritas_simplify_options", &simplify));
    TRY(list_of(session, "--control", &control));
    simplify.control = control.items;
    simplify.n_control = control.count;
    return paritas_simplify(session->context, session->workspace, &model, &simplify, moments);
}

static bool is_moments(const struct json *root)
{
    return json_get(root, "covariance") && !json_get(root, "measurements");
}

static int run(struct session *session)
{
    int form = PARITAS_SIMPLIFIED_LINEAR;
    const char *to = option_text(session, "--to");
    paritas_workspace *moments = NULL, *workspace = NULL;
    TRY(load_workspace(session));
    if (!is_moments(session->workspace->root)) TRY(find_moments(session, &moments));
    if (strcmp(to, "moments") == 0) {
        if (moments) return answer_made(session, PARITAS_OK, moments);
        answer_document(session, session->workspace->root);
        return PARITAS_OK;
    }
    paritas_enumeration_value(paritas_enumeration_find("paritas_simplified"), to, &form);
    const paritas_status status = paritas_simplified_workspace(
        session->context, moments ? moments : session->workspace, (paritas_simplified)form, &workspace);
    paritas_workspace_free(moments);
    return answer_made(session, status, workspace);
}

const struct command command_simplify = {
    .name = "simplify",
    .operands = "FILE",
    .summary = "a workspace as a simplified likelihood",
    .description =
        "The answer is a workspace with the moments of the background in all channels without --control. "
        "Its rates are a + b theta + c theta^2 (arXiv:1809.05548). FILE may also hold moments: a JSON "
        "object "
        "with `observed`, `background`, `covariance` and perhaps `third_moments`, `signal` and `channels`.",
    .groups = {GROUP_OPTIONS, GROUP_PATCHES, GROUP_MODEL, GROUP_OUTPUT},
    .run = run,
};
