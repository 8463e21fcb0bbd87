/* card_combine.c: the combined card: channels' names, header, shapes, tables. */
#include "datacard/card_combine.h"
#include "base/file_bytes.h"
#include "base/platform.h"
#include "paritas_datacard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_ROOM = 24 };

/* A card of one channel gives it the label's name. "." keeps names. */
static paritas_status name_channels(struct combination *all, struct card_part *part)
{
    const struct card *card = &part->card;
    const bool keeps = card_same(part->label, ".");
    part->names = arena_array(all->arena, card->n_channels, sizeof *part->names);
    if (!part->names) return paritas_fail_memory(all->context);
    for (uint32_t c = 0; c < card->n_channels; c++) {
        const char *name = card->channels[c].name;
        const size_t room = strlen(part->label) + strlen(name) + 2;
        char *made = arena_array(all->arena, room, 1);
        if (!made) return paritas_fail_memory(all->context);
        if (card->n_channels == 1)
            snprintf(made, room, "%s", keeps ? name : part->label);
        else
            snprintf(made, room, "%s%s%s", keeps ? "" : part->label, keeps ? "" : "_", name);
        part->names[c] = made;
    }
    return PARITAS_OK;
}

static paritas_status check_names(const struct combination *all)
{
    for (size_t i = 0; i < all->n_parts; i++)
        for (uint32_t c = 0; c < all->parts[i].card.n_channels; c++)
            for (size_t k = 0; k < i; k++)
                for (uint32_t d = 0; d < all->parts[k].card.n_channels; d++)
                    if (card_same(all->parts[i].names[c], all->parts[k].names[d]))
                        return paritas_refuse(
                            all->context,
                            "%s and %s: both would have the channel \"%.200s\": give labels, LABEL=CARD",
                            all->parts[k].card.path, all->parts[i].card.path, all->parts[i].names[c]);
    return PARITAS_OK;
}

static paritas_status read_text(struct combination *all, struct card_part *part, const char *path)
{
    struct file_bytes bytes = {0};
    const int file = platform_open_read(path);
    if (file < 0) return paritas_fail(all->context, PARITAS_UNREADABLE, "%s: %s", path, strerror(errno));
    paritas_status status = file_bytes_read(all->context, path, file, SIZE_MAX, &bytes);
    platform_close(file);
    if (status == PARITAS_OK) status = card_lines_read(&part->card, bytes.at ? bytes.at : "", bytes.length);
    paritas_release(&all->context->allocator, bytes.at);
    return status;
}

static paritas_status read_part(struct combination *all, size_t i, const char *label, const char *path)
{
    struct card_part *part = &all->parts[i];
    char *own = arena_array(all->arena, LABEL_ROOM, 1);
    if (!own) return paritas_fail_memory(all->context);
    snprintf(own, LABEL_ROOM, "ch%zu", i + 1);
    part->label = label && *label != '\0' ? label : own;
    if (strpbrk(part->label, " \t\r\n"))
        return paritas_refuse(all->context, "the label \"%.200s\" has blanks: drop them", part->label);
    part->card = (struct card){.context = all->context, .arena = all->arena, .path = path};
    TRY(read_text(all, part, path));
    TRY(card_read(&part->card));
    TRY(name_channels(all, part));
    part->first_column = all->n_columns;
    all->n_columns += part->card.n_columns;
    all->n_channels += part->card.n_channels;
    return PARITAS_OK;
}

/* The number of a process: its place among those of its kind, signals up to 0. */
static paritas_status number_process(const struct combination *all, uint32_t column, const char **number)
{
    const char **seen[2], *process = all->processes[column];
    uint32_t n[2] = {0, 0}, at[2] = {0, 0};
    bool kinds[2] = {false, false};
    for (int kind = 0; kind < 2; kind++) {
        seen[kind] = arena_array(all->arena, all->n_columns, sizeof *seen[kind]);
        if (!seen[kind]) return paritas_fail_memory(all->context);
    }
    for (size_t i = 0; i < all->n_parts; i++)
        for (uint32_t k = 0; k < all->parts[i].card.n_columns; k++) {
            const struct card_column *one = &all->parts[i].card.columns[k];
            uint32_t place = 0;
            while (place < n[one->signal] && !card_same(seen[one->signal][place], one->process)) place++;
            if (place == n[one->signal]) seen[one->signal][n[one->signal]++] = one->process;
            if (!card_same(one->process, process)) continue;
            kinds[one->signal] = true;
            at[one->signal] = place;
        }
    if (kinds[0] && kinds[1])
        return paritas_refuse(all->context,
                              "the process \"%.200s\" is a signal in one card and a background in another: "
                              "give it one kind, or two names",
                              process);
    char *text = arena_array(all->arena, LABEL_ROOM, 1);
    if (!text) return paritas_fail_memory(all->context);
    if (kinds[1])
        snprintf(text, LABEL_ROOM, "%d", (int)at[1] - (int)n[1] + 1);
    else
        snprintf(text, LABEL_ROOM, "%u", at[0] + 1);
    *number = text;
    return PARITAS_OK;
}

