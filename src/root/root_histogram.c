/* root_histogram.c: TH1F and its like. A record of the class holds one of TH1 with axes and squares, then the
 * contents. What is not needed is skipped by the lengths of records. */
#include "root/root_buffer.h"
#include "root/root_file.h"
#include "root/root_key.h"

#define TH1_FIRST 3 /* versions of TH1 whose members are in this order */
#define TH1_LAST 8
#define MOST_BINS (INT32_MAX - 2)
#define TH1_BUFFER 4            /* the first with a buffer of entries */
#define AXIS_FIRST 6            /* the first of TAxis with limits in double */
#define AXIS_BITS 9             /* the first with bits of its own */
#define AXIS_GROWS 2            /* among these */
#define NOT_WEIGHTED (1 << 19)  /* among the bits of a histogram: weights make no squares */
#define BETWEEN (2 * 2 + 8 * 8) /* bytes: bars, sums, limits */

struct number {
    char class_name[5]; /* of the histogram that has these */
    bool floating;
    unsigned bytes;
};

static const struct number numbers[] = {{"TH1F", true, 4},  {"TH1D", true, 8},  {"TH1C", false, 1},
                                        {"TH1S", false, 2}, {"TH1I", false, 4}, {"TH1L", false, 8}};

#define SINGLE (&numbers[0])
#define TWICE (&numbers[1])

static double load(const struct number *number, const unsigned char *at)
{
    const uint64_t bits = root_load(at, number->bytes), sign = (uint64_t)1 << (8 * number->bytes - 1);
    if (!number->floating) return (double)(int64_t)((bits ^ sign) - sign);
    if (number->bytes == 4) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An array of `n` numbers, or, with `may_lack`, of none: *out is NULL. Another count sets `failed`. */
static paritas_status read_array(struct root_bytes *bytes, const struct number *number, uint32_t n,
                                 bool may_lack, struct arena *arena, double **out)
{
    const uint32_t count = root_u32(bytes);
    *out = NULL;
    if (count == 0 && may_lack) return PARITAS_OK;
    const unsigned char *at = root_take(bytes, (uint64_t)count * number->bytes);
    bytes->failed = bytes->failed || count != n;
    if (bytes->failed) return PARITAS_OK;
    *out = arena_array(arena, n, sizeof **out);
    if (!*out) return PARITAS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < n; i++, at += number->bytes) (*out)[i] = load(number, at);
    return PARITAS_OK;
}

/* What is read of TH1 beside the histogram. */
struct base {
    uint32_t version, bits;
    struct root_axis axis;
    struct root_entries entries;
};

/* Variable edges, or NULL and the limits. */
static paritas_status read_axis(struct root_bytes *bytes, struct arena *arena,
                                struct root_histogram *histogram, struct root_axis *axis)
{
    uint32_t version;
    struct root_bytes record = root_record(bytes, &version);
    root_skip_records(&record, 2); /* names, attributes */
    histogram->n_bins = root_u32(&record);
    axis->low = root_double(&record);
    axis->high = root_double(&record);
    if (version < AXIS_FIRST || histogram->n_bins == 0 || histogram->n_bins > MOST_BINS) record.failed = true;
    const paritas_status status =
        read_array(&record, TWICE, histogram->n_bins + 1, true, arena, &histogram->edges);
    root_take(&record, 2 * 4); /* the range that is shown */
    axis->grows = version >= AXIS_BITS && root_u16(&record) & AXIS_GROWS;
    bytes->failed = bytes->failed || record.failed;
    return status;
}

/* The bits that TObject has in the name's record. */
static uint32_t read_bits(struct root_bytes *bytes)
{
    uint32_t version;
    struct root_bytes name = root_record(bytes, &version);
    root_take(&name, 2 + 4); /* version, number */
    return root_u32(&name);
}

