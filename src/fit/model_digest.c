/* model_digest.c: what a model expects of data, as a digest: names, shapes, and all tables that kernels read.
 * Observed data are none of them. */
#include "base/digest.h"
#include "fit/family.h"

#include <string.h>

static void append_text(struct sha256 *sha, const char *text)
{
    sha256_append(sha, text, strlen(text) + 1);
}

static void append_counts(struct sha256 *sha, size_t n, const size_t *counts)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = counts[i];
        sha256_append(sha, &count, sizeof count);
    }
}

static void append_names(struct sha256 *sha, const paritas_model *model)
{
    const struct frozen *frozen = paritas_model_frozen(model);
    for (size_t i = 0; i < frozen->n_parameters; i++) append_text(sha, frozen->names[i]);
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        const size_t bins = paritas_model_channel_bins(model, c);
        append_text(sha, paritas_model_channel_name(model, c));
        append_counts(sha, 1, &bins);
    }
}

paritas_status paritas_model_digest(paritas_context *context, const paritas_model *model, char digest[72])
{
    REQUIRE(context, model, digest);
    const struct frozen *f = paritas_model_frozen(model), *complete;
    TRY(frozen_complete(context, f, &complete));
    const struct device_tables *tables = &complete->tables;
    const size_t counts[] = {f->n_parameters, f->n_slots,     f->n_main,      f->n_data,
                             f->n_places,     f->n_templates, tables->n_ints, tables->n_reals};
    struct sha256 sha;
    sha256_open(&sha);
    append_text(&sha, f->family->module->name);
    append_counts(&sha, COUNT_OF(counts), counts);
    append_names(&sha, model);
    sha256_append(&sha, f->slot_of, f->n_parameters * sizeof *f->slot_of);
    sha256_append(&sha, f->place_of, (f->n_data - f->n_templates) * sizeof *f->place_of);
    sha256_append(&sha, tables->ints, tables->n_ints * sizeof *tables->ints);
    sha256_append(&sha, tables->reals, tables->n_reals * sizeof *tables->reals);
    if (f->masked) sha256_append(&sha, f->masked, f->n_main);
    memcpy(digest, "sha256:", 7);
    sha256_close(&sha, digest + 7);
    return PARITAS_OK;
}
