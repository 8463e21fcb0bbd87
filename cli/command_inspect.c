/* command_inspect.c: what a workspace holds. */
#include "document_output.h"
#include "histfactory/workspace_spec.h"
#include "table.h"

#include <math.h>

static const char *constraint_name(hf_constraint constraint)
{
    return constraint == HF_GAUSSIAN ? "gaussian" : constraint == HF_POISSON ? "poisson" : "unconstrained";
}

static void write_parameter(struct writer *w, const struct session *session, size_t i,
                            hf_constraint constraint)
{
    const paritas_model *model = session->model;
    write_object(w, NULL, false);
    write_string(w, "name", paritas_model_parameter_name(model, i));
    write_string(w, "constraint", constraint_name(constraint));
    write_number(w, "init", paritas_model_suggested_init(model)[i]);
    const double bounds[2] = {paritas_model_lower_bounds(model)[i], paritas_model_upper_bounds(model)[i]};
    write_numbers(w, "bounds", 2, bounds);
    write_bool(w, "fixed", paritas_model_suggested_fixed(model)[i]);
    write_close(w);
}

static void write_json(struct session *session, const struct json *summary, const struct hf_spec *spec)
{
    struct writer *w = &session->writer;
    const paritas_model *model = session->model;
    write_object(w, NULL, true);
    write_string(w, "poi", poi_name(session));
    write_array(w, "model_channels", true);
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        write_object(w, NULL, false);
        write_string(w, "name", paritas_model_channel_name(model, c));
        write_integer(w, "bins", paritas_model_channel_bins(model, c));
        write_array(w, "samples", false);
        for (size_t s = 0; s < paritas_model_sample_count(model, c); s++)
            write_string(w, NULL, paritas_model_sample_name(model, c, s));
        write_close(w);
        write_close(w);
    }
    write_close(w);
    write_array(w, "model_parameters", true);
    for (size_t k = 0; k < spec->n_sets; k++)
        for (size_t i = 0; i < spec->sets[k].size; i++)
            write_parameter(w, session, spec->sets[k].first + i, spec->sets[k].constraint);
    write_close(w);
    for (const struct json *entry = summary->first; entry != NULL; entry = entry->next)
        write_tree(w, entry->key, entry);
    write_close(w);
}

/* Leftovers that pyhf ignores and a person should know of. */
static void describe_unused(struct text *out, const struct json *unused)
{
    const struct json *observations = json_get(unused, "observations"),
                      *parameters = json_get(unused, "parameters"), *pois = json_get(unused, "pois");
    for (const struct json *one = observations != NULL ? observations->first : NULL; one != NULL;
         one = one->next)
        text_format(out, "unused: observation of '%s', which is no channel\n", one->text);
    for (const struct json *one = parameters != NULL ? parameters->first : NULL; one != NULL; one = one->next)
        text_format(out, "unused: measurement '%s' configures '%s', which is no parameter\n",
                    json_at(one, 0)->text, json_at(one, 1)->text);
    for (const struct json *one = pois != NULL ? pois->first : NULL; one != NULL; one = one->next)
        text_format(out,
                    "unused: measurement '%s' names the parameter of interest '%s', which is no parameter\n",
                    json_at(one, 0)->text, json_at(one, 1)->text);
}

static void write_tables(struct session *session, const struct json *summary, const struct hf_spec *spec)
{
    struct text *out = &session->out;
    const paritas_model *model = session->model;
    const paritas_allocator *allocator = &session->context->allocator;
    struct table table;
    text_format(out, "%zu channels, %zu bins, %zu parameters, %zu auxiliary data\n",
                paritas_model_channel_count(model), session->n_main, session->n_parameters, session->n_aux);
    text_format(out, "Parameter of interest: %s\n\n", poi_name(session) != NULL ? poi_name(session) : "none");
    table_open(&table, allocator, "channel|bins|samples", "lrl");
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        for (size_t s = 0; s < paritas_model_sample_count(model, c); s++) {
            table_text(&table, s == 0 ? paritas_model_channel_name(model, c) : "");
            if (s == 0)
                table_format(&table, "%zu", paritas_model_channel_bins(model, c));
            else
                table_text(&table, "");
            table_text(&table, paritas_model_sample_name(model, c, s));
        }
    }
    table_close(&table, out);
    text_append(out, "\n", 1);
    table_open(&table, allocator, "parameters|size|constraint|start|bounds|", "lrlrll");
    for (size_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        table_text(&table, set->name);
        table_format(&table, "%u", set->size);
        table_text(&table, constraint_name(set->constraint));
        table_number(&table, set->init[0], 6);
        table_format(&table, "%.6g .. %.6g", set->lower[0], set->upper[0]);
        size_t n_fixed = 0;
        for (size_t i = 0; i < set->size; i++) n_fixed += set->fixed[i] != 0;
        if (n_fixed == set->size)
            table_text(&table, "fixed");
        else if (n_fixed > 0)
            table_format(&table, "%zu fixed", n_fixed);
        else
            table_text(&table, "");
    }
    table_close(&table, out);
    text_append(out, "\n", 1);
    table_open(&table, allocator, "|measurement|poi", "lll");
    const struct json *measurements = json_get(summary, "measurements");
    const char *wanted = option_text(session->arguments, "--measurement", NULL);
    for (const struct json *one = measurements != NULL ? measurements->first : NULL; one != NULL;
         one = one->next) {
        bool used = wanted != NULL ? json_text_is(json_at(one, 0), wanted) : one == measurements->first;
        table_text(&table, used ? "*" : "");
        table_text(&table, json_at(one, 0)->text);
        table_text(&table, json_at(one, 1)->text);
    }
    table_close(&table, out);
    describe_unused(out, json_get(summary, "unused"));
}

static int run(struct session *session)
{
    struct paritas_workspace *summary = NULL;
    struct hf_spec *spec = NULL;
    const struct arguments *arguments = session->arguments;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK)
        status = paritas_workspace_inspect(session->context, session->workspace, &summary);
    if (status == PARITAS_OK)
        status =
            hf_spec_read(session->context, session->workspace, option_text(arguments, "--measurement", NULL),
                         option_text(arguments, "--poi", NULL), &spec);
    if (status == PARITAS_OK && session->json) write_json(session, summary->root, spec);
    if (status == PARITAS_OK && !session->json) write_tables(session, summary->root, spec);
    hf_spec_free(spec);
    paritas_workspace_free(summary);
    return status;
}

const struct command command_inspect = {
    .name = "inspect",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "channels, samples, parameters, measurements, and what is left unused",
    .groups = {GROUP_PATCHES, GROUP_MODEL, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
