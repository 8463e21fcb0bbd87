/* toy_data.c: data rows of toys, drawn without fits, and as files.
 *
 *   point or best fit ─► expected data ─► ensemble_draw ─► paritas_toy_data ◄─► JSON text
 *                                                                          ◄─► archive (toy_archive.c) */
#include "base/json/json.h"
#include "base/npz.h"
#include "base/platform.h"
#include "toys/toy_data.h"
#include "toys/toy_fits.h"
#include "toys/toys.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static paritas_status open_data(paritas_context *context, struct owned_toys **made)
{
    *made = paritas_allocate_clear(context, 1, sizeof **made);
    if (!*made) return paritas_fail_memory(context);
    (*made)->data.size = sizeof(*made)->data;
    (*made)->data.status = PARITAS_FIT_CONVERGED;
    (*made)->allocator = context->allocator;
    arena_open(&(*made)->arena, &context->allocator);
    return PARITAS_OK;
}

void paritas_toy_data_free(paritas_toy_data *data)
{
    if (!data) return;
    struct owned_toys *owned = (struct owned_toys *)data;
    const paritas_allocator allocator = owned->allocator;
    arena_free(&owned->arena);
    paritas_release(&allocator, owned);
}

static paritas_status hand_out(paritas_status status, struct owned_toys *made, paritas_toy_data **data)
{
    if (status == PARITAS_OK)
        *data = &made->data;
    else if (made)
        paritas_toy_data_free(&made->data);
    return status;
}

paritas_status toy_data_room(paritas_context *context, struct owned_toys *made, size_t n, double **reals)
{
    *reals = arena_array(&made->arena, n + 1, sizeof **reals);
    return *reals ? PARITAS_OK : paritas_fail_memory(context);
}

/* ---- drawing ---- */

/* Where toys are drawn, in the infer's arena. */
static paritas_status find_centre(struct infer *infer, const paritas_toys_request *request,
                                  const paritas_toys_options *options, paritas_toy_data *data,
                                  const double **expected)
{
    double *found;
    *expected = request->expected;
    data->point = request->point;
    if (*expected) return PARITAS_OK;
    if (!data->point) {
        struct infer_profile best;
        TRY(toy_fits_best(infer, &best, true, &data->point));
        data->status = best.result.status;
        infer_note_widening(infer);
    }
    TRY(toy_fits_expect(infer, options, data->point, &found));
    *expected = found;
    return PARITAS_OK;
}

static paritas_status name_model(struct infer *infer, struct owned_toys *made)
{
    char digest[72];
    TRY(paritas_model_digest(infer->context, infer->model, digest));
    made->data.model = arena_text(&made->arena, digest, strlen(digest));
    return made->data.model ? PARITAS_OK : paritas_fail_memory(infer->context);
}

static paritas_status draw(struct infer *infer, const paritas_toys_request *request,
                           const paritas_toys_options *options, struct owned_toys *made)
{
    paritas_context *context = infer->context;
    paritas_toy_data *data = &made->data;
    const double *expected;
    double *rows, *point;
    uint64_t end;
    TRY(toys_share(context, options, &data->first, &end));
    TRY(find_centre(infer, request, options, data, &expected));
    data->seed = options->seed;
    data->fix_aux = options->fix_aux;
    data->expected = (request->flags & PARITAS_TOYS_EXPECTED) != 0;
    TRY(name_model(infer, made));
    data->n = data->expected ? 1 : (size_t)(end - data->first);
    TRY(toy_data_room(context, made, data->n * infer->n_data, &rows));
    data->rows = rows;
    if (data->point) {
        TRY(toy_data_room(context, made, infer->n_parameters, &point));
        data->point = memcpy(point, data->point, infer->n_parameters * sizeof *point);
    }
    const struct ensemble_options ensemble =
        toys_ensemble(infer, options, infer->base.start, expected, TOY_FITS_PURPOSE);
    if (!data->expected) return ensemble_draw(context, &ensemble, data->first, data->n, rows);
    data->first = 0;
    memcpy(rows, expected, infer->n_data * sizeof *rows);
    return ensemble_check(context, infer->model, expected);
}

