/* paritas_records.h: how the public interface describes its enumerations and records.
 *
 * Each enumeration and each record is written once, as a list. From it come the C type, the library's
 * descriptor, the reference pages, the columns of the program's JSON, CSV and SQLite, and Python's
 * attributes. A line that is added to a list appears in all of them. Structs of options are such lists too:
 * they give defaults, checks, the program's options and Python's keywords.
 *
 *   PARITAS_..._LIST(ITEM)      ITEM(name, value, word, doc): a constant, its value, the word for it in files
 *   PARITAS_..._FIELDS(FIELD)   FIELD(record, type, name, count, word, unit, doc): a member of a struct
 *                               count   nothing, or [N] for an array
 *                               word    its name in JSON, CSV, SQLite and Python; "": only in C, and in
 *                                       Python under its C name
 *                               unit    "" where it has none, or the model's
 *   PARITAS_..._OPTIONS(OPTION, OTHER, S)
 *                               a struct of options: its members, defaults and bounds. Functions refuse
 *                               numbers outside the bounds
 *     OPTION(S, type, name, otherwise, lower, upper, word, unit, doc)
 *                               otherwise     the default
 *                               lower, upper  PARITAS_FROM(0.0), PARITAS_BELOW(1.0), PARITAS_NO_BOUND, ...
 *                               word          "--seed": the program's option; "": the program has none, or
 *                                             describes it itself. Python's keyword is the name
 *     OTHER(S, type, name, doc) an argument that is no number: NULL or 0 by default
 *
 * Structs grow. Each one that a caller hands over or receives begins with its `size`. The caller sets it:
 *
 *   paritas_limit_result result = PARITAS_INIT(paritas_limit_result);
 *
 * In an array the size of the first element counts for all. A size of 0, or one that no version had, is
 * PARITAS_INVALID_ARGUMENT. New fields are added at the end. A record inside another one does not grow.
 */
