/* options.c: the parser and the help text. */
#include "options.h"
#include "base/json/json.h"
#include "base/visible.h"
#include "other_programs.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool number_of_text(const char *text, double *number)
{
    /* strtod in the C locale; keeps out nan, inf and hexadecimal */
    if (text[0] == '\0' || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    char *end;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

static void write_usage(FILE *file, const struct command *command)
{
    fprintf(file, "usage: paritas %s%s%s [options]", command->name, command->operands[0] != '\0' ? " " : "",
            command->operands);
}

void usage_error(const struct command *command, const char *format, ...)
{
    char text[1024], shown[sizeof text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "paritas: %s\n", visible_copy(text, sizeof shown, shown));
    write_usage(stderr, command);
    fprintf(stderr, "; `paritas %s --help` lists them\n", command->name);
}

/* A row, with all that it takes from the library's lists. */
struct described {
    struct option option;
    const char *word; /* default of a choice; else NULL */
    char value[80], otherwise[64];
};

/* If the default has no word, its doc is one: that of "" is "4". */
static void describe_words(const paritas_option *of, struct described *shown)
{
    shown->option.kind = OPTION_CHOICE;
    paritas_option_allowed(of, sizeof shown->value, shown->value);
    for (size_t i = 0; i < of->enumeration->n; i++) {
        const paritas_word *one = &of->enumeration->words[i];
        if (one->value == (int)of->otherwise) shown->word = one->word[0] != '\0' ? one->word : one->doc;
    }
    shown->option.otherwise = shown->word;
}

/* Returns its length; a whole number has no decimals. */
static int describe_default(double number, char *text)
{
    const int length = number_write(number, text);
    return length > 2 && strcmp(text + length - 2, ".0") == 0 ? length - 2 : length;
}

/* The value's name is the unit in capitals, or N, or X of a real number. The help says what a default of 0
 * means. */
static void describe_number(const paritas_option *of, struct described *shown)
{
    const bool real = of->type == PARITAS_FIELD_REAL, range = is_range(of),
               from_one = of->lower.value >= 1.0 && !paritas_option_allows(of, 0.0);
    shown->option.kind = range ? OPTION_RANGE : real ? OPTION_NUMBER : from_one ? OPTION_COUNT : OPTION_WHOLE;
    snprintf(shown->value, sizeof shown->value, "%s",
             range                 ? "LO:HI"
             : of->unit[0] != '\0' ? of->unit
             : real                ? "X"
                                   : "N");
    for (char *at = shown->value; *at != '\0'; at++)
        if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    int length = describe_default(of->otherwise, shown->otherwise);
    if (range) shown->otherwise[length++] = ':';
    if (range) length += describe_default(of[1].otherwise, shown->otherwise + length);
    shown->otherwise[length] = '\0';
    const bool told = of->otherwise == 0.0 && strstr(of->doc, "0: ");
    shown->option.otherwise = told ? NULL : shown->otherwise;
}

static void describe_option(const struct option *row, struct described *shown)
{
    const paritas_option *of = option_of_library(row);
    *shown = (struct described){.option = *row};
    shown->option.value = row->value ? row->value : shown->value;
    if (row->words) {
        const paritas_enumeration *enumeration = paritas_enumeration_find(row->words);
        const paritas_option any = {.enumeration = enumeration, .otherwise = enumeration->words[0].value};
        describe_words(&any, shown);
    }
    if (!of) return;
    shown->option.help = row->help ? row->help : of->doc;
    if (of->type == PARITAS_FIELD_WORD)
        describe_words(of, shown);
    else if (of->type != PARITAS_FIELD_TRUTH)
        describe_number(of, shown);
}

static bool read_range(const char *text, struct given *given)
{
    char lower[64] = "";
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof lower) return false;
    memcpy(lower, text, length);
    return number_of_text(lower, &given->number) && number_of_text(colon ? colon + 1 : text, &given->upper) &&
           given->number <= given->upper;
}

/* Returns NULL, or what the option takes. */
static const char *read_value(const struct option *option, struct given *given, const char *text)
{
    const bool digits = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    given->text = text;
    errno = 0;
    switch (option->kind) {
    case OPTION_NUMBER:
    case OPTION_PART:
        return number_of_text(text, &given->number) ? NULL : "a number";
    case OPTION_COUNT:
        given->number = digits && strlen(text) <= 9 ? strtod(text, NULL) : 0.0;
        return given->number >= 1.0 ? NULL : "a whole number from 1 to 999999999";
    case OPTION_WHOLE:
        given->whole = digits ? strtoull(text, NULL, 10) : 0;
        return digits && errno == 0 ? NULL : "a whole number below 2^64";
    case OPTION_RANGE:
        return read_range(text, given) ? NULL : "LO:HI";
    case OPTION_CHOICE:
        given->choice = option_choice(option->value, text);
        return given->choice >= 0 ? NULL : option->value;
    default:
        return NULL;
    }
}

static bool read_named(struct given *given, char *text, bool alone)
{
    char *equals = strrchr(text, '=');
    given->text = text;
    given->number = NAN;
    if (alone && !equals && text[0] != '\0') return true;
    if (!equals || equals == text || !number_of_text(equals + 1, &given->number)) return false;
    *equals = '\0';
    return true;
}

static void count_operands(const struct command *command, size_t *least, size_t *most)
{
    *least = *most = 0;
    for (const char *word = command->operands; *word != '\0'; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        *least += word[0] != '[';
        *most = word[length - 1] == '.' ? SIZE_MAX : *most + 1;
        word += length;
    }
    if (command->operands_most > 0) *most = command->operands_most;
}

static bool check_operands(const struct arguments *arguments)
{
    const struct command *command = arguments->command;
    size_t least, most;
    count_operands(command, &least, &most);
    if (arguments->n_operands < least)
        usage_error(command, "%s needs %s", command->name, command->operands);
    else if (arguments->n_operands > most)
        usage_error(command, "%s takes %s; '%s' is one too many", command->name,
                    most > 0 ? command->operands : "no operands", arguments->operands[most]);
    else
        return true;
    return false;
}

/* Reads option argv[*i]; leaves *i at its last word. */
static bool read_option(struct arguments *arguments, int argc, char **argv, int *i)
{
    const struct command *command = arguments->command;
    char *word = argv[*i];
    const bool is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word, "=") : 2;
    const struct option *row = find_option(command, word, length, is_long ? 0 : word[1]);
    if (!row) {
        char hint[200];
        const char *value = word[length] != '\0' ? word + length + is_long
                            : *i + 1 < argc      ? argv[*i + 1]
                                                 : NULL;
        suggest_option(hint, sizeof hint, command, word, length, value);
        usage_error(command, "%s has no option %.*s%s", command->name, (int)length, word, hint);
        return false;
    }
    struct described shown;
    describe_option(row, &shown);
    const struct option *option = &shown.option;
    struct given *given = &arguments->given[arguments->n_given++];
    given->option = row;
    char *attached = word[length] == '\0' ? NULL : word + length + is_long;
    if (option->kind == OPTION_FLAG) {
        if (attached) usage_error(command, "%s takes no value", option->name);
        return !attached;
    }
    const int wanted = option->kind == OPTION_PAIR ? 2 : !attached;
    if (*i + wanted >= argc || (wanted > 0 && strncmp(argv[*i + 1], "--", 2) == 0) ||
        (attached && wanted == 2)) {
        usage_error(command, "%s needs a value: %s %s", option->name, option->name, option->value);
        return false;
    }
    char *text = attached ? attached : argv[*i + 1];
    if (wanted == 2) given->second = argv[*i + 2];
    *i += wanted;
    if (option->kind == OPTION_NAMED || option->kind == OPTION_HELD) {
        if (read_named(given, text, option->kind == OPTION_HELD)) return true;
        usage_error(command, "%s takes %s with a number, not '%s'", option->name, option->value, text);
        return false;
    }
    const char *taken = read_value(option, given, text);
    if (taken) {
        const bool repeats = strchr(text, ',') && strcmp(option->name, "--mu") == 0 &&
                             command->analysis.several == POIS_TOGETHER;
        usage_error(command, "%s takes %s, not '%s'%s", option->name, taken, text,
                    repeats ? "; with several --poi give it once for each" : "");
    }
    return !taken;
}