paritas_status paritas_generate(paritas_context *context, const paritas_model *model, const paritas_job *job,
                                const paritas_toys_request *given, const paritas_toys_options *given_options,
                                paritas_toy_data **data)
{
    REQUIRE(context, model, data);
    struct owned_toys *made;
    paritas_toys_options options;
    paritas_toys_request request = PARITAS_TOYS_REQUEST_DEFAULT;
    *data = NULL;
    TRY(SIZED_TAKE(context, paritas_toys_request, "request", given, &request));
    TRY(toys_take_options(context, given_options, &options));
    TRY(toy_request_check(context, model, &request, PARITAS_TOYS_EXPECTED));
    TRY(open_data(context, &made));
    struct infer infer;
    paritas_status status = infer_open_for_toys(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = draw(&infer, &request, &options, made);
    infer_close(&infer);
    return hand_out(status, made, data);
}

/* ---- writing ---- */

const char *toy_data_digest(const paritas_toy_data *data)
{
    return data->size == sizeof *data ? data->model : NULL; /* earlier versions had no `model` */
}

static void write_numbers(struct text *text, const char *key, size_t n, const double *values)
{
    text_format(text, ", \"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) text_append(text, ", ", 2);
        text_number(text, values[i]);
    }
    text_append(text, "]", 1);
}

static void write_key(struct text *text, size_t place, const char *name)
{
    if (place > 0) text_append(text, ", ", 2);
    text_quoted(text, name, strlen(name));
    text_append(text, ": ", 2);
}

static void write_head(struct text *text, const paritas_model *model, const paritas_toy_data *data)
{
    const char *const words[2] = {"false", "true"};
    text_format(text, "{\n  \"seed\": %llu,\n  \"fix_aux\": %s,\n  \"expected\": %s,\n  \"status\": \"%s\"",
                (unsigned long long)data->seed, words[data->fix_aux != 0], words[data->expected != 0],
                paritas_fit_status_name(data->status));
    const char *const digest = toy_data_digest(data);
    if (digest) text_format(text, ",\n  \"model\": \"%s\"", digest);
    text_format(text, ",\n  \"channels\": {");
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        write_key(text, c, paritas_model_channel_name(model, c));
        text_format(text, "%zu", paritas_model_channel_bins(model, c));
    }
    text_format(text, "},\n  \"parameters\": %s", data->point ? "{" : "null");
    for (size_t i = 0; data->point && i < paritas_model_parameter_count(model); i++) {
        write_key(text, i, paritas_model_parameter_name(model, i));
        text_number(text, data->point[i]);
    }
    text_format(text, "%s,\n  \"toys\": [", data->point ? "}" : "");
}

paritas_status paritas_toy_data_write(paritas_context *context, const paritas_model *model,
                                      const paritas_toy_data *data, char **text, size_t *length)
{
    REQUIRE(context, model, data, text, length);
    const size_t n_main = paritas_model_main_count(model), n_aux = paritas_model_aux_count(model);
    struct text written;
    *text = NULL;
    TRY(SIZED_CHECK(context, paritas_toy_data, "data", 1, data));
    text_open(&written, &context->allocator);
    write_head(&written, model, data);
    for (size_t i = 0; i < data->n; i++) {
        const double *row = data->rows + i * (n_main + n_aux);
        text_format(&written, "%s\n    {\"toy\": %llu", i > 0 ? "," : "",
                    (unsigned long long)(data->first + i));
        write_numbers(&written, "main", n_main, row);
        write_numbers(&written, "aux", n_aux, row + n_main);
        text_append(&written, "}", 1);
    }
    text_append(&written, "\n  ]\n}\n", sizeof "\n  ]\n}\n"); /* with the end byte */
    if (written.failed) {
        text_free(&written);
        return paritas_fail_memory(context);
    }
    *text = written.bytes;
    *length = written.length - 1;
    return PARITAS_OK;
}

/* ---- reading ---- */

/* Is datum `i` a count: of a bin, or the auxiliary one of a Poisson constraint? */
static bool is_count(const struct reading *r, size_t i)
{
    size_t first = r->n_main;
    if (i < first) return frozen_counts(paritas_model_frozen(r->model), i);
    for (size_t s = 0; s < paritas_model_set_count(r->model) && first <= i; s++) {
        const paritas_parameter_set set = paritas_model_set(r->model, s);
        if (!set_has_data(&set)) continue;
        if (i < first + set.n) return strcmp(set.constraint, "constrained_by_poisson") == 0;
        first += set.n;
    }
    return false;
}

paritas_status toy_data_check(const struct reading *r, const char *lead, size_t place, size_t i, double value)
{
    if (!isfinite(value)) return wrong_data(r, "%s[%zu] is not a finite number", lead, place);
    if (value < 0.0 && is_count(r, i))
        return wrong_data(r, "%s[%zu] is %.10g: a count cannot be negative", lead, place, value);
    return PARITAS_OK;
}

paritas_status toy_data_take_digest(const struct reading *r, const char *digest)
{
    char own[72];
    if (!digest) return PARITAS_OK;
    TRY(paritas_model_digest(r->context, r->model, own));
    if (strcmp(digest, own) != 0)
        return wrong_data(r,
                          "the toys are of another model, with the digest %.72s; this one has %s. Files that "
                          "`generate --any-model` writes name no model",
                          digest, own);
    r->made->data.model = arena_text(&r->made->arena, own, strlen(own));
    return r->made->data.model ? PARITAS_OK : paritas_fail_memory(r->context);
}

