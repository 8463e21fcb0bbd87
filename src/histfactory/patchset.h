/* patchset.h: patch sets beyond the public functions. A patch set is a plain document; each function checks
 * it (hf_patchset_check), once a call, against pyhf's schema 1.0.0 and refuses names or values given
 * twice. */
#ifndef PARITAS_HISTFACTORY_PATCHSET_H
#define PARITAS_HISTFACTORY_PATCHSET_H

#include "base/json.h"

/* The whole shape, with file, path and reason where it is wrong. */
paritas_status hf_patchset_check(paritas_context *context, const paritas_workspace *patchset);

/* The parts below belong to a document that hf_patchset_check has passed; they are borrowed from it. */
/* array; an element: {metadata {name, values}, patch} */
const struct json *hf_patchset_patches(const paritas_workspace *patchset);
/* object: description, references, digests, labels */
const struct json *hf_patchset_metadata(const paritas_workspace *patchset);
const char *hf_patchset_entry_name(const struct json *entry);
/* array of numbers and strings, one a label */
const struct json *hf_patchset_entry_values(const struct json *entry);
const struct json *hf_patchset_entry_patch(const struct json *entry); /* JSON Patch */

/* Checks the digests of a checked patch set against `workspace`: INVALID_INPUT that names both files, the
 * algorithm and both digests. */
paritas_status hf_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                  const paritas_workspace *patchset);
/* Applies one entry (`index` of it) of a checked and verified patch set to a copy of `workspace`. For whole
 * patch sets: a digest of the workspace is not computed again for every patch. */
paritas_status hf_patchset_apply_entry(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset, const struct json *entry,
                                       size_t index, paritas_workspace **patched);

#endif
