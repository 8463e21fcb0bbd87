/* conformance_entries.h: the entries of the conformance module. */
#ifndef PARITAS_ENTRY_CONFORMANCE_ENTRIES_H
#define PARITAS_ENTRY_CONFORMANCE_ENTRIES_H

#define MODULE_ENTRIES(X) X(conform)

#endif