/* `place` names the array in messages, and `first` is the number of its first datum. */
static paritas_status read_numbers(const struct reading *r, const char *place, const struct json *array,
                                   size_t first, size_t n, double *values)
{
    struct json_walk walk;
    size_t i = 0;
    if (!json_is(array, JSON_ARRAY))
        return wrong_data(r, "%s is %s, not an array of %zu numbers", place,
                          array ? json_type_name(array) : "missing", n);
    if (array->count != n)
        return wrong_data(r, "%s has %u numbers; the model has %zu", place, array->count, n);
    for (const struct json *one = json_walk_first(&walk, array); one; one = json_walk_next(&walk), i++) {
        if (!json_is(one, JSON_NUMBER))
            return wrong_data(r, "%s[%zu] is %s, not a number", place, i, json_type_name(one));
        TRY(toy_data_check(r, place, i, first + i, one->number));
        values[i] = one->number;
    }
    return PARITAS_OK;
}

/* An object with main and aux; `lead` names its place: "toys[3].". */
static paritas_status read_row(const struct reading *r, const char *lead, const struct json *object,
                               double *row)
{
    const struct json *aux = json_get(object, "aux");
    char place[64];
    snprintf(place, sizeof place, "%smain", lead);
    TRY(read_numbers(r, place, json_get(object, "main"), 0, r->n_main, row));
    snprintf(place, sizeof place, "%saux", lead);
    return aux || r->n_aux > 0 ? read_numbers(r, place, aux, r->n_main, r->n_aux, row + r->n_main)
                               : PARITAS_OK;
}

static paritas_status read_one(const struct reading *r, const struct json *root, double *row)
{
    if (json_is(root, JSON_ARRAY)) return read_numbers(r, "the array", root, 0, r->n_main + r->n_aux, row);
    if (!json_is(root, JSON_OBJECT))
        return wrong_data(r, "data are an array, or an object with the keys main and aux, not %s",
                          json_type_name(root));
    for (const struct json *one = root->first; one; one = one->next)
        if (strcmp(one->key, "main") != 0 && strcmp(one->key, "aux") != 0)
            return wrong_data(r, "data have the keys main and aux, not '%s'", one->key);
    return read_row(r, "", root, row);
}

static paritas_status check_channels(const struct reading *r, const struct json *channels)
{
    const size_t n = paritas_model_channel_count(r->model);
    if (!json_is(channels, JSON_OBJECT) || channels->count != n)
        return wrong_data(r, "channels: the data are of another model: this one has %zu channels", n);
    const struct json *one = channels->first;
    for (size_t c = 0; c < n; c++, one = one->next) {
        const char *name = paritas_model_channel_name(r->model, c);
        const size_t bins = paritas_model_channel_bins(r->model, c);
        if (strcmp(one->key, name) != 0 || !json_is(one, JSON_NUMBER) || one->number != (double)bins)
            return wrong_data(
                r, "channels.%s: the data are of another model: this one has %s with %zu bins here", one->key,
                name, bins);
    }
    return PARITAS_OK;
}

static paritas_status read_digest(const struct reading *r, const struct json *model)
{
    if (!model || json_is(model, JSON_NULL)) return PARITAS_OK;
    return json_is(model, JSON_STRING)
               ? toy_data_take_digest(r, model->text)
               : wrong_data(r, "model is %s, not the digest of a model", json_type_name(model));
}

static paritas_status read_truth(const struct reading *r, const struct json *parameters)
{
    size_t n = paritas_model_parameter_count(r->model), index;
    double *point;
    if (!parameters || json_is(parameters, JSON_NULL)) return PARITAS_OK;
    if (!json_is(parameters, JSON_OBJECT) || parameters->count != n)
        return wrong_data(
            r, "parameters: not the %zu parameters of the model; null says that the truth is unknown", n);
    TRY(toy_data_room(r->context, r->made, n, &point));
    for (const struct json *one = parameters->first; one; one = one->next) {
        if (paritas_model_parameter_index(r->context, r->model, one->key, &index) != PARITAS_OK)
            return wrong_data(r, "parameters: the model has no parameter '%s'", one->key);
        if (!json_is(one, JSON_NUMBER))
            return wrong_data(r, "parameters.%s is %s, not a number", one->key, json_type_name(one));
        point[index] = one->number;
    }
    r->made->data.point = point;
    return PARITAS_OK;
}

