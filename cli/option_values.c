/* option_values.c: what the session's options say. */
#include "paritas_records.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

const struct given *option_given(const struct session *session, const char *name)
{
    return argument_given(session->arguments, name);
}

const struct given *option_value(const struct session *session, const char *name)
{
    return argument_value(session->arguments, name);
}

const char *data_word(const struct session *session)
{
    return option_given(session, "--asimov") ? "Asimov" : "observed";
}

bool option_flag(const struct session *session, const char *name)
{
    return option_given(session, name);
}

const char *option_text(const struct session *session, const char *name)
{
    const struct given *given = option_value(session, name);
    return given ? given->text : NULL;
}

double option_number(const struct session *session, const char *name)
{
    return option_number_or(session, name, NAN);
}

double option_number_or(const struct session *session, const char *name, double otherwise)
{
    const struct given *given = option_value(session, name);
    return given ? given->number : otherwise;
}

uint64_t option_whole(const struct session *session, const char *name)
{
    const struct given *given = option_value(session, name);
    return given ? given->whole : 0;
}

size_t option_count(const struct session *session, const char *name)
{
    return (size_t)option_number_or(session, name, 0.0);
}

int option_constant(const struct session *session, const char *name, const char *enumeration)
{
    int value = 0;
    paritas_enumeration_value(paritas_enumeration_find(enumeration), option_text(session, name), &value);
    return value;
}

const struct given *option_next(const struct session *session, const char *name, size_t *at)
{
    const struct arguments *arguments = session->arguments;
    while (*at < arguments->n_given) {
        const struct given *given = &arguments->given[(*at)++];
        if (strcmp(given->option->name, name) == 0) return given;
    }
    return NULL;
}
