/* main.c: runs the command, returns the exit code. */
#include "commands.h"
#include "analysis.h"
#include "base/platform.h"
#include "other_programs.h"
#include "outputs.h"
#include "base/visible.h"
#include "print/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void write_summary(FILE *file, const struct command *command)
{
    fprintf(file, "  %-20s %s\n", command->name, command->summary);
}

static void write_overview(void)
{
    printf("usage: paritas COMMAND ... [options]\n\n"
           "Fits binned likelihoods (pyhf JSON workspaces, CMS datacards), and loss cones of electrons above "
           "the "
           "Moon.\n\nCommands:\n");
    for (size_t i = 0; commands[i]; i++) write_summary(stdout, commands[i]);
    printf("\n`paritas COMMAND --help` lists a command's options; a workspace named - is standard input.\n"
           "PARITAS_DEVICE=NAME stands for --device, PARITAS_CACHE=FOLDER names the folder of compiled "
           "kernels (empty: none).\n"
           "PARITAS_ISA=portable|scalar|avx2|avx512|neon|relaxed_simd and PARITAS_LANES=1|2|4|8|16 force a "
           "build of the kernels.\n"
           "paritas --version tells the version.\n");
}

static int exit_code_of(paritas_status status)
{
    switch (status) {
    case PARITAS_OK:
        return 0;
    case PARITAS_NOT_CONVERGED:
        return EXIT_NOT_CONVERGED;
    case PARITAS_NO_DEVICE:
        return EXIT_DEVICE;
    case PARITAS_UNWRITABLE:
        return EXIT_OUTPUT;
    default:
        return EXIT_INPUT;
    }
}

static bool options_agree(const struct arguments *arguments)
{
    size_t standard_input = 0;
    for (size_t i = 0; i < arguments->n_operands; i++)
        standard_input += strcmp(arguments->operands[i], "-") == 0;
    for (size_t i = 0; i < arguments->n_given; i++)
        standard_input +=
            arguments->given[i].option->kind == OPTION_INPUT && strcmp(arguments->given[i].text, "-") == 0;
    if (standard_input > 1) {
        usage_error(arguments->command, "standard input can be read once");
        return false;
    }
    if (argument_given(arguments, "--patch-name") && !argument_given(arguments, "--patchset")) {
        usage_error(arguments->command, "--patch-name needs --patchset FILE");
        return false;
    }
    if (wants_patchset(arguments) && !takes_patchset(arguments->command)) {
        const char *name = arguments->command->name;
        usage_error(arguments->command, "%s takes one patch of a patch set: --patch-name NAME%s", name,
                    strcmp(name, "significance") == 0 ? "; for all, `paritas hypotest --test-stat q0` and "
                                                        "`paritas look-elsewhere`"
                                                      : "");
        return false;
    }
    return options_complete(arguments) && outputs_apart(arguments);
}

/* The engine's --counts; another command may have an option of that name. */
static bool wants_counts(const struct session *session)
{
    const struct given *given = option_given(session, "--counts");
    for (const struct option *row = options_engine; given && row->name; row++)
        if (given->option == row) return true;
    return false;
}

static void write_counts(const struct session *session)
{
    const paritas_work *work = paritas_work_done(session->context);
    if (!work || !wants_counts(session)) return;
    fprintf(stderr,
            "fits: %" PRIu64 ", iterations: %" PRIu64 ", gradients: %" PRIu64 ", points: %" PRIu64 "\n",
            work->fits, work->iterations, work->gradients, work->points);
}

