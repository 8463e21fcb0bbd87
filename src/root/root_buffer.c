/* root_buffer.c: what TH1::BufferEmpty does. Three numbers are the beginning of a buffer: the count, then
 * weight and place of the first entry. A negative count says that the bins have these entries already. */
#include "root/root_buffer.h"

#define ENTRY_BYTES 16

void root_entries_read(struct root_bytes *base, struct root_entries *entries)
{
    const uint32_t room = root_u32(base);
    *entries = (struct root_entries){0};
    root_take(base, 1); /* whether there is an array */
    if (room == 0 || base->failed) return;
    const double count = root_double(base);
    entries->at = root_take(base, ((uint64_t)room - 1) * 8);
    const double most = (room - 1) / 2;
    if (!(count <= most && count >= -most) || count != (double)(int64_t)count) base->failed = true;
    if (!base->failed && count > 0.0) entries->n = (uint32_t)count;
}

/* The cell of a place. Underflow is 0. NaN is an overflow, as in ROOT. ROOT corrects a bin by its edges from
 * 6.38 on, so the edges alone decide. */
static uint32_t find_cell(const struct root_histogram *histogram, double place)
{
    uint32_t low = 0, high = histogram->n_bins + 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (place < histogram->edges[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* TH1::Sumw2: what was filled before had weights of 1. */
static paritas_status make_squares(struct arena *arena, struct root_histogram *histogram)
{
    const uint32_t cells = histogram->n_bins + 2;
    histogram->squares = arena_array(arena, cells, sizeof *histogram->squares);
    if (!histogram->squares) return PARITAS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < cells; i++)
        histogram->squares[i] =
            histogram->contents[i] < 0.0 ? -histogram->contents[i] : histogram->contents[i];
    return PARITAS_OK;
}

static double limited(double value, double most)
{
    return value >= most ? most : value <= -most ? -most : value;
}

/* A sum as the histogram's class keeps it. */
static double sum_of(const struct root_histogram *histogram, double whole, double content, double weight)
{
    if (whole == 0.0) return histogram->single ? (float)((float)content + (float)weight) : content + weight;
    const double part = limited(weight, whole);
    return limited(content + (part == whole || part == -whole ? part : (double)(int64_t)part), whole);
}

paritas_status root_entries_fill(const struct root_entries *entries, const struct root_axis *axis,
                                 double whole, bool weighted, struct arena *arena,
                                 struct root_histogram *histogram, const char **reason)
{
    *reason = "ROOT has not chosen its bins yet: call BufferEmpty(1) before you write it";
    if (entries->n > 0 && !(axis->low < axis->high)) return PARITAS_INVALID_INPUT;
    for (uint32_t i = 0; i < entries->n; i++) {
        struct root_bytes entry = {.at = entries->at + (size_t)i * ENTRY_BYTES};
        entry.end = entry.at + ENTRY_BYTES;
        const double weight = root_double(&entry), place = root_double(&entry);
        const uint32_t cell = find_cell(histogram, place);
        if (axis->grows && place - place == 0.0 && (cell == 0 || cell > histogram->n_bins))
            return PARITAS_INVALID_INPUT;
        if (weight - weight != 0.0) {
            *reason = "an entry in its buffer has a weight that is no finite number";
            return PARITAS_INVALID_INPUT;
        }
        if (!histogram->squares && weighted && weight != 1.0) TRY(make_squares(arena, histogram));
        if (histogram->squares) histogram->squares[cell] += weight * weight;
        histogram->contents[cell] = sum_of(histogram, whole, histogram->contents[cell], weight);
    }
    return PARITAS_OK;
}