#ifndef PARITAS_RECORDS_H
#define PARITAS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* PARITAS_INIT in C++. */
extern "C++" template <typename Record> inline Record paritas_init()
{
    Record record = Record();
    record.size = sizeof(Record);
    return record;
}
extern "C" {
#endif

#if defined(PARITAS_BUILDING) && defined(_WIN32)
#define PARITAS_API __declspec(dllexport)
#elif defined(PARITAS_BUILDING) && defined(__GNUC__)
#define PARITAS_API __attribute__((visibility("default")))
#else
#define PARITAS_API
#endif

/* Stands before the name of an argument that may be NULL (paritas.h). */
#define PARITAS_OR_NULL

/* A struct with its size set and everything else 0. Options have a PARITAS_..._DEFAULT as well. */
#ifdef __cplusplus
#define PARITAS_INIT(type) paritas_init<type>()
#else
#define PARITAS_INIT(type) {.size = sizeof(type)}
#endif

/* Expansions of the lists. */
#define PARITAS_ENUMERATOR(name, value, word, doc) name = value,
#define PARITAS_COUNT_ITEM(name, value, word, doc) +1 /* (0 LIST(PARITAS_COUNT_ITEM)): how many there are */
#define PARITAS_MEMBER(record, type, name, count, word, unit, doc) type name count;

#define PARITAS_OPTION_MEMBER(record, type, name, otherwise, lower, upper, word, unit, doc) type name;
#define PARITAS_OTHER_MEMBER(record, type, name, doc) type name;
#define PARITAS_OPTION_DEFAULT(record, type, name, otherwise, lower, upper, word, unit, doc) otherwise,
#define PARITAS_OTHER_DEFAULT(record, type, name, doc) 0,
#define PARITAS_OPTIONS_DEFAULTS(record, LIST) \
    {sizeof(record), LIST(PARITAS_OPTION_DEFAULT, PARITAS_OTHER_DEFAULT, record)}

/* Bounds of an option, as a paritas_bound. */
#define PARITAS_NO_BOUND {0.0, 0, 0, 0}
#define PARITAS_FROM(number) {number, 1, 0, 0} /* lower; the number itself is allowed */
#define PARITAS_ABOVE(number) {number, 1, 1, 0}
#define PARITAS_ZERO_OR_FROM(number) {number, 1, 0, 1}
#define PARITAS_TO(number) {number, 1, 0, 0} /* upper; the number itself is allowed */
#define PARITAS_BELOW(number) {number, 1, 1, 0}

/* 0 or 1; `true` or `false` in JSON and Python. */
typedef int paritas_truth;

/* ---- descriptors -------------------------------------------------------------------------------- */

/* One constant of an enumeration. */
typedef struct paritas_word {
    const char *name; /* "PARITAS_FIT_CONVERGED" */
    int value;
    const char *word; /* "converged" */
    const char *doc;
} paritas_word;

typedef struct paritas_enumeration {
    const char *name; /* "paritas_fit_status" */
    const char *doc;
    size_t n;
    const paritas_word *words;
} paritas_enumeration;

/* What a field holds. */
#define PARITAS_FIELD_TYPE_LIST(ITEM)                                           \
    ITEM(PARITAS_FIELD_REAL, 0, "real", "double")                               \
    ITEM(PARITAS_FIELD_UNSIGNED, 1, "unsigned", "unsigned, uint64_t or size_t") \
    ITEM(PARITAS_FIELD_SIGNED, 2, "signed", "int")                              \
    ITEM(PARITAS_FIELD_TRUTH, 3, "truth", "paritas_truth")                      \
    ITEM(PARITAS_FIELD_WORD, 4, "word", "a constant of `enumeration`")          \
    ITEM(PARITAS_FIELD_RECORD, 5, "record", "a record, described by `nested`")  \
    ITEM(PARITAS_FIELD_TEXT, 6, "text", "characters that end with a zero byte")
typedef enum paritas_field_type { PARITAS_FIELD_TYPE_LIST(PARITAS_ENUMERATOR) } paritas_field_type;

/* One field of a record. */
typedef struct paritas_field {
    const char *name; /* of the member in C */
    const char *word; /* in JSON, CSV, SQLite and Python; "": the program does not write it */
    const char *unit;
    const char *doc;
    paritas_field_type type;
    size_t offset, size, count;             /* bytes from the start; bytes of one element; elements */
    paritas_truth is_array;                 /* nonzero: an array, also one of a single element */
    size_t columns;                         /* of an array [rows][columns]; else 1 */
    const paritas_enumeration *enumeration; /* of a WORD; else NULL */
    const struct paritas_record *nested;    /* of a RECORD; else NULL */
} paritas_field;

typedef struct paritas_record {
    const char *name; /* "paritas_limit_result" */
    const char *doc;
    size_t size; /* sizeof */
    size_t n_fields;
    const paritas_field *fields;
} paritas_record;

/* A bound of an option. */
typedef struct paritas_bound {
    double value;
    paritas_truth exists;
    paritas_truth open;    /* nonzero: the value itself is not allowed */
    paritas_truth or_zero; /* nonzero: 0 is allowed as well */
} paritas_bound;

/* One option of a struct of options. Members that are no numbers have no description. */
typedef struct paritas_option {
    const char *name; /* of the member in C, and of the keyword in Python */
    const char *word; /* "--seed": in the program; "": none */
    const char *unit;
    const char *doc;
    paritas_field_type type;                /* REAL, UNSIGNED, SIGNED, TRUTH or WORD */
    size_t offset, size;                    /* bytes from the start; bytes */
    const paritas_enumeration *enumeration; /* of a WORD; else NULL */
    double otherwise;                       /* the default; of a WORD the constant's value */
    paritas_bound lower, upper;
} paritas_option;

typedef struct paritas_option_list {
    const char *name; /* "paritas_losscone_options" */
    const char *doc;
    size_t size; /* sizeof */
    size_t n_options;
    const paritas_option *options;
} paritas_option_list;

/* All enumerations, records and structs of options of the public interface. The arrays are constant and live
 * as long as the library. */
PARITAS_API const paritas_enumeration *paritas_enumerations(size_t *count);
PARITAS_API const paritas_record *paritas_records(size_t *count);
PARITAS_API const paritas_option_list *paritas_option_lists(size_t *count);
/* What has this name ("paritas_fit_status", "paritas_limit_result", "paritas_losscone_options"); NULL:
 * nothing. */
PARITAS_API const paritas_enumeration *paritas_enumeration_find(const char *name);
PARITAS_API const paritas_record *paritas_record_find(const char *name);
PARITAS_API const paritas_option_list *paritas_option_list_find(const char *name);
/* Does the option allow this number, of a WORD the constant's value? */
PARITAS_API int paritas_option_allows(const paritas_option *option, double number);
/* What it allows, written to text[0..room): "above 0 and below 1", "qtilde|q". Returns `text`. */
PARITAS_API const char *paritas_option_allowed(const paritas_option *option, size_t room, char *text);
/* The word of a value; NULL where the enumeration has no such value. */
PARITAS_API const char *paritas_enumeration_word(const paritas_enumeration *enumeration, int value);
/* The value of a word into *value; 0 where the enumeration has no such word, else 1. */
PARITAS_API int paritas_enumeration_value(const paritas_enumeration *enumeration, const char *word,
                                          int *value);

#ifdef __cplusplus
}
#endif
#endif
