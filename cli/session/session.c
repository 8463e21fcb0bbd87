/* session.c: contexts of a run, opened by command line and environment; how a run fails. */
#define _POSIX_C_SOURCE 200809L
#include "session/session.h"
#include "base/platform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *environment(const char *name)
{
    const char *text = getenv(name);
    return text && text[0] != '\0' ? text : NULL;
}

/* PARITAS_LANES; 0: not set, or wrong (text in `wrong`). */
static unsigned environment_lanes(const char **wrong)
{
    const char *text = environment("PARITAS_LANES");
    const int power = text ? option_choice("1|2|4|8|16", text) : -1;
    *wrong = power < 0 ? text : NULL;
    return power < 0 ? 0 : 1u << power;
}

const char *environment_device(void)
{
    return environment("PARITAS_DEVICE");
}

bool takes_device(const struct command *command)
{
    for (const struct option_group *group = command->groups; group->options; group++)
        if (group->options == options_engine || group->options == options_fit_engine) return true;
    return false;
}

/* NULL for commands that evaluate nothing, whatever the environment says. */
static const char *device_of(const struct session *session)
{
    const char *given = option_text(session, "--device"), *named = environment_device();
    if (!takes_device(session->arguments->command)) return "cpu";
    return given ? given : named ? named : "auto";
}

static void print_note(void *user, const char *message)
{
    (void)user;
    fprintf(stderr, "paritas: %s\n", message);
}

/* Prints a note, and keeps it for an answer in JSON, unless it is of how a device runs. The same words twice
 * in a row are one note. */
static void take_note(void *user, const char *message)
{
    struct session *session = user;
    struct text *notes = &session->notes;
    const size_t length = strlen(message) + 1;
    if (session->keeps_notes && !session->context->device_note) {
        if (notes->length >= length && strcmp(notes->bytes + notes->length - length, message) == 0) return;
        text_append(notes, message, length);
    }
    if (!option_flag(session, "--quiet")) print_note(NULL, message);
}

static void open_outputs(struct session *session)
{
    arena_open(&session->arena, &session->context->allocator);
    text_open(&session->out, &session->context->allocator);
    text_open(&session->notes, &session->context->allocator);
    session->out.for_people = !session->json;
    writer_open(&session->writer, &session->out, false);
}

static paritas_status open_context(struct session *session)
{
    paritas_status status = paritas_open(&session->options, &session->context);
    if (session->context) open_outputs(session);
    return status;
}

/* A device that PARITAS_DEVICE names and that cannot run: the message names the variable. */
static paritas_status name_variable(struct session *session, paritas_status status)
{
    const bool named = !option_given(session, "--device") && takes_device(session->arguments->command) &&
                       environment_device();
    if (status != PARITAS_NO_DEVICE || !named || !session->context) return status;
    char message[sizeof session->context->message];
    memcpy(message, session->context->message, sizeof message);
    return paritas_fail(session->context, status, "PARITAS_DEVICE: %s", message);
}

/* Drivers read these when they are opened. */
static void set_for_drivers(void)
{
    char name[64];
    const char *setting;
    for (size_t i = 0; (setting = paritas_driver_setting(i)); i++) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "="), setting);
        platform_set_missing(name, strchr(setting, '=') + 1);
    }
}

paritas_status session_open(struct session *session, const struct arguments *arguments)
{
    static const unsigned precisions[] = {64, 32, PARITAS_PRECISION_AUTO};
    const char *wrong_lanes;
    *session = (struct session){
        .job = PARITAS_JOB_DEFAULT, .arguments = arguments, .options = PARITAS_OPTIONS_DEFAULT};
    const struct given *precision = option_given(session, "--precision");
    const bool quiet = option_flag(session, "--quiet");
    session->json = option_flag(session, "--json");
    paritas_options *options = &session->options;
    options->threads = (unsigned)option_count(session, "--threads");
    options->isa = environment("PARITAS_ISA");
    options->lanes = environment_lanes(&wrong_lanes);
    options->cache = paritas_cache_folder(getenv("PARITAS_CACHE"), getenv("XDG_CACHE_HOME"), platform_home(),
                                          sizeof session->cache, session->cache);
    options->device = device_of(session);
    options->precision = precision ? precisions[precision->choice] : 0;
    options->no_polish = option_flag(session, "--no-polish");
    options->again = option_flag(session, "--again");
    options->progress = progress_report;
    options->progress_user = &session->progress;
    options->note = take_note;
    options->note_user = session;
    set_for_drivers();
    progress_open(&session->progress, quiet, "fits");
    if (arguments->command->days || wants_patchset(arguments)) {
        recycler_open(&session->recycler);
        options->allocator = &session->recycler.allocator;
    }
    TRY(name_variable(session, open_context(session)));
    return !wrong_lanes ? PARITAS_OK
                        : paritas_refuse(session->context, "PARITAS_LANES takes 1, 2, 4, 8 or 16, not '%s'",
                                         wrong_lanes);
}

static void copy_options(struct session *session, const struct session *first)
{
    *session = (struct session){.job = PARITAS_JOB_DEFAULT,
                                .arguments = first->arguments,
                                .json = first->json,
                                .options = first->options};
}

paritas_status session_open_beside(struct session *session, const struct session *first, const char *device,
                                   unsigned threads)
{
    copy_options(session, first);
    session->options.device = device;
    session->options.threads = threads;
    session->options.progress = NULL;
    session->options.note = option_flag(session, "--quiet") ? NULL : print_note;
    return open_context(session);
}

void session_share(struct session *session, struct session *first)
{
    copy_options(session, first);
    session->context = first->context;
    session->shares = true;
    first->progress.on = false;
    open_outputs(session);
}

paritas_status open_another(struct session *session, const paritas_options *options,
                            paritas_context **context)
{
    const paritas_status status = paritas_open(options, context);
    if (status == PARITAS_OK) return status;
    return paritas_fail(session->context, status, "%s",
                        *context ? paritas_error_message(*context) : paritas_status_message(status));
}

void session_clear(struct session *session)
{
    paritas_toy_data_free(session->data);
    paritas_model_free(session->model);
    paritas_workspace_free(session->workspace);
    arena_free(&session->arena);
    session->data = NULL;
    session->prepared = NULL;
    session->model = NULL;
    session->workspace = NULL;
    session->job = (paritas_job)PARITAS_JOB_DEFAULT;
    session->n_parameters = session->n_main = session->n_aux = session->n_pois = session->n_toys = 0;
    session->not_converged = session->partial = session->wrong_usage = session->short_of_memory = false;
    session->context->message[0] = '\0';
}

void session_close(struct session *session)
{
    if (!session->context) return;
    session_clear(session);
    text_free(&session->out);
    text_free(&session->notes);
    if (!session->shares) paritas_close(session->context);
    session->context = NULL;
    if (session->recycler.allocator.allocate) recycler_close(&session->recycler);
}

paritas_status usage_failure(struct session *session, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    session->wrong_usage = true;
    return paritas_refuse(session->context, "%s", text);
}

void note_status(struct session *session, paritas_fit_status status)
{
    if (status != PARITAS_FIT_CONVERGED) session->not_converged = true;
}
