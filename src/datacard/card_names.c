/* card_names.c: parameters that a card's workspace names in its own way: those of single bins. */
#include "datacard/card_names.h"

#include <stdio.h>
#include <string.h>

struct names {
    paritas_workspace *made;
    bool failed;
};

/* Combine's name of bin `bin`: `channel`_bin<bin>, and the process of a count. */
static void add(struct names *names, const char *modifier, const char *process, uint32_t bin, double scale)
{
    const size_t room = 2 * strlen(modifier) + 64, head = strlen(modifier) - strlen(process);
    char *theirs = arena_allocate(&names->made->arena, room),
         *ours = arena_allocate(&names->made->arena, room);
    struct json *entry = json_new(names->made, JSON_OBJECT);
    if (!theirs || !ours || !entry) {
        names->failed = true;
        return;
    }
    snprintf(theirs, room, "%.*s_bin%u%s", (int)head, modifier, bin, process);
    snprintf(ours, room, "%s[%u]", modifier, bin);
    names->failed = names->failed ||
                    !json_set(names->made, entry, "name", json_new_text(names->made, ours)) ||
                    !json_set(names->made, entry, "scale", json_new_number(names->made, scale)) ||
                    !json_set(names->made, entry, "offset", json_new_number(names->made, 0.0)) ||
                    !json_set(names->made, names->made->root, theirs, entry);
}

static void add_errors(struct names *names, const struct json *modifier)
{
    struct json_walk walk;
    uint32_t bin = 0;
    for (const struct json *error = json_walk_first(&walk, json_get(modifier, "data")); error;
         error = json_walk_next(&walk), bin++)
        if (error->number > 0.0) add(names, json_get(modifier, "name")->text, "", bin, 1.0);
}

/* A factor is the count divided by its nominal value. */
static void add_counts(struct names *names, const struct json *sample, const struct json *modifier)
{
    const char *name = json_get(modifier, "name")->text, *process = json_get(sample, "name")->text;
    const size_t length = strlen(name), tail = strlen(process) + 1;
    struct json_walk values, widths;
    const struct json *value = json_walk_first(&values, json_get(sample, "data"));
    const struct json *width = json_walk_first(&widths, json_get(modifier, "data"));
    if (length <= tail) return;
    for (uint32_t bin = 0; value && width; bin++) {
        const double ratio = width->number / value->number;
        if (width->number > 0.0)
            add(names, name, name + length - tail, bin, 1.0 / (double)(int64_t)(1.0 / (ratio * ratio) + 0.5));
        value = json_walk_next(&values);
        width = json_walk_next(&widths);
    }
}

static void add_sample(struct names *names, const struct json *sample)
{
    static const char prefix[] = "prop_bin";
    const struct json *modifiers = json_get(sample, "modifiers");
    for (const struct json *one = modifiers ? modifiers->first : NULL; one; one = one->next) {
        const struct json *name = json_get(one, "name"), *type = json_get(one, "type");
        if (!json_is(name, JSON_STRING) || strncmp(name->text, prefix, sizeof prefix - 1) != 0) continue;
        if (json_text_is(type, "mcstat")) add_errors(names, one);
        if (json_text_is(type, "shapesys")) add_counts(names, sample, one);
    }
}

paritas_status card_names_make(paritas_context *context, const paritas_workspace *workspace,
                               paritas_workspace **out)
{
    struct names names = {.made = json_open(context, workspace->label)};
    if (!names.made) return paritas_fail_memory(context);
    names.made->root = json_new(names.made, JSON_OBJECT);
    const struct json *channels = json_get(workspace->root, "channels");
    for (const struct json *channel = names.made->root && channels ? channels->first : NULL; channel;
         channel = channel->next) {
        const struct json *samples = json_get(channel, "samples");
        for (const struct json *sample = samples ? samples->first : NULL; sample; sample = sample->next)
            add_sample(&names, sample);
    }
    const bool good = names.made->root && !names.failed;
    return json_hand_out(good ? PARITAS_OK : paritas_fail_memory(context), names.made, out);
}
