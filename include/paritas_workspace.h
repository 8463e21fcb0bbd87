/* paritas_workspace.h: JSON documents: pyhf workspaces, patches and patch sets. */
#ifndef PARITAS_WORKSPACE_H
#define PARITAS_WORKSPACE_H

#include "paritas_context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A JSON document. Immutable. */
typedef struct paritas_workspace paritas_workspace;

/* ---- reading and writing ------------------------------------------------------------------------ */

/* Reads a JSON document from a file ("-" is standard input) or from memory; `label` names it in messages.
 * JSON is parsed strictly (RFC 8259, UTF-8, no duplicate keys, finite numbers). Later paritas_model_create
 * and the operations below check that it is a workspace. Freed by paritas_workspace_free. */
PARITAS_API paritas_status paritas_workspace_read(paritas_context *context, const char *path,
                                                  paritas_workspace **workspace);
PARITAS_API paritas_status paritas_workspace_parse(paritas_context *context, const char *text, size_t length,
                                                   const char *PARITAS_OR_NULL label,
                                                   paritas_workspace **workspace);
PARITAS_API void paritas_workspace_free(paritas_workspace *workspace); /* NULL is a no-op */
/* The document as JSON text, keys in order, indented by `indent` blanks (0: one line). Freed by
 * paritas_text_free. */
PARITAS_API paritas_status paritas_workspace_write(paritas_context *context,
                                                   const paritas_workspace *workspace, unsigned indent,
                                                   char **text, size_t *PARITAS_OR_NULL length);
PARITAS_API void paritas_text_free(paritas_context *context, char *text);
/* "sha256:" and 64 hexadecimal digits (72 bytes with the end), as pyhf's digest. */
PARITAS_API paritas_status paritas_workspace_digest(paritas_context *context,
                                                    const paritas_workspace *workspace, char digest[72]);

/* ---- patches ------------------------------------------------------------------------------------ */

/* Reads the samples of a workspace once, for the models of all its copies by paritas_workspace_patch. From
 * then on such a copy borrows from the workspace and from the patch: free it, and its model, before them.
 * Call it at most once. */
PARITAS_API paritas_status paritas_workspace_prepare(paritas_context *context, paritas_workspace *workspace);
/* Applies a JSON Patch (RFC 6902), itself a document, to a copy of `workspace`. */
PARITAS_API paritas_status paritas_workspace_patch(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_workspace *patch,
                                                   paritas_workspace **patched);
/* Checks `patchset` (a pyhf patch set) against the digests of `workspace`. */
PARITAS_API paritas_status paritas_patchset_verify(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_workspace *patchset);
PARITAS_API paritas_status paritas_patchset_count(paritas_context *context, const paritas_workspace *patchset,
                                                  size_t *count);
/* *name: of patch number `index`, owned by the patch set. */
PARITAS_API paritas_status paritas_patchset_name(paritas_context *context, const paritas_workspace *patchset,
                                                 size_t index, const char **name);
/* Names of all patches, in order; `count`: of paritas_patchset_count. Owned by the patch set. */
PARITAS_API paritas_status paritas_patchset_names(paritas_context *context, const paritas_workspace *patchset,
                                                  size_t count, const char **names);
/* Numbers of the patches in the order of a scan. They are sorted by value if each has one number; `ordered`
 * is then 1. Otherwise the order is the file's and `ordered` 0. `count`: of paritas_patchset_count. */
PARITAS_API paritas_status paritas_patchset_order(paritas_context *context, const paritas_workspace *patchset,
                                                  size_t count, size_t *order, int *ordered);
/* Verifies, then applies the patch of that name. */
PARITAS_API paritas_status paritas_patchset_apply(paritas_context *context,
                                                  const paritas_workspace *workspace,
                                                  const paritas_workspace *patchset, const char *name,
                                                  paritas_workspace **patched);

/* ---- operations --------------------------------------------------------------------------------- */

/* Workspaces in, workspaces out, with pyhf's semantics. Each operation checks the shape of its input by
 * pyhf's schema. Duplicates are refused too: a channel, a sample of a channel, a (name, type) of a sample, an
 * observation, a measurement, a parameter's configuration. The input stays as it is. The result is a new
 * document, whose shape is checked as well. Free it. The numbers of the model are not checked, so you can
 * repair a file with a wrong normsys by pruning it.
 *
 * On failure *out is NULL. INVALID_INPUT, with the place: a document of the wrong shape, or a result that
 * would be one (for example a workspace without channels). NOT_FOUND, with the name: the workspace lacks
 * it. */

/* Names, borrowed. */
typedef struct paritas_names {
    const char *const *items; /* may be NULL where there are none */
    size_t count;
} paritas_names;

/* Sorts channels, samples, measurements, their parameters and observations by name, modifiers by name and
 * type. */
PARITAS_API paritas_status paritas_workspace_sort(paritas_context *context,
                                                  const paritas_workspace *workspace,
                                                  paritas_workspace **out);