static bool open_arguments(struct arguments *arguments, size_t n_words)
{
    size_t n = 1;
    EACH_OPTION(arguments->command, group, option) n++;
    arguments->operands = calloc(n_words + 1, sizeof *arguments->operands);
    arguments->given = calloc(n_words + 1, sizeof *arguments->given);
    arguments->defaults = calloc(n, sizeof *arguments->defaults);
    if (!arguments->operands || !arguments->given || !arguments->defaults) return false;
    EACH_OPTION(arguments->command, group, option)
    {
        struct described shown;
        describe_option(option, &shown);
        if (!shown.option.otherwise) continue;
        struct given *given = &arguments->defaults[arguments->n_defaults++];
        given->option = option;
        read_value(&shown.option, given, shown.option.otherwise);
        given->text = option->otherwise ? option->otherwise : shown.word; /* lives on */
    }
    return true;
}

parse_outcome arguments_parse(const struct command *command, int argc, char **argv,
                              struct arguments *arguments)
{
    *arguments = (struct arguments){.command = command};
    if (!open_arguments(arguments, (size_t)argc)) return PARSE_MEMORY;
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (only_operands || word[0] != '-' || word[1] == '\0')
            arguments->operands[arguments->n_operands++] = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            return PARSE_HELP;
        else if (!read_option(arguments, argc, argv, &i))
            return PARSE_WRONG;
    }
    return check_operands(arguments) ? PARSE_OK : PARSE_WRONG;
}

