/* reference.h: what the tests of sweeps and of spectra share: contexts, and the reference numbers of an
 * independent implementation, where they are at hand. */
#ifndef PARITAS_TESTS_REFERENCE_H
#define PARITAS_TESTS_REFERENCE_H

#include "base/json/json.h"
#include "common.h"
#include "paritas.h"

/* NULL where this processor or build has no such kernels; isa NULL: the best, threads and lanes 0: the
 * library's choice. */
static inline paritas_context *open_context(const char *isa, unsigned precision, unsigned threads,
                                            unsigned lanes)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = isa;
    options.precision = precision;
    options.threads = threads;
    options.lanes = lanes;
    paritas_context *context;
    if (paritas_open(&options, &context) == PARITAS_OK) return context;
    note_absence(paritas_error_message(context));
    paritas_close(context);
    return NULL;
}

/* One case, and the document that holds it; closes the context and skips the test where there is none. */
static inline const struct json *read_case(paritas_context *context, const char *name,
                                           struct paritas_workspace **document)
{
    const char *path = PARITAS_SOURCE_DIR "/../shared/losscone/cases.json";
    FILE *file = fopen(path, "rb");
    if (!file) {
        paritas_close(context);
        skip_because(CASES_ABSENT);
    }
    fclose(file);
    ASSERT_OK(context, json_read_file(context, path, document));
    const struct json *found = json_get((*document)->root, name);
    assert_non_null(found);
    return found;
}

#endif