/* What to drop: channels with their observations, modifiers with their configurations. Start from
 * PARITAS_PRUNE_OPTIONS_DEFAULT: nothing. */
typedef struct paritas_prune_options {
    size_t size;
    paritas_names channels, samples, modifiers, modifier_types, measurements;
} paritas_prune_options;
#define PARITAS_PRUNE_OPTIONS_DEFAULT PARITAS_INIT(paritas_prune_options)
/* The workspace without the named items. `options` may be NULL. */
PARITAS_API paritas_status paritas_workspace_prune(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_prune_options *PARITAS_OR_NULL options,
                                                   paritas_workspace **out);

/* The workspace with channels that models leave out of the likelihood: "masked": true. Their rates are still
 * expected, their parameters stay, and so do the constraints. `channels` NULL: none more. */
PARITAS_API paritas_status paritas_workspace_mask(paritas_context *context,
                                                  const paritas_workspace *workspace,
                                                  const paritas_names *PARITAS_OR_NULL channels,
                                                  paritas_workspace **out);

/* Old and new names in pairs: items[0] becomes items[1], items[2] becomes items[3], ...; `count` counts both.
 * If two pairs have one old name, the last holds. Start from PARITAS_RENAME_OPTIONS_DEFAULT: none. */
typedef struct paritas_rename_options {
    size_t size;
    paritas_names channels, samples, modifiers, measurements;
} paritas_rename_options;
#define PARITAS_RENAME_OPTIONS_DEFAULT PARITAS_INIT(paritas_rename_options)
/* The workspace with other names. Channels keep their observations, modifiers their configurations; the
 * parameter of interest follows its modifier. All names change at once, so a swap works. `options` may be
 * NULL. INVALID_ARGUMENT: an old name without its new one. */
PARITAS_API paritas_status paritas_workspace_rename(paritas_context *context,
                                                    const paritas_workspace *workspace,
                                                    const paritas_rename_options *PARITAS_OR_NULL options,
                                                    paritas_workspace **out);

/* Two workspaces into one. `join` says what may be in both:
 *   "none" or NULL   nothing
 *   "outer"          equal channels and observations, and measurements of one parameter of interest, whose
 *                    configurations are put together
 *   "left outer", "right outer"   anything; that side wins
 * merge_channels nonzero (not with "none"): channels of one name get the samples of both. A sample
 * that both have is taken from the winning side ("outer": the left). INVALID_ARGUMENT: another join.
 * INVALID_INPUT, with the names of both documents: something that may not be in both. */
PARITAS_API paritas_status paritas_workspace_combine(paritas_context *context, const paritas_workspace *left,
                                                     const paritas_workspace *right,
                                                     const char *PARITAS_OR_NULL join, int merge_channels,
                                                     paritas_workspace **out);

/* A parameter that becomes one for each group of channels. Start from PARITAS_SPLIT_OPTIONS_DEFAULT: the
 * parameter of interest, and a group for each channel. */
typedef struct paritas_split_options {
    size_t size;
    const char *measurement; /* whose parameter of interest; NULL: the first */
    const char *parameter;   /* NULL: that one */
    paritas_names groups;    /* names of groups and patterns of their channels, in pairs */
} paritas_split_options;
#define PARITAS_SPLIT_OPTIONS_DEFAULT PARITAS_INIT(paritas_split_options)
/* The workspace with a parameter PARAMETER_GROUP in each group of channels. A channel is in the first group
 * whose pattern it matches (* is any text, ? one byte), else in one of its own name. Functions of the
 * parameter are split, too. The measurements get the new parameters as `pois`, in the order of the channels,
 * with the bounds and the start of the old one. `options` may be NULL. NOT_FOUND: no channel depends on the
 * parameter. INVALID_INPUT: a modifier of that name is no normfactor, or a new name is taken. */
PARITAS_API paritas_status paritas_workspace_split(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_split_options *PARITAS_OR_NULL options,
                                                   paritas_workspace **out);

/* What is in a workspace, as a document (no workspace) that paritas_workspace_write makes readable. Free it.
 * Keys of pyhf, sorted by name except for the measurements:
 *   channels       [[name, bins]]
 *   samples        [name]
 *   modifiers      {name: type}
 *   parameters     [[name, constraint]]
 *   systematics    [[name, constraint, [type]]]
 *   measurements   [[name, poi, [parameter]]]; the first is the default
 * Keys of our own:
 *   counts         {channels, samples, parameters, modifiers}
 *   unused         {observations [name], parameters [[measurement, name]], pois [[measurement, poi]]}: in the
 *                  file, but used by no model
 *   functions      [[measurement, name, expression]], if there are any; those that no modifier has are also
 *                  `functions` [[measurement, name]] of `unused`
 *   correlations   [[measurement, name, [parameter]]], if there are any
 *   penalties      the same of penalties */
PARITAS_API paritas_status paritas_workspace_inspect(paritas_context *context,
                                                     const paritas_workspace *workspace,
                                                     paritas_workspace **out);

#ifdef __cplusplus
}
#endif
#endif