void arguments_free(struct arguments *arguments)
{
    free(arguments->operands);
    free(arguments->given);
    free(arguments->defaults);
}

/* Is "--store FILE", "--calc toys" or one of "--toys or --ntoys N" given, or a default? Capitals: any value
 * that is given. */
static bool is_given(const struct arguments *arguments, const char *needs)
{
    char name[32];
    const char *other = strstr(needs, " or ");
    const size_t name_length = strcspn(needs, " ");
    const size_t length = other ? (size_t)(other - needs) : strlen(needs);
    const bool wants_word =
        length > name_length && !(needs[name_length + 1] >= 'A' && needs[name_length + 1] <= 'Z');
    if (other && is_given(arguments, other + 4)) return true;
    snprintf(name, sizeof name, "%.*s", (int)name_length, needs);
    if (!wants_word) return argument_given(arguments, name);
    const struct given *given = argument_value(arguments, name);
    const char *word = needs + name_length + 1;
    return given && strlen(given->text) == length - name_length - 1 &&
           memcmp(given->text, word, strlen(given->text)) == 0;
}

#define FITS_OF_CONES "losscone fit|losscone profile"

/* What has no effect, or no answer, without another option. Commands that have both check it, also against
 * defaults. */
static const struct rule {
    const char *option, *value; /* NULL: any */
    const char *needs;
    const char *commands; /* between bars; NULL: all */
} rules[] = {
    {"--population", NULL, "--search de"},
    {"--generations", NULL, "--search de"},
    {"--box-limit", NULL, "--search exact"},
    {"--draws", NULL, "--confidence bootstrap"},
    {"--level", NULL, "--confidence bootstrap", FITS_OF_CONES},
    {"--step", NULL, "--threshold C or --confidence residuals or --confidence bootstrap"},
    {"--potential-errors", NULL, "--threshold C or --confidence residuals or --confidence bootstrap"},
    {"--step", NULL, "--search exact"},
    {"--potential-errors", NULL, "--search exact"},
    {"--response-width", NULL, "--response folded or --response both", FITS_OF_CONES},
    {"--response-weights", NULL, "--response folded or --response both", FITS_OF_CONES},
    {"--response-weights", NULL, "--truth folded", "losscone synthesize"},
    {"--method", "counts", "--response folded"},
    {"--method", "counts", "--search exact"},
    {"--method", "counts", "--confidence none or --confidence residuals"},
    {"--true-density", NULL, "--plasma or --region R"},
    {"--true-kappa", NULL, "--plasma or --region R"},
    {"--true-temperature", NULL, "--plasma or --region R"},
    {"--channel-width", NULL, "--plasma or --region R"},
    {"--currents", NULL, "--spacecraft-potential auto"},
    {"--refits", NULL, "--spacecraft-potential auto"},
    {"--population", NULL, "--minimizer de"},
    {"--seed", NULL, "--minimizer de", "fit"},
    {"--seed", NULL, "--search de or --confidence bootstrap", FITS_OF_CONES},
};

static bool check_rules(const struct arguments *arguments)
{
    const char *command = arguments->command->name;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *rule = &rules[i];
        const struct given *given = argument_given(arguments, rule->option);
        char needed[32];
        if (!given || (rule->value && strcmp(given->text, rule->value) != 0)) continue;
        if (rule->commands && !is_one_of(rule->commands, command, strlen(command))) continue;
        snprintf(needed, sizeof needed, "%.*s", (int)strcspn(rule->needs, " "), rule->needs);
        if (!find_option(arguments->command, needed, strlen(needed), 0)) continue;
        if (is_given(arguments, rule->needs)) continue;
        fprintf(stderr, "paritas: %s%s%s needs %s\n", rule->option, rule->value ? " " : "",
                rule->value ? rule->value : "", rule->needs);
        return false;
    }
    return true;
}

