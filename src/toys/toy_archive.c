/* toy_archive.c: data of toys as arrays of NumPy.
 *
 *   paritas_toy_data ─► columns ─► archive          archive ─► arrays ─► checked rows */
#include "base/npz.h"
#include "toys/toy_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- writing ---- */

struct packing {
    paritas_context *context;
    const paritas_model *model;
    const paritas_toy_data *data;
    size_t n_main, n_aux, n_parameters, n_channels;
    struct arena arena;
    struct npz npz;
    struct text bytes;
    bool failed; /* errno says why */
};

static void put(struct packing *p, const struct column *column)
{
    p->failed = p->failed || !npz_add(&p->npz, column);
    if (p->failed) return;
    text_append(&p->bytes, p->npz.header.bytes, p->npz.header.length);
    text_append(&p->bytes, p->npz.array.bytes, p->npz.array.length);
}

static void *room(struct packing *p, size_t n, size_t size)
{
    void *made = p->failed ? NULL : arena_array(&p->arena, n + 1, size);
    if (!made && !p->failed) errno = ENOMEM;
    p->failed = !made;
    return made;
}

/* `n` of each row's numbers, from `first` on. */
static void put_rows(struct packing *p, const char *name, size_t first, size_t n)
{
    const size_t n_data = p->n_main + p->n_aux, rows = p->data->n;
    double *part = room(p, rows * n, sizeof *part);
    if (!part) return;
    for (size_t i = 0; i < rows; i++)
        memcpy(part + i * n, p->data->rows + i * n_data + first, n * sizeof *part);
    put(p, &(struct column){
               .name = name, .kind = COLUMN_F64, .matrix = true, .rows = rows, .width = n, .values = part});
}

static void put_one(struct packing *p, const char *name, enum column_kind kind, const void *value)
{
    put(p, &(struct column){.name = name, .kind = kind, .scalar = true, .rows = 1, .values = value});
}

static void put_texts(struct packing *p, const char *name, size_t n, const char *const *texts)
{
    if (texts) put(p, &(struct column){.name = name, .kind = COLUMN_TEXT, .rows = n, .values = texts});
}

static const char *numbered(struct packing *p, const char *name, size_t k)
{
    const size_t length = strlen(name) + 24;
    char *text = room(p, length, 1);
    if (text) snprintf(text, length, "%s[%zu]", name, k);
    return text;
}

/* What the columns of `main` and of `aux` are. */
static void put_names(struct packing *p)
{
    const char **names = room(p, p->n_main + p->n_aux, sizeof *names);
    size_t at = 0;
    for (size_t c = 0; names && c < p->n_channels; c++)
        for (size_t k = 0; k < paritas_model_channel_bins(p->model, c); k++)
            names[at++] = numbered(p, paritas_model_channel_name(p->model, c), k);
    for (size_t k = 0; names && at < p->n_main; k++) names[at++] = numbered(p, "main", k);
    for (size_t s = 0; names && s < paritas_model_set_count(p->model); s++) {
        const paritas_parameter_set set = paritas_model_set(p->model, s);
        for (size_t k = 0; set_has_data(&set) && k < set.n && at < p->n_main + p->n_aux; k++)
            names[at++] = paritas_model_parameter_name(p->model, set.first + k);
    }
    for (size_t k = 0; names && at < p->n_main + p->n_aux; k++) names[at++] = numbered(p, "aux", k);
    put_texts(p, "bins", p->n_main, names);
    put_texts(p, "measured", p->n_aux, names ? names + p->n_main : NULL);
}

static void put_point(struct packing *p)
{
    if (!p->data->point) return;
    const char **names = room(p, p->n_parameters, sizeof *names);
    for (size_t i = 0; names && i < p->n_parameters; i++)
        names[i] = paritas_model_parameter_name(p->model, i);
    put_texts(p, "parameters", p->n_parameters, names);
    put(p, &(struct column){
               .name = "point", .kind = COLUMN_F64, .rows = p->n_parameters, .values = p->data->point});
}

static void put_facts(struct packing *p)
{
    const paritas_toy_data *data = p->data;
    const unsigned char fix_aux = data->fix_aux != 0, expected = data->expected != 0;
    const char *status = paritas_fit_status_name(data->status), *digest = toy_data_digest(data);
    uint64_t *toys = room(p, data->n, sizeof *toys);
    for (size_t i = 0; toys && i < data->n; i++) toys[i] = data->first + i;
    put(p, &(struct column){.name = "toy", .kind = COLUMN_U64, .rows = data->n, .values = toys});
    put_one(p, "seed", COLUMN_U64, &data->seed);
    put_one(p, "fix_aux", COLUMN_BOOL, &fix_aux);
    put_one(p, "expected", COLUMN_BOOL, &expected);
    put_one(p, "status", COLUMN_TEXT, &status);
    if (digest) put_one(p, "model", COLUMN_TEXT, &digest);
}

