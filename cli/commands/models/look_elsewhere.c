/* look_elsewhere.c: global significance of the largest excess in a patch set. */
#include "base/math/probability.h"
#include "commands/models/patch_runs.h"
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    LIBRARY_ROW("--upcrossed", paritas_look_elsewhere_request),
    {0},
};

/* A patch: its own session has the model. */
struct place {
    const struct patch *patch;
    struct session session;
};

struct look {
    struct session *session;
    struct patches patches;
    struct place *places;
    size_t n, n_open;
    const paritas_model *background;
    paritas_job background_job;
    int ordered; /* along the only number of each patch */
    paritas_look_elsewhere_point *points;
    paritas_look_elsewhere_result result;
    struct toy_run toys;
};

/* Values of q0 belong to one parameter of interest. */
static paritas_status check_poi(struct look *look)
{
    const char *first = poi_name(&look->places[0].session);
    for (size_t k = 1; k < look->n; k++) {
        const char *name = poi_name(&look->places[k].session);
        if (strcmp(name, first) != 0)
            return wrong_input(look->session, "%s: the parameter of interest is %s, in %s it is %s",
                               look->places[k].patch->name, name, look->places[0].patch->name, first);
    }
    return PARITAS_OK;
}

/* "models[6]: why" becomes "m500: why". */
static paritas_status name_patch(struct look *look, paritas_status status)
{
    static const char start[] = "models[";
    char message[sizeof look->session->context->message];
    memcpy(message, look->session->context->message, sizeof message);
    if (status == PARITAS_OK || strncmp(message, start, sizeof start - 1) != 0) return status;
    char *end;
    const unsigned long k = strtoul(message + sizeof start - 1, &end, 10);
    if (*end != ']' || k >= look->n) return status;
    return paritas_fail(look->session->context, status, "%s%s", look->places[k].patch->name, end + 1);
}

static bool has_modifiers(const struct json *root)
{
    const struct json *channels = json_get(root, "channels");
    for (const struct json *channel = channels ? channels->first : NULL; channel; channel = channel->next) {
        const struct json *samples = json_get(channel, "samples");
        for (const struct json *one = samples ? samples->first : NULL; one; one = one->next) {
            const struct json *modifiers = json_get(one, "modifiers");
            if (modifiers && modifiers->count > 0) return true;
        }
    }
    return false;
}

/* Leaves a background without parameters NULL: it is no model. */
static paritas_status load_background(struct look *look)
{
    struct session *session = look->session;
    if (!has_modifiers(look->patches.background->root)) return PARITAS_OK;
    session->poi_if_there = poi_name(&look->places[0].session);
    TRY(load_model(session));
    look->background = session->model;
    look->background_job = session->job;
    return PARITAS_OK;
}

/* The background's model stays in the command's session. */
static paritas_status load_places(struct look *look)
{
    struct session *session = look->session;
    TRY(patches_open(session, &look->patches));
    look->n = look->patches.n;
    look->places = arena_elements(session, look->n, sizeof *look->places);
    look->points = arena_records(session, look->n, sizeof *look->points);
    size_t *order = arena_elements(session, look->n, sizeof *order);
    TRY(allocated(session));
    TRY(paritas_patchset_order(session->context, look->patches.patchset, look->n, order, &look->ordered));
    if (!look->ordered && option_given(session, "--upcrossed"))
        return usage_failure(session, "--upcrossed has no effect: patches stand in order along a line only "
                                      "where each has one number; leave it out");
    for (size_t k = 0; k < look->n; k++) look->places[k].patch = &look->patches.items[order[k]];
    const bool progress = session->progress.on;
    for (; look->n_open < look->n; look->n_open++) {
        struct place *place = &look->places[look->n_open];
        session_share(&place->session, session);
        const paritas_status status = patch_load(&place->session, &look->patches, place->patch);
        if (status == PARITAS_OK) continue;
        look->n_open++;
        session->wrong_usage = place->session.wrong_usage;
        char message[sizeof session->context->message];
        memcpy(message, session->context->message, sizeof message);
        return paritas_fail(session->context, status, "%s: %s", place->patch->name, message);
    }
    TRY(check_poi(look));
    session->progress.on = progress; /* sessions that share a context end it */
    return load_background(look);
}

static paritas_status run_toys(struct look *look)
{
    struct session *session = look->session;
    const paritas_model **models = arena_elements(session, look->n, sizeof *models);
    paritas_job *jobs = arena_elements(session, look->n, sizeof *jobs);
    TRY(allocated(session));
    for (size_t k = 0; k < look->n; k++) {
        models[k] = look->places[k].session.model;
        jobs[k] = look->places[k].session.job;
    }
    const paritas_look_elsewhere_request request = {
        .size = sizeof request,
        .n_points = look->n,
        .models = models,
        .jobs = jobs,
        .background = look->background,
        .background_job = &look->background_job,
        .upcrossed = look->ordered ? option_number(session, "--upcrossed") : 0.0,
        .points = look->points};
    look->result.size = sizeof look->result;
    TRY(toy_run_open(session, &look->toys));
    TRY(name_patch(look,
                   paritas_look_elsewhere(session->context, &request, &look->toys.options, &look->result)));
    toy_run_close(session, &look->toys, &look->result.tally);
    note_status(session, look->result.status);
    return PARITAS_OK;
}

