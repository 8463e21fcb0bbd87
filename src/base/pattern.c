/* pattern.c: names that patterns ask for. */
#include "base/pattern.h"

#include <stddef.h>
#include <string.h>

bool pattern_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL; /* the last star, and where its text ends so far */
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}
