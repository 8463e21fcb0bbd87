/* patchset.h: patch sets. Public functions check the document once a call: pyhf's schema 1.0.0, unique
 * names and values. */
#pragma once

#include "base/json/json.h"

/* Applies an entry to a copy of `workspace`. The patch set is verified: digests are not checked again. */
paritas_status hf_patchset_apply_entry(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset, const struct json *entry,
                                       size_t index, paritas_workspace **patched);
