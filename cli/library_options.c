/* library_options.c: the library's structs of options, as a command line fills them. */
#include "session/session.h"

#include <limits.h>
#include <string.h>

static paritas_status store(struct session *session, const paritas_option *option, const struct given *given,
                            void *member)
{
    uint64_t whole;
    switch (option->type) {
    case PARITAS_FIELD_REAL:
        memcpy(member, &given->number, sizeof given->number);
        if (is_range(option))
            memcpy((char *)member + sizeof given->upper, &given->upper, sizeof given->upper);
        return PARITAS_OK;
    case PARITAS_FIELD_UNSIGNED:
        whole = given->whole > 0 ? given->whole : (uint64_t)given->number;
        if (option->size == sizeof whole) {
            memcpy(member, &whole, sizeof whole);
            return PARITAS_OK;
        }
        if (whole > UINT_MAX)
            return usage_failure(session, "%s takes a whole number up to %u", option->word, UINT_MAX);
        *(unsigned *)member = (unsigned)whole;
        return PARITAS_OK;
    case PARITAS_FIELD_WORD:
        paritas_enumeration_value(option->enumeration, given->text, member);
        return PARITAS_OK;
    default:
        *(int *)member = 1;
        return PARITAS_OK;
    }
}

paritas_status options_take(struct session *session, const char *library, void *options)
{
    const paritas_option_list *list = paritas_option_list_find(library);
    for (size_t i = 0; i < list->n_options; i++) {
        const paritas_option *option = &list->options[i];
        const struct given *given = option->word[0] != '\0' ? option_given(session, option->word) : NULL;
        if (given && given->option->library)
            TRY(store(session, option, given, (char *)options + option->offset));
        i += is_range(option);
    }
    const paritas_status status = paritas_options_check(session->context, library, options);
    if (status != PARITAS_INVALID_ARGUMENT) return status;
    return usage_failure(session, "%s", paritas_error_message(session->context) + strlen("options: "));
}

void options_write(struct writer *writer, const char *library, const void *options,
                   const char *const left_out[])
{
    const paritas_option_list *list = paritas_option_list_find(library);
    for (size_t i = 0; i < list->n_options; i++) {
        const paritas_option *option = &list->options[i];
        const bool range = is_range(option);
        char key[40] = "";
        double numbers[2];
        bool left = option->word[0] == '\0';
        for (const char *const *name = left_out; *name; name++)
            left = left || strcmp(*name, option->word) == 0;
        i += range;
        if (left) continue;
        strncat(key, option->word + strlen("--"), sizeof key - 1);
        for (char *at = key; *at != '\0'; at++)
            if (*at == '-') *at = '_';
        memcpy(numbers, (const char *)options + option->offset, (1 + range) * option->size);
        if (range)
            write_numbers(writer, key, 2, numbers);
        else if (option->type == PARITAS_FIELD_REAL)
            write_number(writer, key, numbers[0]);
        else if (option->type == PARITAS_FIELD_TRUTH)
            write_bool(writer, key, *(const int *)((const char *)options + option->offset) != 0);
    }
}
