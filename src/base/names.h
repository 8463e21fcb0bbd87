/* names.h: functions that give the text of an enum's value, made from the list that the enum was made
 * from. */
#ifndef PARITAS_BASE_NAMES_H
#define PARITAS_BASE_NAMES_H

/* Defines const char *function(type value): what CASE returns for a value of LIST, else `unknown`: callers
 * may pass any number as an enum. */
#define TEXTS_OF(type, LIST, CASE, unknown, function) \
    const char *function(type value)                  \
    {                                                 \
        switch ((int)value) {                         \
            LIST(CASE)                                \
        }                                             \
        return unknown;                               \
    }

/* The third column of a list, whatever columns follow it: the word or sentence of a value. */
#define WORD_CASE(...) WORD_CASE_OF(__VA_ARGS__, last)
#define WORD_CASE_OF(name, value, word, ...) \
    case value:                              \
        return word;

#define NAME_OF(type, LIST, function) TEXTS_OF(type, LIST, WORD_CASE, "unknown", function)

#endif