static int run(const struct arguments *arguments)
{
    const struct given *file = argument_given(arguments, "--output-file");
    const char *path = file ? file->text : NULL;
    if (path && !output_check(path)) return EXIT_OUTPUT;
    struct session session;
    const struct command *command = arguments->command;
    paritas_status status = session_open(&session, arguments);
    if (status == PARITAS_OK)
        status = command->run ? (paritas_status)command->run(&session) : analysis_run(&session);
    progress_close(&session.progress);
    if (status == PARITAS_OK) describe_provenance(&session);
    int code = exit_code_of(status);
    if (status == PARITAS_OK && session.out.failed) {
        status = paritas_fail_memory(session.context);
        code = exit_code_of(status);
    }
    if (status != PARITAS_OK) {
        const char *message = session.context ? NAME_OPTIONS(command, session.context->message) : "";
        fprintf(stderr, "paritas: %s\n", message[0] != '\0' ? message : paritas_status_message(status));
    }
    write_counts(&session);
    if (session.wrong_usage) code = EXIT_USAGE;
    /* a patch set has good lines beside failed ones */
    if ((status == PARITAS_OK || session.partial) &&
        !output_write(path, session.out.bytes, session.out.length))
        code = EXIT_OUTPUT;
    else if (status == PARITAS_OK && session.not_converged)
        code = EXIT_NOT_CONVERGED;
    session_close(&session);
    return code;
}

/* "fit" for command "losscone fit", name "losscone"; else NULL. */
static const char *action_of(const struct command *command, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(command->name, name, length) == 0 && command->name[length] == ' '
               ? command->name + length + 1
               : NULL;
}

/* *words: two if the command has actions, else one. */
static const struct command *find_command(const char *name, const char *action, int *words)
{
    for (size_t i = 0; commands[i]; i++) {
        const char *wanted = action_of(commands[i], name);
        *words = wanted ? 2 : 1;
        if (wanted ? strcmp(wanted, action) == 0 : strcmp(commands[i]->name, name) == 0) return commands[i];
    }
    return NULL;
}

static int write_unknown(const char *name, const char *word)
{
    const bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    FILE *file = help ? stdout : stderr;
    bool has_actions = false;
    for (size_t i = 0; commands[i]; i++) {
        if (!action_of(commands[i], name)) continue;
        if (!has_actions) {
            if (word[0] == '\0')
                fprintf(file, "paritas: %s needs an action\n", name);
            else if (!help)
                fprintf(file, "paritas: %s has no action '%s'\n", name, word);
            fprintf(file, "usage: paritas %s ACTION ... [options]\n\n", name);
        }
        has_actions = true;
        write_summary(file, commands[i]);
    }
    if (has_actions) return help ? 0 : EXIT_USAGE;
    char hint[200], shown[400];
    suggest_command(hint, sizeof hint, commands, name);
    if (strcmp(name, "-M") == 0) suggest_method(hint, sizeof hint, word);
    if (name[0] == '\0')
        fprintf(stderr, "paritas: a command is needed; `paritas --help` lists them\n");
    else
        fprintf(stderr, "paritas: there is no command '%s'%s; `paritas --help` lists them\n",
                visible_copy(name, sizeof shown, shown), hint);
    return EXIT_USAGE;
}

static int answer(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *action = argc > 2 ? argv[2] : "";
    int words = 1;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        write_overview();
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        printf("paritas %s\n", paritas_version());
        return 0;
    }
    const struct command *command = find_command(name, action, &words);
    if (!command) return write_unknown(name, action);
    struct arguments arguments;
    int code = EXIT_USAGE;
    switch (arguments_parse(command, argc - 1 - words, argv + 1 + words, &arguments)) {
    case PARSE_OK:
        if (options_agree(&arguments)) code = run(&arguments);
        break;
    case PARSE_HELP:
        help_write(command);
        code = 0;
        break;
    case PARSE_WRONG:
        break;
    case PARSE_MEMORY:
        fprintf(stderr, "paritas: memory could not be allocated\n");
        code = EXIT_INPUT;
        break;
    }
    arguments_free(&arguments);
    return code;
}

int main(int argc, char **argv)
{
    platform_start_program(&argc, &argv);
    const int code = answer(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "paritas: standard output: cannot be written: %s\n", strerror(errno));
    return EXIT_OUTPUT;
}
