/* generate.c: data of toys, or expected data, as a file for --data. */
#include "commands/models/toy_runs.h"

static const struct option options[] = {
    OPTIONS_CENTRE,
    {"--at-start", OPTION_FLAG, NULL,
     "draw toys where fits start, without a fit: --init and --fix change it"},
    {"--expected", OPTION_FLAG, NULL, "no toys: the expected data at that point"},
    {"--any-model", OPTION_FLAG, NULL,
     "leave out the name of the model, so that other models may take the data"},
    {0},
};

static const struct option options_drawn[] = {
    {"--ntoys", .library = "paritas_toys_options"},
    {"--seed", .library = "paritas_toys_options"},
    {"--fix-aux", .library = "paritas_toys_options"},
    {0},
};

static paritas_status check(struct session *session)
{
    TRY(check_centre(session));
    const bool named = option_given(session, "--point") || option_given(session, "--expected-data");
    if (option_flag(session, "--at-start") && named)
        return usage_failure(session,
                             "--at-start says where toys are drawn: give no --point, no --expected-data");
    return PARITAS_OK;
}

static paritas_status generate(struct session *session, paritas_toy_data **data)
{
    const char *at = option_text(session, "--point"), *around = option_text(session, "--expected-data");
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_toys_request request = PARITAS_TOYS_REQUEST_DEFAULT;
    double *point = NULL, *expected = NULL;
    TRY(options_take(session, "paritas_toys_options", &toys));
    if (at || option_flag(session, "--at-start")) TRY(load_point(session, at, &point));
    if (around) TRY(load_expected(session, around, &expected));
    request.point = point;
    request.expected = expected;
    if (option_flag(session, "--expected")) request.flags = PARITAS_TOYS_EXPECTED;
    return paritas_generate(session->context, session->model, &session->job, &request, &toys, data);
}

static int run(struct session *session)
{
    paritas_toy_data *data;
    char *text;
    size_t length;
    TRY(check(session));
    TRY(load_model(session));
    TRY(generate(session, &data));
    note_status(session, data->status);
    if (option_flag(session, "--any-model")) data->model = NULL;
    const paritas_status status =
        write_toys(session, option_text(session, "--output-file"), data, &text, &length);
    paritas_toy_data_free(data);
    TRY(status);
    text_append(&session->out, text, length);
    paritas_text_free(session->context, text);
    return PARITAS_OK;
}

const struct command command_generate = {
    .name = "generate",
    .operands = "WORKSPACE",
    .summary = "data of toys, as a file for --data",
    .description =
        "The toys of `toys` with the same seed, without fits. Their JSON has the seed, the truth, "
        "and main and auxiliary data of each; -o FILE.npz writes them as arrays of NumPy. --fix mu=1 "
        "draws at the best fit with mu held at 1.",
    .groups = {GROUP_OPTIONS, {"Toys", options_drawn}, GROUPS_FIT},
    .run = run,
};
