/* operations.h: workspaces in, workspaces out, with pyhf's semantics.
 *
 * Every operation first checks the shape of its input (hf_workspace_check), leaves it as it is, and hands out a new document,
 * freed by paritas_workspace_free, whose shape was checked as well. What the model means is not checked, so that
 * a file with, say, a wrong normsys can be repaired by pruning it. On failure *out is NULL.
 * Errors: INVALID_INPUT for a document of the wrong shape or a result that would be one; NOT_FOUND for a name that the
 * workspace lacks; INVALID_ARGUMENT; OUT_OF_MEMORY.
 */
#ifndef PARITAS_HISTFACTORY_OPERATIONS_H
#define PARITAS_HISTFACTORY_OPERATIONS_H

#include "base/json.h"

/* Checks pyhf's schema and that no channel, sample of a channel, (name, type) of a sample, observation, measurement or parameter
 * configuration is given twice. */
paritas_status hf_workspace_check(paritas_context *context, const struct paritas_workspace *workspace);

/* Sorts channels, samples, measurements, their parameters and observations by name, modifiers by (name, type). */
paritas_status hf_workspace_sort(paritas_context *context, const struct paritas_workspace *workspace, struct paritas_workspace **out);

/* A list of names, borrowed. */
struct hf_list {
    const char *const *items;
    size_t count;
};

struct hf_prune {
    struct hf_list channels, samples, modifiers, modifier_types, measurements;
};
/* Drops what is named: channels with their observations, modifiers (by name) with their configurations. */
paritas_status hf_workspace_prune(paritas_context *context, const struct paritas_workspace *workspace, const struct hf_prune *prune,
                                  struct paritas_workspace **out);

/* Old and new names in pairs: items[0] becomes items[1], items[2] becomes items[3], ... */
struct hf_rename {
    struct hf_list channels, samples, modifiers, measurements;
};
/* Renames; channels with their observations, modifiers with their configurations and the POI. All at once: a swap works. */
paritas_status hf_workspace_rename(paritas_context *context, const struct paritas_workspace *workspace, const struct hf_rename *rename,
                                   struct paritas_workspace **out);

typedef enum hf_join { HF_JOIN_NONE, HF_JOIN_OUTER, HF_JOIN_LEFT_OUTER, HF_JOIN_RIGHT_OUTER } hf_join;
/* "none", "outer", "left outer", "right outer"; false: no such join. */
bool hf_join_of(const char *text, hf_join *join);
/* Joins two workspaces. NONE: nothing may be in both. OUTER: what is in both must be equal, measurements of one name and POI are merged.
 * LEFT_OUTER, RIGHT_OUTER: that side wins where both have a name. `merge_channels` (not with NONE): channels of one name get the samples of
 * both, the winning side's (the left's with OUTER) where both have one. */
paritas_status hf_workspace_combine(paritas_context *context, const struct paritas_workspace *left, const struct paritas_workspace *right,
                                    hf_join join, bool merge_channels, struct paritas_workspace **out);

/* Summary as a document with pyhf's keys
 *   channels [[name, bins]], samples [name], modifiers {name: type}, parameters [[name, constraint]],
 *   systematics [[name, constraint, [type]]], measurements [[name, poi, [parameter]]], the first being the default,
 * all but the measurements sorted by name, and ours: counts {channels, samples, parameters, modifiers},
 *   unused {observations [name], parameters [[measurement, name]], pois [[measurement, poi]]}: what the file has and no model uses. */
paritas_status hf_workspace_inspect(paritas_context *context, const struct paritas_workspace *workspace, struct paritas_workspace **out);

#endif
