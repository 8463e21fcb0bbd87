/* workspace_reading.c: what is read of a document once for all that share its samples: the patches of a set.
 *
 *   background ──► hf_raw_read ──► samples by their first members ──► hf_raw_read of each patched document */
#include "histfactory/workspace/workspace_read.h"

static uint32_t slot_of(const struct hf_reading *reading, const struct json *first)
{
    const uint32_t mask = reading->size - 1;
    uint32_t slot = (uint32_t)(((uint64_t)(uintptr_t)first * 0x9e3779b97f4a7c15U) >> 32) & mask;
    while (reading->samples[slot].first && reading->samples[slot].first != first) slot = (slot + 1) & mask;
    return slot;
}

const struct hf_sample *hf_reading_find(const struct hf_reading *reading, const struct json *node)
{
    return node->first ? reading->samples[slot_of(reading, node->first)].sample : NULL;
}

/* Makes a table that is at most half full. */
static bool make_table(struct arena *arena, const struct hf_raw *raw, struct hf_reading *reading)
{
    reading->n_names = raw->names.count;
    for (reading->size = 64; reading->size < 2 * raw->n_samples;) reading->size *= 2;
    reading->samples = arena_array(arena, reading->size, sizeof *reading->samples);
    return reading->samples;
}

static void enter_samples(const struct hf_raw *raw, const struct json *channels, struct hf_reading *reading)
{
    const struct json *channel_node = channels->first;
    for (uint32_t c = 0; c < raw->n_channels; c++, channel_node = channel_node->next) {
        const struct json *node = json_get(channel_node, "samples")->first;
        for (uint32_t s = 0; s < raw->channels[c].n_samples; s++, node = node->next)
            reading->samples[slot_of(reading, node->first)] =
                (struct hf_lent_sample){node->first, &raw->channels[c].samples[s]};
    }
}

paritas_status paritas_workspace_prepare(paritas_context *context, paritas_workspace *workspace)
{
    REQUIRE(context, workspace);
    struct arena *arena = &workspace->arena;
    struct hf_raw raw;
    const paritas_status status = hf_raw_read(context, workspace, arena, arena, &raw);
    context->message[0] = '\0';
    if (status == PARITAS_INVALID_INPUT) return PARITAS_OK;
    struct hf_reading *reading = status == PARITAS_OK ? arena_array(arena, 1, sizeof *reading) : NULL;
    if (!reading || !make_table(arena, &raw, reading) || !hf_names_rank(&raw.names))
        return paritas_fail_memory(context);
    enter_samples(&raw, json_get(workspace->root, "channels"), reading);
    workspace->reading = reading;
    return PARITAS_OK;
}
