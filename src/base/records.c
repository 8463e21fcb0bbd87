/* records.c: descriptors of public enumerations, records and structs of options, made from their lists. */
#include "base/context.h"
#include "base/public_lists.h"

#include <string.h>

#define WORD_OF(constant, number, text, sentence) {#constant, number, text, sentence},
#define WORDS_OF(type, LIST, sentence) static const paritas_word words_of_##type[] = {LIST(WORD_OF)};
ALL_ENUMERATIONS(WORDS_OF)

#define NUMBER_OF_ENUMERATION(type, LIST, sentence) ENUMERATION_##type,
enum { ALL_ENUMERATIONS(NUMBER_OF_ENUMERATION) ENUMERATION_COUNT };

#define DESCRIBE_ENUMERATION(type, LIST, sentence) \
    {#type, sentence, COUNT_OF(words_of_##type), words_of_##type},
static const paritas_enumeration enumerations[] = {ALL_ENUMERATIONS(DESCRIBE_ENUMERATION)};

const paritas_enumeration *paritas_enumerations(size_t *count)
{
    GIVEN(NULL, count);
    *count = ENUMERATION_COUNT;
    return enumerations;
}

const paritas_enumeration *paritas_enumeration_find(const char *name)
{
    for (size_t i = 0; name && i < ENUMERATION_COUNT; i++)
        if (strcmp(enumerations[i].name, name) == 0) return &enumerations[i];
    return NULL;
}

const char *paritas_enumeration_word(const paritas_enumeration *enumeration, int value)
{
    for (size_t i = 0; enumeration && i < enumeration->n; i++)
        if (enumeration->words[i].value == value) return enumeration->words[i].word;
    return NULL;
}

int paritas_enumeration_value(const paritas_enumeration *enumeration, const char *word, int *value)
{
    for (size_t i = 0; enumeration && word && value && i < enumeration->n; i++)
        if (strcmp(enumeration->words[i].word, word) == 0) {
            *value = enumeration->words[i].value;
            return 1;
        }
    return 0;
}

/* `value` may be any number. */
static const char *name_of(size_t which, int value)
{
    const char *word = paritas_enumeration_word(&enumerations[which], value);
    return word ? word : "unknown";
}

#define NAME_FUNCTION(type, LIST, sentence)             \
    const char *type##_name(type value)                 \
    {                                                   \
        return name_of(ENUMERATION_##type, (int)value); \
    }
ALL_ENUMERATIONS(NAME_FUNCTION)

const char *paritas_status_message(paritas_status status)
{
    const paritas_enumeration *statuses = &enumerations[ENUMERATION_paritas_status];
    for (size_t i = 0; i < statuses->n; i++)
        if (statuses->words[i].value == (int)status) return statuses->words[i].doc;
    return "unknown status";
}

#define NUMBER_OF_RECORD(type, LIST, sentence) RECORD_##type,
enum { ALL_RECORDS(NUMBER_OF_RECORD) RECORD_COUNT };
static const paritas_record records[RECORD_COUNT];

/* Number of a type's word: a C type, or index of enumeration or record. */
#define ENUMERATION_TYPES 100
#define RECORD_TYPES 1000
#define TYPE_OF_ENUMERATION(type, LIST, sentence) TYPE_##type = ENUMERATION_TYPES + ENUMERATION_##type,
#define TYPE_OF_RECORD(type, LIST, sentence) TYPE_##type = RECORD_TYPES + RECORD_##type,
enum {
    TYPE_double = PARITAS_FIELD_REAL,
    TYPE_unsigned = PARITAS_FIELD_UNSIGNED,
    TYPE_uint64_t = PARITAS_FIELD_UNSIGNED,
    TYPE_size_t = PARITAS_FIELD_UNSIGNED,
    TYPE_int = PARITAS_FIELD_SIGNED,
    TYPE_paritas_truth = PARITAS_FIELD_TRUTH,
    TYPE_char = PARITAS_FIELD_TEXT,
    ALL_ENUMERATIONS(TYPE_OF_ENUMERATION) ALL_RECORDS(TYPE_OF_RECORD)
};
#define IS_ENUMERATION(type) ((type) >= ENUMERATION_TYPES && (type) < RECORD_TYPES)
#define FIELD_TYPE(type)                                     \
    ((type) < ENUMERATION_TYPES ? (paritas_field_type)(type) \
     : (type) < RECORD_TYPES    ? PARITAS_FIELD_WORD         \
                                : PARITAS_FIELD_RECORD)
#define FIELD_ENUMERATION(type) \
    (IS_ENUMERATION(type) ? &enumerations[IS_ENUMERATION(type) ? (type) - ENUMERATION_TYPES : 0] : NULL)
#define FIELD_RECORD(type) \
    ((type) >= RECORD_TYPES ? &records[(type) >= RECORD_TYPES ? (type) - RECORD_TYPES : 0] : NULL)

/* `count`: nothing, [N] or [N][M]. An element of `char *(*)count` has M pointers; for a scalar it is a
 * char. */
#define COLUMNS(field_count) \
    (sizeof(#field_count) > 1 ? sizeof(**(char *(*)field_count)NULL) / sizeof(char *) : 1)
#define FIELD(record, field_type, field, field_count, field_word, field_unit, sentence) \
    {.name = #field,                                                                    \
     .word = field_word,                                                                \
     .unit = field_unit,                                                                \
     .doc = sentence,                                                                   \
     .type = FIELD_TYPE(TYPE_##field_type),                                             \
     .offset = offsetof(record, field),                                                 \
     .size = sizeof(field_type),                                                        \
     .count = sizeof(((record *)NULL)->field) / sizeof(field_type),                     \
     .is_array = sizeof(#field_count) > 1,                                              \
     .columns = COLUMNS(field_count),                                                   \
     .enumeration = FIELD_ENUMERATION(TYPE_##field_type),                               \
     .nested = FIELD_RECORD(TYPE_##field_type)},
#define FIELDS_OF(type, LIST, sentence) static const paritas_field fields_of_##type[] = {LIST(FIELD, type)};
ALL_RECORDS(FIELDS_OF)

#define DESCRIBE_RECORD(type, LIST, sentence) \
    {#type, sentence, sizeof(type), COUNT_OF(fields_of_##type), fields_of_##type},
static const paritas_record records[RECORD_COUNT] = {ALL_RECORDS(DESCRIBE_RECORD)};

const paritas_record *paritas_records(size_t *count)
{
    GIVEN(NULL, count);
    *count = RECORD_COUNT;
    return records;
}

const paritas_record *paritas_record_find(const char *name)
{
    for (size_t i = 0; name && i < RECORD_COUNT; i++)
        if (strcmp(records[i].name, name) == 0) return &records[i];
    return NULL;
}

#define OTHER(record, member_type, member, sentence)
#define OPTION(record, member_type, member, value, least, most, option_word, option_unit, sentence) \
    {.name = #member,                                                                               \
     .word = option_word,                                                                           \
     .unit = option_unit,                                                                           \
     .doc = sentence,                                                                               \
     .type = FIELD_TYPE(TYPE_##member_type),                                                        \
     .offset = offsetof(record, member),                                                            \
     .size = sizeof(member_type),                                                                   \
     .enumeration = FIELD_ENUMERATION(TYPE_##member_type),                                          \
     .otherwise = (double)(value),                                                                  \
     .lower = least,                                                                                \
     .upper = most},
#define OPTIONS_OF(type, LIST, sentence) \
    static const paritas_option options_of_##type[] = {LIST(OPTION, OTHER, type)};
ALL_OPTION_LISTS(OPTIONS_OF)

#define DESCRIBE_OPTIONS(type, LIST, sentence) \
    {#type, sentence, sizeof(type), COUNT_OF(options_of_##type), options_of_##type},
static const paritas_option_list option_lists[] = {ALL_OPTION_LISTS(DESCRIBE_OPTIONS)};

const paritas_option_list *paritas_option_lists(size_t *count)
{
    GIVEN(NULL, count);
    *count = COUNT_OF(option_lists);
    return option_lists;
}

const paritas_option_list *paritas_option_list_find(const char *name)
{
    for (size_t i = 0; name && i < COUNT_OF(option_lists); i++)
        if (strcmp(option_lists[i].name, name) == 0) return &option_lists[i];
    return NULL;
}