static paritas_status hand_out(struct packing *p, char **bytes, size_t *length)
{
    if (p->failed && errno == EFBIG)
        return paritas_refuse(p->context,
                              "`data`: an archive holds less than 4 GiB: draw the toys in shards");
    if (p->failed || p->bytes.failed) return paritas_fail_memory(p->context);
    *bytes = p->bytes.bytes;
    *length = p->bytes.length;
    p->bytes.bytes = NULL;
    return PARITAS_OK;
}

paritas_status paritas_toy_data_pack(paritas_context *context, const paritas_model *model,
                                     const paritas_toy_data *data, char **bytes, size_t *length)
{
    REQUIRE(context, model, data, bytes, length);
    struct packing p = {.context = context,
                        .model = model,
                        .data = data,
                        .n_main = paritas_model_main_count(model),
                        .n_aux = paritas_model_aux_count(model),
                        .n_parameters = paritas_model_parameter_count(model),
                        .n_channels = paritas_model_channel_count(model)};
    *bytes = NULL;
    TRY(SIZED_CHECK(context, paritas_toy_data, "data", 1, data));
    arena_open(&p.arena, &context->allocator);
    npz_open(&p.npz, &context->allocator);
    text_open(&p.bytes, &context->allocator);
    put_rows(&p, "main", 0, p.n_main);
    put_rows(&p, "aux", p.n_main, p.n_aux);
    put_facts(&p);
    put_point(&p);
    put_names(&p);
    p.failed = p.failed || !npz_end(&p.npz);
    if (!p.failed) text_append(&p.bytes, p.npz.directory.bytes, p.npz.directory.length);
    const paritas_status status = hand_out(&p, bytes, length);
    text_free(&p.bytes);
    npz_close(&p.npz);
    arena_free(&p.arena);
    return status;
}

/* ---- reading ---- */

struct archive {
    struct reading *r;
    const struct file_bytes *bytes;
    struct npz_array array; /* the last that was asked for */
    bool found;
};

static void put_back(struct archive *a)
{
    paritas_release(&a->r->context->allocator, a->array.plain);
    a->array.plain = NULL;
    a->found = false;
}

/* Array `name`, if there is one, until the next is asked for. */
static paritas_status take(struct archive *a, const char *name)
{
    put_back(a);
    return npz_find(a->r->context, a->r->path, a->bytes, name, &a->array, &a->found);
}

/* Element i as a text in the arena of the data; another kind of element is "". */
static paritas_status take_text(struct archive *a, size_t i, const char **taken)
{
    struct text text;
    text_open(&text, &a->r->context->allocator);
    npz_text(&a->array, i, &text);
    *taken = text.failed ? NULL : arena_text(&a->r->made->arena, text.length ? text.bytes : "", text.length);
    text_free(&text);
    return *taken ? PARITAS_OK : paritas_fail_memory(a->r->context);
}

static size_t elements(const struct npz_array *array)
{
    return array->shape[0] * array->shape[1];
}

/* A number of `name` without a dimension, or `otherwise`. */
static paritas_status take_number(struct archive *a, const char *name, uint64_t otherwise, uint64_t *value)
{
    *value = otherwise;
    TRY(take(a, name));
    if (!a->found) return PARITAS_OK;
    const double number = elements(&a->array) == 1 ? npz_number(&a->array, 0) : (double)NAN;
    /* a double rounds the largest of 64 bits up to 2^64 */
    const bool exact = a->array.size == sizeof *value && a->array.kind != 'f';
    if (!(number >= 0.0 && (exact || number < 0x1p64)) || number != floor(number))
        return wrong_data(a->r, "%s is not a whole number", name);
    if (exact)
        memcpy(value, a->array.bytes, sizeof *value);
    else
        *value = (uint64_t)number;
    return PARITAS_OK;
}

/* Names are those of the model, in its order. `named`: of number i. */
static paritas_status check_names(struct archive *a, const char *what, size_t n,
                                  const char *(*named)(const paritas_model *model, size_t i))
{
    TRY(take(a, what));
    if (!a->found) return PARITAS_OK;
    if (elements(&a->array) != n)
        return wrong_data(a->r, "%s: the data are of another model: this one has %zu, not %zu", what, n,
                          elements(&a->array));
    for (size_t i = 0; i < n; i++) {
        const char *text;
        TRY(take_text(a, i, &text));
        if (strcmp(text, named(a->r->model, i)) != 0)
            return wrong_data(a->r, "%s[%zu] is '%s': the data are of another model: this one has %s there",
                              what, i, text, named(a->r->model, i));
    }
    return PARITAS_OK;
}