static void write_answer(struct look *look)
{
    struct writer *w = &look->session->writer;
    const paritas_look_elsewhere_result *r = &look->result;
    write_object(w, NULL, true);
    write_string(w, "largest", look->places[r->point].patch->name);
    write_record(w, "paritas_look_elsewhere_result", r);
    toy_run_write(w, &look->toys);
    write_array(w, "points", true);
    for (size_t k = 0; k < look->n; k++) {
        write_object(w, NULL, false);
        write_string(w, "name", look->places[k].patch->name);
        write_tree(w, "values", look->places[k].patch->values);
        write_record(w, "paritas_look_elsewhere_point", &look->points[k]);
        write_close(w);
    }
    write_close(w);
    write_string(w, "poi", poi_name(&look->places[0].session));
    write_device(look->session);
    write_string(w, "polish", paritas_polish_name(look->session->context));
    write_close(w);
}

static void print_row(struct table *table, const char *name, double z, double z_error, double p,
                      double p_error)
{
    if (isnan(p)) return;
    table_row(table, name, z, z_error, p, p_error);
}

/* The factor comes from toys, or from the asymptotic local p-value if few toys reach it. */
static void print_trial_factor(struct text *out, const paritas_look_elsewhere_result *r)
{
    if (!(r->q0 > 0.0)) return;
    if (!isnan(r->trial_factor))
        text_format(out, "\nTrial factor %.3g +- %.2g\n", r->trial_factor, r->trial_factor_error);
    else if (r->p_global > 0.0)
        text_format(out,
                    "\nTrial factor %.3g +- %.2g: global p over the asymptotic local p, since no toy reaches "
                    "q0 at this patch\n",
                    r->p_global / r->p_local, r->p_global_error / r->p_local);
    else
        text_format(out, "\nNo trial factor: no toy reaches the largest q0; raise --ntoys\n");
}

/* Of a p-value by toys; NaN where no toy, or every toy, is as large. */
static double significance_of(double p)
{
    return p > 0.0 && p < 1.0 ? -normal_quantile(p) : (double)NAN;
}

static void print_answer(struct look *look)
{
    const paritas_look_elsewhere_result *r = &look->result;
    struct text *out = &look->session->out;
    struct table table;
    table_open(&table, out, "patch|q0|Z local|p local|by toys|error|best fit|", "l 4 .4 5 5 2 4 l");
    for (size_t k = 0; k < look->n; k++) {
        const paritas_look_elsewhere_point *p = &look->points[k];
        table_row(&table, look->places[k].patch->name, p->q0, p->z_local, p->p_local, p->p_local_toys,
                  p->p_local_toys_error, p->mu_hat, failure_word(p->status));
    }
    table_close(&table);
    if (r->q0 > 0.0)
        text_format(out, "\nLargest excess: %s, q0 = %.6g\n\n", look->places[r->point].patch->name, r->q0);
    else
        text_format(out, "\nNo patch has an excess: the largest q0 is 0\n\n");
    table_open(&table, out, "|Z|error|p|error", "l .4 2 5 2");
    print_row(&table, "local, asymptotic", r->z_local, NAN, r->p_local, NAN);
    print_row(&table, "local, by toys", significance_of(r->p_local_toys), NAN, r->p_local_toys,
              r->p_local_toys_error);
    print_row(&table, "global, by toys", r->z_global, r->z_global_error, r->p_global, r->p_global_error);
    print_row(&table, "global, by upcrossings", significance_of(r->p_upcrossings), NAN, r->p_upcrossings,
              r->p_upcrossings_error);
    table_close(&table);
    print_trial_factor(out, r);
    if (!isnan(r->z_at_least))
        text_format(out, "\nNo toy is as large: global Z > %.4f at 95 %% confidence\n", r->z_at_least);
    toy_run_describe(out, &look->toys);
}

static paritas_status look_elsewhere(struct look *look)
{
    struct session *session = look->session;
    TRY(load_places(look));
    TRY(run_toys(look));
    if (session->json)
        write_answer(look);
    else
        print_answer(look);
    return PARITAS_OK;
}

static int run(struct session *session)
{
    if (!wants_patchset(session->arguments))
        return usage_failure(session, "look-elsewhere needs --patchset FILE: a signal in each patch");
    struct look *look = arena_elements(session, 1, sizeof *look);
    TRY(allocated(session));
    look->session = session;
    const paritas_status status = look_elsewhere(look);
    char message[sizeof session->context->message]; /* which closing clears: the context is shared */
    memcpy(message, session->context->message, sizeof message);
    for (size_t k = 0; k < look->n_open; k++) session_close(&look->places[k].session);
    patches_close(&look->patches);
    memcpy(session->context->message, message, sizeof message);
    return status;
}

const struct command command_look_elsewhere = {
    .name = "look-elsewhere",
    .operands = "WORKSPACE",
    .summary = "global significance of the largest excess in a patch set",
    .description = "Each patch is a signal on the same background. Toys of the background are fitted at all "
                   "patches. The "
                   "global p-value is the part of the toys whose largest q0 is at least the observed one. "
                   "All patches see "
                   "the same toy: equal main data, and equal auxiliary data of parameters that they share. "
                   "If each patch "
                   "has one number, patches are sorted by it, and upcrossings give a second estimate (Gross "
                   "and Vitells, "
                   "arXiv:1005.1891).",
    .groups = {GROUP_OPTIONS,
               GROUP_UNKEPT_TOYS,
               GROUP_STATISTIC,
               {"Workspace", options_patches, .without = "--patch-name"},
               GROUP_MODEL,
               GROUP_ENGINE,
               GROUP_OUTPUT},
    .whole_sets = true,
    .run = run,
};
