/* combine.c: joins two workspaces, or datacards. */
#include "print/document_output.h"
#include "base/platform.h"
#include "paritas_datacard.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"--join", OPTION_CHOICE, "none|outer|left outer|right outer", "rule for items in both workspaces",
     "none", .letter = 'j'},
    {"--merge-channels", OPTION_FLAG, NULL, "merge the samples of channels with the same name"},
    {"--no-merge-channels", OPTION_FLAG, NULL, "channels with the same name follow --join; the default"},
    {0},
};

/* LABEL=CARD apart. The label is empty if there is none, as in the name of a file that is there. */
static paritas_status split_operand(struct session *session, const char *operand, const char **label,
                                    const char **path)
{
    const char *equals = platform_exists(operand) ? NULL : strchr(operand, '=');
    const size_t length = equals ? (size_t)(equals - operand) : 0;
    char *copy = arena_elements(session, length + 1, 1);
    TRY(allocated(session));
    memcpy(copy, operand, length);
    *label = copy;
    *path = equals ? equals + 1 : operand;
    return PARITAS_OK;
}

static paritas_status combine_cards(struct session *session, const char *const *labels,
                                    const char *const *paths)
{
    const char *output = option_text(session, "--output-file");
    const bool is_file = output && strcmp(output, "-") != 0;
    char *folder = is_file ? platform_folder_of(output) : NULL, *card = NULL;
    paritas_status status = paritas_datacard_combine(session->context, session->arguments->n_operands, labels,
                                                     paths, folder, &card);
    free(folder);
    if (status == PARITAS_OK) text_append(&session->out, card, strlen(card));
    paritas_text_free(session->context, card);
    return status;
}

static paritas_status combine_workspaces(struct session *session, const char *second)
{
    paritas_workspace *right = NULL, *combined = NULL;
    const bool merge =
        option_flag(session, "--merge-channels") && !option_flag(session, "--no-merge-channels");
    TRY(load_workspace(session));
    TRY(read_document(session, second, &right));
    const paritas_status status = paritas_workspace_combine(session->context, session->workspace, right,
                                                            option_text(session, "--join"), merge, &combined);
    paritas_workspace_free(right);
    return answer_made(session, status, combined);
}

/* Also what is not there: the reader says so. */
static bool is_card(const char *path)
{
    return paritas_is_datacard(path) || (strcmp(path, "-") != 0 && !platform_exists(path));
}

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    const size_t n = arguments->n_operands;
    size_t n_cards = 0;
    const char **labels = arena_elements(session, n, sizeof *labels),
               **paths = arena_elements(session, n, sizeof *paths);
    TRY(allocated(session));
    for (size_t i = 0; i < n; i++) {
        TRY(split_operand(session, arguments->operands[i], &labels[i], &paths[i]));
        n_cards += is_card(paths[i]);
    }
    if (n_cards == n) return combine_cards(session, labels, paths);
    if (n_cards > 0)
        return usage_failure(session,
                             "combine takes workspaces or datacards, not both: `paritas convert CARD` "
                             "makes a workspace");
    if (n > 2) return usage_failure(session, "combine takes two workspaces");
    return combine_workspaces(session, arguments->operands[1]);
}

const struct command command_combine = {
    .name = "combine",
    .operands = "WORKSPACE WORKSPACE...",
    .summary = "two workspaces into one, or CMS datacards",
    .description =
        "Workspaces: with --join none no item may be in both. outer: an item in both must be equal. left "
        "outer, right "
        "outer: that side wins. Datacards: LABEL=CARD ..., two or more, become a datacard; a channel becomes "
        "LABEL_CHANNEL, or LABEL in a card of one channel. Without a label it is ch1, ch2 and so on.",
    .groups = {GROUP_OPTIONS, GROUP_OUTPUT},
    .run = run,
};