static paritas_status fill_tables(struct combination *all)
{
    const char ***tables[] = {&all->channels, &all->processes, &all->numbers, &all->rates};
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        *tables[i] = arena_array(all->arena, all->n_columns, sizeof **tables[i]);
        if (!*tables[i]) return paritas_fail_memory(all->context);
    }
    for (size_t i = 0; i < all->n_parts; i++)
        for (uint32_t k = 0; k < all->parts[i].card.n_columns; k++) {
            const struct card *card = &all->parts[i].card;
            const uint32_t column = all->parts[i].first_column + k;
            all->channels[column] = all->parts[i].names[card->columns[k].channel];
            all->processes[column] = card->columns[k].process;
            all->rates[column] = card->rate->words[card->columns[k].word].text;
        }
    for (uint32_t column = 0; column < all->n_columns; column++)
        TRY(number_process(all, column, &all->numbers[column]));
    return PARITAS_OK;
}

static void write_header(const struct combination *all)
{
    uint32_t n_processes = 0;
    for (uint32_t k = 0; k < all->n_columns; k++) {
        uint32_t first = 0;
        while (!card_same(all->processes[first], all->processes[k])) first++;
        n_processes += first == k;
    }
    text_format(all->out, "# the combination of");
    for (size_t i = 0; i < all->n_parts; i++)
        text_format(all->out, " %s=%s", all->parts[i].label, all->parts[i].card.path);
    text_format(all->out, "\nimax %u\njmax %u\nkmax *\n------------\n", all->n_channels, n_processes - 1);
}

static bool write_shapes(const struct combination *all, const struct card_part *part, uint32_t c,
                         const struct card_shapes *shapes)
{
    const char *channel = part->card.channels[c].name;
    const char *file = card_without_channel(all, shapes->file, channel);
    if (file) file = card_path_moved(all, part, file);
    if (!file) return false;
    text_format(all->out, "shapes %s %s %s", shapes->process, part->names[c], file);
    for (uint32_t i = 4; i < shapes->line->n && i < 6; i++) {
        const char *name = card_without_channel(all, shapes->line->words[i].text, channel);
        if (!name) return false;
        text_format(all->out, " %s", name);
    }
    text_format(all->out, "\n");
    return true;
}

/* Does a line of the channel itself come before this one of all channels? */
static bool is_hidden(const struct card *card, const char *channel, const struct card_shapes *shapes)
{
    for (const struct card_shapes *at = card->shapes; at; at = at->next)
        if (card_same(at->channel, channel) &&
            (card_same(at->process, shapes->process) || card_same(at->process, "*")))
            return true;
    return false;
}

/* Lines of a channel. Those of all channels are written for each one, as $CHANNEL has another name now. */
static bool write_channel_shapes(const struct combination *all, const struct card_part *part, uint32_t c)
{
    const struct card *card = &part->card;
    const char *channel = card->channels[c].name;
    bool good = true;
    for (const struct card_shapes *at = card->shapes; at && good; at = at->next)
        if (card_same(at->channel, channel) || (card_same(at->channel, "*") && !is_hidden(card, channel, at)))
            good = write_shapes(all, part, c, at);
    if (!card->shapes) text_format(all->out, "shapes * %s FAKE\n", part->names[c]);
    return good;
}

static bool write_all_shapes(const struct combination *all)
{
    bool any = false, good = true;
    for (size_t i = 0; i < all->n_parts; i++) any = any || all->parts[i].card.shapes;
    for (size_t i = 0; i < all->n_parts && any; i++)
        for (uint32_t c = 0; c < all->parts[i].card.n_channels && good; c++)
            good = write_channel_shapes(all, &all->parts[i], c);
    if (any) text_format(all->out, "------------\n");
    return good;
}