static paritas_status read_facts(struct archive *a)
{
    paritas_toy_data *data = &a->r->made->data;
    uint64_t fix_aux, expected;
    const char *digest = NULL;
    TRY(take(a, "model"));
    if (a->found && elements(&a->array) != 1) return wrong_data(a->r, "%s is not one text", "model");
    if (a->found) TRY(take_text(a, 0, &digest));
    TRY(toy_data_take_digest(a->r, digest));
    TRY(take_number(a, "seed", 0, &data->seed));
    TRY(take_number(a, "fix_aux", 0, &fix_aux));
    TRY(take_number(a, "expected", 0, &expected));
    data->fix_aux = fix_aux != 0;
    data->expected = expected != 0;
    return check_names(a, "parameters", paritas_model_parameter_count(a->r->model),
                       paritas_model_parameter_name);
}

static paritas_status read_point(struct archive *a)
{
    const size_t n = paritas_model_parameter_count(a->r->model);
    double *point;
    TRY(take(a, "point"));
    if (!a->found) return PARITAS_OK;
    if (elements(&a->array) != n)
        return wrong_data(a->r, "point has %zu numbers; the model has %zu parameters", elements(&a->array),
                          n);
    TRY(toy_data_room(a->r->context, a->r->made, n, &point));
    for (size_t i = 0; i < n; i++) point[i] = npz_number(&a->array, i);
    a->r->made->data.point = point;
    return PARITAS_OK;
}

/* The toys' numbers follow each other. */
static paritas_status read_toys(struct archive *a)
{
    paritas_toy_data *data = &a->r->made->data;
    TRY(take(a, "toy"));
    if (!a->found) return PARITAS_OK;
    if (elements(&a->array) != data->n)
        return wrong_data(a->r, "toy has %zu numbers for %zu rows", elements(&a->array), data->n);
    const double first = npz_number(&a->array, 0);
    if (!(first >= 0.0 && first <= 0x1p53)) return wrong_data(a->r, "toy[%d] is not the number of a toy", 0);
    data->first = (uint64_t)first;
    for (size_t i = 1; i < data->n; i++)
        if (npz_number(&a->array, i) != first + (double)i)
            return wrong_data(a->r, "toy[%zu] does not follow the one before", i);
    return PARITAS_OK;
}

/* Are there rows of `n` numbers, as many as before? One dimension is one row. */
static paritas_status check_shape(const struct archive *a, const char *name, size_t n, size_t *count)
{
    const struct npz_array *array = &a->array;
    const size_t known = a->r->made->data.n, width = array->shape[array->dimensions == 2];
    *count = array->dimensions == 2 ? array->shape[0] : 1;
    if (array->dimensions == 0 || array->kind == 'U' || width != n)
        return wrong_data(a->r, "%s has no rows of %zu numbers, as the model has", name, n);
    if (*count == 0) return wrong_data(a->r, "%s has no row", name);
    return known == 0 || known == *count
               ? PARITAS_OK
               : wrong_data(a->r, "%s has %zu rows, and main has %zu", name, *count, known);
}

/* Puts `n` numbers into each row, from `first` on. */
static paritas_status copy_part(const struct archive *a, const char *name, size_t first, size_t n)
{
    const struct reading *r = a->r;
    const size_t n_data = r->n_main + r->n_aux;
    double *rows = r->rows + first;
    for (size_t i = 0; i < r->made->data.n; i++, rows += n_data)
        for (size_t k = 0; k < n; k++) {
            char lead[48];
            rows[k] = npz_number(&a->array, i * n + k);
            if (rows[k] >= 0.0 && rows[k] < (double)INFINITY) continue;
            snprintf(lead, sizeof lead, "%s[%zu]", name, i);
            TRY(toy_data_check(r, lead, k, first + k, rows[k]));
        }
    return PARITAS_OK;
}

static paritas_status read_part(struct archive *a, const char *name, size_t first, size_t n)
{
    struct reading *r = a->r;
    paritas_toy_data *data = &r->made->data;
    size_t count;
    TRY(take(a, name));
    if (!a->found) return n == 0 ? PARITAS_OK : wrong_data(r, "the archive has no array '%s'", name);
    TRY(check_shape(a, name, n, &count));
    if (!r->rows) TRY(toy_data_room(r->context, r->made, count * (r->n_main + r->n_aux), &r->rows));
    data->n = count;
    data->rows = r->rows;
    return copy_part(a, name, first, n);
}

paritas_status toy_archive_read(struct reading *r, const struct file_bytes *bytes)
{
    struct archive a = {.r = r, .bytes = bytes};
    paritas_status status = read_facts(&a);
    if (status == PARITAS_OK) status = read_point(&a);
    if (status == PARITAS_OK) status = read_part(&a, "main", 0, r->n_main);
    if (status == PARITAS_OK) status = read_part(&a, "aux", r->n_main, r->n_aux);
    if (status == PARITAS_OK) status = read_toys(&a);
    put_back(&a);
    return status;
}