/* The part of TH1. */
static paritas_status read_base(struct root_bytes *bytes, struct arena *arena,
                                struct root_histogram *histogram, struct base *base)
{
    base->bits = read_bits(bytes);
    root_skip_records(bytes, 3); /* line, area, marker */
    const uint32_t cells = root_u32(bytes);
    TRY(read_axis(bytes, arena, histogram, &base->axis));
    root_skip_records(bytes, 2); /* other axes */
    root_take(bytes, BETWEEN);
    root_take(bytes, (uint64_t)root_u32(bytes) * 8); /* contours */
    bytes->failed = bytes->failed || cells != histogram->n_bins + 2;
    TRY(read_array(bytes, TWICE, cells, true, arena, &histogram->squares));
    if (base->version < TH1_BUFFER) return PARITAS_OK;
    root_text(bytes);            /* option */
    root_skip_records(bytes, 1); /* functions */
    root_entries_read(bytes, &base->entries);
    return PARITAS_OK;
}

/* The same edges on every host: a product and a sum, each rounded; the last is the limit itself. */
static paritas_status put_edges(const struct root_axis *axis, struct arena *arena,
                                struct root_histogram *histogram)
{
    const uint32_t n = histogram->n_bins;
    const double width = (axis->high - axis->low) / n;
    if (histogram->edges) return PARITAS_OK;
    histogram->edges = arena_array(arena, (size_t)n + 1, sizeof *histogram->edges);
    if (!histogram->edges) return PARITAS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < n; i++) histogram->edges[i] = axis->low + i * width;
    histogram->edges[n] = axis->high;
    return PARITAS_OK;
}

/* INVALID_INPUT and OUT_OF_MEMORY without messages. `reason` may say why; NULL: damage. */
static paritas_status read_object(struct root_bytes object, const struct number *number, struct arena *arena,
                                  struct root_histogram *histogram, struct base *base, const char **reason)
{
    uint32_t any;
    struct root_bytes whole = root_record(&object, &any), bytes = root_record(&whole, &base->version);
    if (bytes.failed || base->version < TH1_FIRST || base->version > TH1_LAST) return PARITAS_INVALID_INPUT;
    TRY(read_base(&bytes, arena, histogram, base));
    if (bytes.failed) return PARITAS_INVALID_INPUT;
    TRY(read_array(&whole, number, histogram->n_bins + 2, false, arena, &histogram->contents));
    if (whole.failed) return PARITAS_INVALID_INPUT;
    TRY(put_edges(&base->axis, arena, histogram));
    const double whole_most = number->floating ? 0.0 : (double)(INT64_MAX >> (64 - 8 * number->bytes));
    return root_entries_fill(&base->entries, &base->axis, whole_most, !(base->bits & NOT_WEIGHTED), arena,
                             histogram, reason);
}

static const struct number *find_number(const char *class_name)
{
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (strcmp(class_name, numbers[i].class_name) == 0) return &numbers[i];
    }
    return NULL;
}

static paritas_status refuse(paritas_context *context, const struct root_file *file, const char *name,
                             uint32_t version, const char *reason)
{
    if (reason) return root_refuse(context, file, name, "%s", reason);
    if (version != 0 && (version < TH1_FIRST || version > TH1_LAST))
        return root_refuse(context, file, name,
                           "TH1 has version %u; %d to %d are known: write it by another ROOT", version,
                           TH1_FIRST, TH1_LAST);
    return root_refuse(context, file, name, "the histogram is damaged, or no ROOT wrote it: " ROOT_REWRITE);
}

paritas_status root_histogram_read(paritas_context *context, struct root_file *file, const char *name,
                                   struct arena *arena, struct root_histogram *histogram)
{
    const struct root_key *key;
    unsigned char *memory;
    struct root_bytes object;
    struct base base = {0};
    const char *reason = NULL;
    *histogram = (struct root_histogram){0};
    TRY(root_find(context, file, name, &key));
    const struct number *const number = find_number(key->class_name);
    if (!number)
        return root_refuse(context, file, name,
                           "a histogram of one dimension is wanted; this is a %.96s: use TH1F or TH1D",
                           key->class_name);
    TRY(root_read(context, file, name, key, &memory, &object));
    histogram->single = number == SINGLE;
    const paritas_status status = read_object(object, number, arena, histogram, &base, &reason);
    paritas_release(&context->allocator, memory);
    if (status == PARITAS_OUT_OF_MEMORY) return paritas_fail_memory(context);
    return status ? refuse(context, file, name, base.version, reason) : PARITAS_OK;
}
