/* compatibility.c: do channels agree on the parameter of interest? */
#include "commands/models/toy_runs.h"
#include "print/record_output.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"--group", OPTION_TEXT, "NAME=PATTERN",
     "one parameter for the channels that match (* is any text, ? one character); repeatable. Default: one "
     "for each channel"},
    {"--toys", OPTION_FLAG, NULL, "also the p-value by toys drawn at the common fit; --ntoys N implies it"},
    {0},
};

struct compared {
    paritas_compatibility_result result;
    paritas_gof_toys_result by_toys;
    struct toy_run toys;
    size_t n;
    const char **names; /* of the groups' parameters */
    paritas_compatibility_group *groups;
};

static paritas_status read_groups(struct session *session, paritas_names *groups)
{
    const char **items = arena_elements(session, 2 * session->arguments->n_given, sizeof *items);
    size_t at = 0;
    TRY(allocated(session));
    for (const struct given *given; (given = option_next(session, "--group", &at));) {
        const char *equals = strchr(given->text, '=');
        if (!equals || equals == given->text || equals[1] == '\0')
            return usage_failure(session, "--group takes NAME=PATTERN, not '%s'", given->text);
        items[groups->count++] = arena_copied(session, given->text, (size_t)(equals - given->text));
        items[groups->count++] = equals + 1;
        TRY(allocated(session));
    }
    groups->items = items;
    return PARITAS_OK;
}

static paritas_status make_separate(struct session *session, paritas_model **separate)
{
    paritas_split_options split = PARITAS_SPLIT_OPTIONS_DEFAULT;
    paritas_workspace *workspace;
    split.parameter = poi_name(session);
    TRY(read_groups(session, &split.groups));
    TRY(paritas_workspace_split(session->context, session->workspace, &split, &workspace));
    const paritas_status status = create_model_of(session, workspace, separate);
    paritas_workspace_free(workspace);
    return status;
}

static bool by_toys_asked(const struct session *session)
{
    return option_flag(session, "--toys") || option_given(session, "--ntoys");
}

static paritas_status compare_toys(struct session *session, const paritas_model *separate, struct compared *c)
{
    c->by_toys.size = sizeof c->by_toys;
    TRY(toy_run_open(session, &c->toys));
    TRY(paritas_compatibility_toys(session->context, session->model, &session->job, separate,
                                   &c->toys.options, &c->by_toys, &c->result, c->groups));
    toy_run_close(session, &c->toys, &c->by_toys.tally);
    return PARITAS_OK;
}

static paritas_status compare(struct session *session, const paritas_model *separate, struct compared *c)
{
    c->n = paritas_model_poi_count(separate);
    c->names = arena_elements(session, c->n, sizeof *c->names);
    c->groups = arena_records(session, c->n, sizeof *c->groups);
    TRY(allocated(session));
    for (size_t k = 0; k < c->n; k++) {
        const char *name = paritas_model_parameter_name(separate, paritas_model_pois(separate)[k]);
        c->names[k] = arena_copied(session, name, strlen(name));
    }
    TRY(allocated(session));
    if (by_toys_asked(session)) return compare_toys(session, separate, c);
    return paritas_compatibility(session->context, session->model, &session->job, separate, &c->result,
                                 c->groups);
}

static paritas_status analyse(struct session *session, void *result)
{
    struct compared *c = result;
    paritas_model *separate;
    c->result.size = sizeof c->result;
    TRY(make_separate(session, &separate));
    const paritas_status status = compare(session, separate, c);
    paritas_model_free(separate);
    TRY(status);
    note_status(session, c->result.status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct compared *c = result;
    write_record(w, "paritas_compatibility_result", &c->result);
    if (by_toys_asked(session)) {
        write_record(w, "paritas_gof_toys_result", &c->by_toys);
        toy_run_write(w, &c->toys);
    }
    write_array(w, "groups", true);
    for (size_t k = 0; k < c->n; k++)
        write_record_row(w, c->names[k], "paritas_compatibility_group", &c->groups[k]);
    write_close(w);
}

/* Is a value at a bound, or where the likelihood is flat? */
static bool any_undetermined(const struct compared *c)
{
    for (size_t k = 0; k < c->n; k++)
        if (isnan(c->groups[k].error)) return true;
    return false;
}

static void write_text(struct session *session, const void *result)
{
    const struct compared *c = result;
    const paritas_compatibility_result *r = &c->result;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "chi2 = %s for %zu degrees of freedom", shown(r->statistic, 6).text, r->ndof);
    if (r->ndof > 0)
        text_format(out, ", p = %s\n", shown(r->p, 4).text);
    else
        text_format(out, ": no p-value\n");
    if (by_toys_asked(session))
        text_format(out, "by toys p = %s +- %s\n", shown(c->by_toys.p, 4).text,
                    shown(c->by_toys.p_error, 2).text);
    describe_fits(out, "fits", r->status, poi_name(session), r->mu);
    describe_widening(session, r->bound_widened != 0, r->upper_bound, r->mu);
    text_format(out, "\n");
    table_open(&table, out, "parameter|value|error|minos||state", "l 6 4 4 4 l");
    table_row(&table, poi_name(session), r->mu, r->error, NAN, NAN, "");
    for (size_t k = 0; k < c->n; k++)
        table_row(&table, c->names[k], c->groups[k].mu, c->groups[k].error, c->groups[k].down,
                  c->groups[k].up, state_word(c->groups[k].state));
    table_close(&table);
    if (r->ndof > 0 && r->status == PARITAS_FIT_CONVERGED && any_undetermined(c))
        text_format(out,
                    "\nA value without an error counts as a degree of freedom, so p may be too large.%s\n",
                    by_toys_asked(session) ? " The toys' is not." : " --toys gives p without the formula.");
    if (by_toys_asked(session)) toy_run_describe(out, &c->toys);
}

const struct command command_compatibility = {
    .name = "compatibility",
    .operands = "WORKSPACE",
    .summary = "do channels agree on the parameter of interest?",
    .description =
        "A fit with one parameter of interest is compared with a fit that has one for each group of "
        "channels. All other parameters stay common. chi2 is the difference of 2 NLL. --toys counts the "
        "toys whose chi2 is at least the observed one.",
    .groups = {GROUP_OPTIONS, GROUP_NEWTON_TOYS("--toys or --ntoys N"), GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct compared),
            .needs_poi = true,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
