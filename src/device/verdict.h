/* verdict.h: what children found of drivers, remembered in the cache.
 *
 * A verdict is of a library version, a device name and the files that install drivers. Where one of them
 * changes, or the context says so, the driver is tried again. Without a cache nothing is remembered. */
#pragma once

#include "device/probe.h"

/* As probe_run, but a remembered failure stands, and where the request has a precision also a remembered
 * answer in it: then nothing is run. The CPU has no driver: PROBE_REFUSED. */
enum probe_end verdict_run(paritas_context *context, struct probe *probe,
                           void (*work)(paritas_context *context, struct probe *probe));

/* Opens as plain_open does, unless a child fails at it, or is remembered to have. *news (may be NULL): a
 * driver took its child down, which nobody was told before. */
paritas_status verdict_open(paritas_context *context, const char *name, const struct device_request *request,
                            struct paritas_device **device, bool *news);

/* True the first time that a cache is told of `what`; always true without a cache. */
bool verdict_is_news(paritas_context *context, const char *what);
