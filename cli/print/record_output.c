/* record_output.c: writes public records as JSON. */
#include "print/record_output.h"

#include "paritas.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static uint64_t unsigned_at(const char *at, size_t size)
{
    unsigned narrow;
    uint64_t wide;
    if (size == sizeof narrow) return memcpy(&narrow, at, sizeof narrow), narrow;
    return memcpy(&wide, at, sizeof wide), wide;
}

static void write_element(struct writer *writer, const char *key, const paritas_field *field, const char *at)
{
    double real;
    int number;
    switch (field->type) {
    case PARITAS_FIELD_REAL:
        memcpy(&real, at, sizeof real);
        write_number(writer, key, real);
        return;
    case PARITAS_FIELD_UNSIGNED:
        write_integer(writer, key, unsigned_at(at, field->size));
        return;
    case PARITAS_FIELD_TRUTH:
        memcpy(&number, at, sizeof number);
        write_bool(writer, key, number != 0);
        return;
    case PARITAS_FIELD_WORD:
        memcpy(&number, at, sizeof number);
        write_string(writer, key, paritas_enumeration_word(field->enumeration, number));
        return;
    case PARITAS_FIELD_TEXT:
        write_string(writer, key, at);
        return;
    case PARITAS_FIELD_RECORD:
        write_object(writer, key, false);
        write_record(writer, field->nested->name, at);
        write_close(writer);
        return;
    case PARITAS_FIELD_SIGNED: /* no shown record has one */
        break;
    }
    assert(!"a field of an unknown type");
}

static void write_field(struct writer *writer, const paritas_field *field, const char *record)
{
    const char *at = record + field->offset;
    if (!field->is_array || field->type == PARITAS_FIELD_TEXT) {
        write_element(writer, field->word, field, at);
        return;
    }
    write_array(writer, field->word, false);
    for (size_t i = 0; i < field->count; i++) write_element(writer, NULL, field, at + i * field->size);
    write_close(writer);
}

void write_fields(struct writer *writer, const char *type, const void *record, const char *first,
                  const char *last)
{
    const paritas_record *described = paritas_record_find(type);
    assert(described);
    bool within = !first;
    for (size_t i = 0; i < described->n_fields; i++) {
        const paritas_field *field = &described->fields[i];
        within = within || strcmp(field->word, first) == 0;
        if (within && field->word[0] != '\0') write_field(writer, field, record);
        if (last && strcmp(field->word, last) == 0) return;
    }
}

void write_record(struct writer *writer, const char *type, const void *record)
{
    write_fields(writer, type, record, NULL, NULL);
}

void write_minima(struct writer *writer, const paritas_minima *minima)
{
    write_bool(writer, "several_minima", minima->met > 1);
    write_object(writer, "minima", false);
    write_record(writer, "paritas_minima", minima);
    write_close(writer);
}

void write_record_row(struct writer *writer, const char *name, const char *type, const void *record)
{
    write_object(writer, NULL, false);
    if (name) write_string(writer, "name", name);
    write_record(writer, type, record);
    write_close(writer);
}

void record_clear(const char *type, void *record, int status)
{
    const double nan = (double)NAN;
    const paritas_record *described = paritas_record_find(type);
    assert(described);
    for (size_t i = 0; i < described->n_fields; i++) {
        const paritas_field *field = &described->fields[i];
        const size_t count = field->is_array ? field->count : 1;
        char *at = (char *)record + field->offset;
        memset(at, 0, count * field->size);
        for (size_t k = 0; k < count && field->type == PARITAS_FIELD_REAL; k++)
            memcpy(at + k * field->size, &nan, sizeof nan);
        if (field->type == PARITAS_FIELD_WORD && strcmp(field->word, "status") == 0)
            memcpy(at, &status, sizeof status);
    }
}