/* A card without the line has -1, the histograms' integrals. */
static void write_observations(const struct combination *all)
{
    bool any = false;
    text_format(all->out, "bin");
    for (size_t i = 0; i < all->n_parts; i++)
        for (uint32_t c = 0; c < all->parts[i].card.n_channels; c++) {
            any = any || all->parts[i].card.observation;
            text_format(all->out, " %s", all->parts[i].names[c]);
        }
    for (size_t i = 0; i < all->n_parts && any; i++)
        for (uint32_t c = 0; c < all->parts[i].card.n_channels; c++) {
            const struct card_word *word = all->parts[i].card.channels[c].observed_word;
            text_format(all->out, "%s%s", i + c == 0 ? "\nobservation " : " ", word ? word->text : "-1");
        }
    text_format(all->out, "\n------------\n");
}

/* Widths of the head, then of each column. */
static void widen(size_t *widths, uint32_t n, const char *head, const char *const *cells)
{
    if (strlen(head) > widths[0]) widths[0] = strlen(head);
    for (uint32_t k = 0; k < n; k++) {
        const size_t width = cells[k] ? strlen(cells[k]) : 1;
        if (width > widths[k + 1]) widths[k + 1] = width;
    }
}

static void write_row(struct text *out, const size_t *widths, uint32_t n, const char *head,
                      const char *const *cells)
{
    text_format(out, "%-*s", (int)widths[0], head);
    for (uint32_t k = 0; k < n; k++)
        text_format(out, " %-*s", k + 1 < n ? (int)widths[k + 1] : 0, cells[k] ? cells[k] : "-");
    text_format(out, "\n");
}

static paritas_status write_tables(const struct combination *all)
{
    const struct {
        const char *head;
        const char *const *cells;
    } rows[] = {
        {"bin", all->channels}, {"process", all->processes}, {"process", all->numbers}, {"rate", all->rates}};
    const uint32_t n = all->n_columns;
    size_t *widths = arena_array(all->arena, (size_t)n + 1, sizeof *widths);
    char head[1024];
    if (!widths) return paritas_fail_memory(all->context);
    for (size_t i = 0; i < COUNT_OF(rows); i++) widen(widths, n, rows[i].head, rows[i].cells);
    for (const struct card_joined *at = all->nuisances; at; at = at->next) {
        card_joined_head(at, sizeof head, head);
        widen(widths, n, head, at->values);
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) write_row(all->out, widths, n, rows[i].head, rows[i].cells);
    text_format(all->out, "------------\n");
    for (const struct card_joined *at = all->nuisances; at; at = at->next) {
        card_joined_head(at, sizeof head, head);
        write_row(all->out, widths, n, head, at->values);
    }
    return PARITAS_OK;
}

/* What is written must be a card. */
static paritas_status read_again(const struct combination *all)
{
    struct card card = {
        .context = all->context, .arena = all->arena, .path = "the combined card, which is not written"};
    if (all->out->failed) return paritas_fail_memory(all->context);
    TRY(card_lines_read(&card, all->out->bytes, all->out->length));
    return card_read(&card);
}

static paritas_status combine(struct combination *all, const char *const *labels, const char *const *paths)
{
    REQUIRE_EACH(all->context, "paths", all->n_parts, paths);
    for (size_t i = 0; i < all->n_parts; i++) TRY(read_part(all, i, labels ? labels[i] : NULL, paths[i]));
    TRY(check_names(all));
    TRY(fill_tables(all));
    TRY(card_nuisances_join(all));
    write_header(all);
    if (!write_all_shapes(all)) return paritas_fail_memory(all->context);
    write_observations(all);
    TRY(write_tables(all));
    TRY(card_lines_carry(all));
    return read_again(all);
}

paritas_status paritas_datacard_combine(paritas_context *context, size_t n, const char *const *labels,
                                        const char *const *paths, const char *folder, char **text)
{
    struct arena arena;
    struct text out;
    REQUIRE(context, text);
    *text = NULL;
    REQUIRE(context, paths);
    if (n == 0) return paritas_refuse(context, "no cards are given: give at least one");
    arena_open(&arena, &context->allocator);
    text_open(&out, &context->allocator);
    struct combination all = {
        .context = context, .arena = &arena, .n_parts = n, .folder = folder, .out = &out};
    all.parts = arena_array(&arena, n, sizeof *all.parts);
    paritas_status status = all.parts ? combine(&all, labels, paths) : paritas_fail_memory(context);
    if (status == PARITAS_OK) text_append(&out, "", 1); /* end byte */
    if (status == PARITAS_OK && out.failed) status = paritas_fail_memory(context);
    arena_free(&arena);
    if (status == PARITAS_OK)
        *text = out.bytes;
    else
        text_free(&out);
    return status;
}