/* A whole number from 0 that 64 bits hold. */
static bool take_whole(const struct json *node, uint64_t *value)
{
    if (!json_is(node, JSON_NUMBER) || !node->integer || node->text[0] == '-') return false;
    errno = 0;
    *value = strtoull(node->text, NULL, 10);
    return errno == 0;
}

static paritas_status read_toys(const struct reading *r, const struct json *root)
{
    paritas_toy_data *data = &r->made->data;
    const struct json *toys = json_get(root, "toys"), *seed = json_get(root, "seed");
    const size_t n_data = r->n_main + r->n_aux;
    double *rows;
    size_t i = 0;
    if (!json_is(toys, JSON_ARRAY) || toys->count == 0)
        return wrong_data(r, "toys is %s, not an array of data", toys ? json_type_name(toys) : "missing");
    TRY(read_digest(r, json_get(root, "model")));
    TRY(check_channels(r, json_get(root, "channels")));
    TRY(read_truth(r, json_get(root, "parameters")));
    if (seed && !take_whole(seed, &data->seed))
        return wrong_data(r, "seed is %s, not a whole number of 64 bits", json_type_name(seed));
    data->fix_aux = json_is(json_get(root, "fix_aux"), JSON_TRUE);
    data->expected = json_is(json_get(root, "expected"), JSON_TRUE);
    data->n = toys->count;
    TRY(toy_data_room(r->context, r->made, data->n * n_data, &rows));
    data->rows = rows;
    for (const struct json *one = toys->first; one; one = one->next, i++) {
        const struct json *number = json_get(one, "toy");
        char lead[32];
        snprintf(lead, sizeof lead, "toys[%zu].", i);
        uint64_t toy;
        if (!take_whole(number, &toy))
            return wrong_data(r, "%stoy is %s, not the number of a toy", lead,
                              number ? json_type_name(number) : "missing");
        if (i == 0) data->first = toy;
        if (toy != data->first + i)
            return wrong_data(r, "%stoy is not %llu, which follows the one before", lead,
                              (unsigned long long)(data->first + i));
        TRY(read_row(r, lead, one, rows + i * n_data));
    }
    return PARITAS_OK;
}

static paritas_status check_templates(const struct reading *r)
{
    if (paritas_model_template_count(r->model) > 0)
        return wrong_data(r, "data from a file have no templates, and the model has %zu numbers of them",
                          paritas_model_template_count(r->model));
    return PARITAS_OK;
}

static paritas_status read_root(const struct reading *r, const struct json *root)
{
    double *row;
    if (json_get(root, "toys")) return read_toys(r, root);
    TRY(toy_data_room(r->context, r->made, r->n_main + r->n_aux, &row));
    r->made->data.n = 1;
    r->made->data.rows = row;
    return read_one(r, root, row);
}

static paritas_status read_json(const struct reading *r)
{
    paritas_workspace *document = NULL;
    TRY(json_read_packed(r->context, r->path, &document));
    const paritas_status status = read_root(r, document->root);
    paritas_workspace_free(document);
    return status;
}

/* The bytes of an archive; none of another file, and of what can be read once only. */
static paritas_status read_archive(paritas_context *context, const char *path, struct file_bytes *bytes)
{
    struct platform_info about;
    char first[4];
    *bytes = (struct file_bytes){0};
    const bool regular = platform_info(path, &about) && about.kind == PLATFORM_FILE;
    int file = regular ? platform_open_read(path) : -1;
    if (file < 0) return PARITAS_OK; /* the reader of JSON says why */
    const ptrdiff_t n = platform_read(file, first, sizeof first);
    platform_close(file);
    if (n < 4 || !npz_is(first, (size_t)n) || (file = platform_open_read(path)) < 0) return PARITAS_OK;
    const paritas_status status = file_bytes_read(context, path, file, SIZE_MAX, bytes);
    platform_close(file);
    return status;
}

paritas_status paritas_toy_data_read(paritas_context *context, const paritas_model *model, const char *path,
                                     paritas_toy_data **data)
{
    REQUIRE(context, model, path, data);
    struct reading reading = {.context = context,
                              .model = model,
                              .path = path,
                              .n_main = paritas_model_main_count(model),
                              .n_aux = paritas_model_aux_count(model)};
    struct file_bytes archive;
    *data = NULL;
    paritas_status status = read_archive(context, path, &archive);
    if (status == PARITAS_OK) status = open_data(context, &reading.made);
    if (status == PARITAS_OK) status = check_templates(&reading);
    if (status == PARITAS_OK)
        status = archive.at ? toy_archive_read(&reading, &archive) : read_json(&reading);
    paritas_release(&context->allocator, archive.at);
    return hand_out(status, reading.made, data);
}
