/* native_entries.h: the entries of all modules that tests build as native code from a device's text. */
#ifndef PARITAS_TESTS_NATIVE_ENTRIES_H
#define PARITAS_TESTS_NATIVE_ENTRIES_H

#include "entry/histfactory_entries.h"

#define NATIVE_ENTRIES(X) MODULE_ENTRIES(X) X(conform)

#endif