/* What has no effect beside another option. */
static const struct clash {
    const char *option, *beside, *reason;
} clashes[] = {
    {"--true-spacecraft", "--plasma or --region R", "a plasma decides the potential by its currents"},
};

static bool check_clashes(const struct arguments *arguments)
{
    for (size_t i = 0; i < sizeof clashes / sizeof clashes[0]; i++) {
        const struct clash *clash = &clashes[i];
        if (!argument_given(arguments, clash->option) || !is_given(arguments, clash->beside)) continue;
        fprintf(stderr, "paritas: %s has no effect beside %s: %s; leave it out\n", clash->option,
                clash->beside, clash->reason);
        return false;
    }
    return true;
}

static bool check_bounds(const struct option *row, const struct given *given)
{
    const paritas_option *of = option_of_library(row);
    char allowed[200];
    if (of->type != PARITAS_FIELD_REAL && of->type != PARITAS_FIELD_UNSIGNED) return true;
    const double number = given->whole > 0 ? (double)given->whole : given->number;
    if (paritas_option_allows(of, number)) return true;
    fprintf(stderr, "paritas: %s takes a number %s, not %s\n", row->name,
            paritas_option_allowed(of, sizeof allowed, allowed), given->text);
    return false;
}

bool options_complete(const struct arguments *arguments)
{
    EACH_OPTION(arguments->command, group, option)
    {
        const struct given *given = argument_given(arguments, option->name);
        const char *const needs[2] = {group->needs, option->needs};
        if (!given) continue;
        for (int k = 0; k < 2; k++)
            if (needs[k] && !is_given(arguments, needs[k])) {
                fprintf(stderr, "paritas: %s needs %s\n", option->name, needs[k]);
                return false;
            }
        if (option->kind == OPTION_PART && !(given->number > 0.0 && given->number < 1.0)) {
            fprintf(stderr, "paritas: %s takes a number between 0 and 1, not %.10g\n", option->name,
                    given->number);
            return false;
        }
        if (option->library && !check_bounds(option, given)) return false;
    }
    return check_rules(arguments) && check_clashes(arguments);
}

const struct given *argument_given(const struct arguments *arguments, const char *name)
{
    for (size_t i = arguments->n_given; i-- > 0;)
        if (strcmp(arguments->given[i].option->name, name) == 0) return &arguments->given[i];
    return NULL;
}

const struct given *argument_value(const struct arguments *arguments, const char *name)
{
    const struct given *given = argument_given(arguments, name);
    for (size_t i = 0; i < arguments->n_defaults && !given; i++)
        if (strcmp(arguments->defaults[i].option->name, name) == 0) given = &arguments->defaults[i];
    return given;
}

#define HELP_COLUMN 32
#define HELP_WIDTH 118

static void write_wrapped(const char *text, int column)
{
    int at = column;
    while (*text != '\0') {
        int span = (int)strcspn(text, " ");
        if (at > column && at + 1 + span > HELP_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", span, text);
        at += span;
        text += span;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void write_option(const struct option *row)
{
    struct described shown;
    describe_option(row, &shown);
    const struct option *option = &shown.option;
    char help[1024];
    int at = option->letter != 0 ? printf("  -%c, %s", option->letter, option->name)
                                 : printf("  %s", option->name);
    if (option->kind != OPTION_FLAG) at += printf(" %s", option->value);
    if (at >= HELP_COLUMN) at = printf("\n") - 1;
    printf("%*s", HELP_COLUMN - at, "");
    snprintf(help, sizeof help, "%s%s%s%s", option->help,
             option->help[0] != '\0' && option->otherwise ? "; " : "", option->otherwise ? "default: " : "",
             option->otherwise ? option->otherwise : "");
    write_wrapped(help, HELP_COLUMN);
}

/* A command's own row hides one of the same name in a group behind it. */
static bool is_first(const struct command *command, const struct option *option)
{
    return option->name[0] != '\0' && find_option(command, option->name, strlen(option->name), 0) == option;
}

void help_write(const struct command *command)
{
    write_usage(stdout, command);
    printf("\n\n");
    write_wrapped(command->summary, 0);
    if (command->description) {
        putchar('\n');
        write_wrapped(command->description, 0);
    }
    for (const struct option_group *group = command->groups; group->options; group++) {
        printf("\n%s:\n", group->title);
        for (const struct option *option = group->options; option->name; option++)
            if (is_first(command, option)) write_option(option);
    }
    printf("\nExit codes: 0 answered; 1 a fit did not converge; 2 wrong command line; 3 wrong input; 4 no "
           "such device; 5 output not written.\n");
}
