/* patchset.h: patch sets. Public functions check the document once a call: pyhf's schema 1.0.0, unique
 * names and values. */
#ifndef PARITAS_HISTFACTORY_PATCHSET_H
#define PARITAS_HISTFACTORY_PATCHSET_H

#include "base/json.h"

/* Failures name file, path and reason. */
paritas_status hf_patchset_check(paritas_context *context, const paritas_workspace *patchset);

/* Parts of a checked document, borrowed. */
/* array of {metadata {name, values}, patch} */
const struct json *hf_patchset_patches(const paritas_workspace *patchset);
/* object: description, references, digests, labels */
const struct json *hf_patchset_metadata(const paritas_workspace *patchset);
const char *hf_patchset_entry_name(const struct json *entry);
/* numbers and strings, one a label */
const struct json *hf_patchset_entry_values(const struct json *entry);
const struct json *hf_patchset_entry_patch(const struct json *entry); /* JSON Patch */

/* Checks digests against `workspace`. INVALID_INPUT names files, algorithm and digests. */
paritas_status hf_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                  const paritas_workspace *patchset);
/* On a copy of `workspace`. The patch set is verified: digests are not checked again. */
paritas_status hf_patchset_apply_entry(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset, const struct json *entry,
                                       size_t index, paritas_workspace **patched);

#endif
