/* documents.h: a small workspace as text, and ways to make it wrong. */
#ifndef PARITAS_TESTS_HISTFACTORY_DOCUMENTS_H
#define PARITAS_TESTS_HISTFACTORY_DOCUMENTS_H

#include "base/base_testing.h"

/* Two channels, out of order, with all seven types of modifier. */
static const char *const small =
    "{\"channels\": [{\"name\": \"SR\", \"samples\": ["
    "{\"name\": \"signal\", \"data\": [3.0, 4.0], \"modifiers\": [{\"name\": \"mu\", \"type\": "
    "\"normfactor\", \"data\": null}, "
    "{\"name\": \"lumi\", \"type\": \"lumi\", \"data\": null}]}, "
    "{\"name\": \"background\", \"data\": [20.0, 30.0], \"modifiers\": ["
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}, "
    "{\"name\": \"shape\", \"type\": \"histosys\", \"data\": {\"hi_data\": [22.0, 31.0], \"lo_data\": [18.0, "
    "29.0]}}, "
    "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [1.0, 1.5]}]}]}, "
    "{\"name\": \"CR\", \"samples\": [{\"name\": \"background\", \"data\": [100.0, 90.0, 80.0], "
    "\"modifiers\": ["
    "{\"name\": \"unc\", \"type\": \"shapesys\", \"data\": [5.0, 6.0, 0.0]}, "
    "{\"name\": \"free\", \"type\": \"shapefactor\", \"data\": null}, "
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.05, \"lo\": 0.96}}]}]}], "
    "\"observations\": [{\"name\": \"SR\", \"data\": [22.0, 35.0]}, {\"name\": \"CR\", \"data\": [104.0, "
    "88.0, 79.0]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": ["
    "{\"name\": \"lumi\", \"auxdata\": [1.0], \"bounds\": [[0.5, 1.5]], \"inits\": [1.0], \"sigmas\": "
    "[0.02]}]}}], "
    "\"version\": \"1.0.0\"}";

/* `text` with the first `old` replaced; valid until the next call. */
static inline const char *swapped(const char *text, const char *old, const char *new)
{
    static char buffer[8192];
    const char *at = strstr(text, old);
    if (at == NULL) fail_msg("no \"%s\" to replace", old);
    int length = snprintf(buffer, sizeof buffer, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    assert_true(length > 0 && (size_t)length < sizeof buffer);
    return buffer;
}

#endif
