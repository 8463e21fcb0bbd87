/* patchset.h: patch sets beyond the public functions. Each of those checks the document once a call
 * (hf_patchset_check): pyhf's schema 1.0.0, and no names or values given twice. */
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

/* Checks the digests of a checked patch set against `workspace`: INVALID_INPUT names files, algorithm and
 * digests. */
paritas_status hf_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                  const paritas_workspace *patchset);
/* Applies entry number `index` of a checked and verified patch set to a copy of `workspace`: for whole patch
 * sets, without a digest for every patch. */
paritas_status hf_patchset_apply_entry(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset, const struct json *entry,
                                       size_t index, paritas_workspace **patched);

#endif
