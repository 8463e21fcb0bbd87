/* conformance_entries.h: the entries of the conformance module. */
#pragma once

#define MODULE_ENTRIES(X) X(conform)
