/* pattern.h: names that patterns ask for. */
#pragma once

#include <stdbool.h>

/* * is any text, ? one byte. No brackets: names of parameters have them. */
bool pattern_matches(const char *pattern, const char *name);
