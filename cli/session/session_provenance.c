/* session_provenance.c: the last keys of every answer. */
#include "session/session.h"

#include <string.h>

/* Only fits are polished. */
static const char *polish_of(const struct session *session)
{
    return session->no_fits ? "none" : paritas_polish_name(session->context);
}

void write_device(struct session *session)
{
    write_members(&session->writer, "device:s precision:s", paritas_device_name(session->context),
                  paritas_precision_name(session->context));
}

static void write_pois(struct session *session)
{
    write_array(&session->writer, "pois", false);
    for (size_t k = 0; k < session->n_pois; k++)
        write_string(&session->writer, NULL, parameter_name(session, session->pois[k]));
    write_close(&session->writer);
}

static void write_notes(struct session *session)
{
    const struct text *notes = &session->notes;
    if (notes->length == 0 || notes->failed) return;
    write_array(&session->writer, "notes", true);
    for (size_t at = 0; at < notes->length; at += strlen(notes->bytes + at) + 1)
        write_string(&session->writer, NULL, notes->bytes + at);
    write_close(&session->writer);
}

void write_provenance(struct session *session)
{
    write_notes(session);
    if (session->n_pois < 2)
        write_string(&session->writer, "poi", poi_name(session));
    else
        write_pois(session);
    write_device(session);
    write_string(&session->writer, "polish", polish_of(session));
}

void describe_provenance(struct session *session)
{
    const char *precision = paritas_precision_name(session->context),
               *device = paritas_device_name(session->context);
    if (session->json || !session->model || !takes_device(session->arguments->command)) return;
    if (option_given(session, "--csv")) return; /* a table alone */
    const struct given *given = option_given(session, "--precision");
    const bool chosen = given && strcmp(given->text, "auto") == 0;
    if (!chosen && strcmp(precision, "f64") == 0 && strcmp(device, "cpu") == 0) return;
    text_format(&session->out, "\ndevice: %s, precision: %s", device, precision);
    if (strcmp(precision, "f32") == 0) text_format(&session->out, ", polish: %s", polish_of(session));
    text_format(&session->out, "\n");
}
