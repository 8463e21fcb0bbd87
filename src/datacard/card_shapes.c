/* card_shapes.c: finds a process' histogram by the lines `shapes`, and reads it. */
#include "datacard/card_shapes.h"
#include "base/math/host_math.h"
#include "base/platform.h"
#include "root/root_file.h"

#include <stdio.h>
#include <string.h>

static const struct card_shapes *find_entry(const struct card *card, const char *channel, const char *process)
{
    const struct card_shapes *at = card->shapes;
    while (at && !(card_same(at->channel, channel) && card_same(at->process, process))) at = at->next;
    return at;
}

const struct card_shapes *card_shapes_find(const struct card *card, const char *channel, const char *process)
{
    const struct card_shapes *found = find_entry(card, channel, process);
    if (!found) found = find_entry(card, channel, "*");
    if (!found) found = find_entry(card, "*", process);
    return found ? found : find_entry(card, "*", "*");
}

bool card_shapes_has_mass(const struct card *card, const char *channel, const char *process)
{
    const struct card_shapes *shapes = card_shapes_find(card, channel, process);
    return shapes && ((shapes->nominal && strstr(shapes->nominal, "$MASS")) || strstr(shapes->file, "$MASS"));
}

static const char *process_of(const struct card *card, const struct card_wanted *wanted)
{
    return wanted->column == CARD_NONE ? "data_obs" : card->columns[wanted->column].process;
}

static const char *histogram_of(const struct card_wanted *wanted)
{
    const char *other = wanted->nuisance->values[wanted->column].histogram;
    return other ? other : wanted->nuisance->name;
}

/* The value of a variable at `at`; *length: of its name. NULL: none. */
static const char *variable_at(const struct card_files *files, const struct card_wanted *wanted,
                               const char *at, size_t *length)
{
    const struct card *card = files->card;
    const struct {
        const char *name, *value;
    } variables[] = {{"$PROCESS", process_of(card, wanted)},
                     {"$CHANNEL", card->channels[wanted->channel].name},
                     {"$MASS", files->mass},
                     {"$SYSTEMATIC", wanted->nuisance ? histogram_of(wanted) : NULL}};
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        *length = strlen(variables[i].name);
        if (variables[i].value && strncmp(at, variables[i].name, *length) == 0) return variables[i].value;
    }
    return NULL;
}

/* Returns where the next text goes. */
static char *append(char *to, const char *text)
{
    const size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

/* Fills in variables; Up and Down stand behind $SYSTEMATIC. */
static paritas_status fill_in(const struct card_files *files, const struct card_wanted *wanted,
                              const struct card_shapes *shapes, const char *pattern, char **filled)
{
    static const char *const directions[] = {"", "Up", "Down"};
    struct card *card = files->card;
    size_t room = 1, length;
    for (const char *at = pattern; *at != '\0'; at++) {
        const char *value = *at == '$' ? variable_at(files, wanted, at, &length) : NULL;
        if (*at == '$' && !value)
            return card_refuse(card, shapes->line, CARD_NONE,
                               "\"%.200s\": variables here are $PROCESS, $CHANNEL, $MASS, and in the last "
                               "pattern $SYSTEMATIC",
                               pattern);
        room += value ? strlen(value) + 4 : 1;
    }
    char *to = *filled = arena_array(card->arena, room, 1);
    if (!to) return paritas_fail_memory(card->context);
    for (const char *at = pattern; *at != '\0';) {
        const char *value = *at == '$' ? variable_at(files, wanted, at, &length) : NULL;
        if (!value) {
            *to++ = *at++;
            continue;
        }
        to = append(to, value);
        if (strncmp(at, "$SYST", 5) == 0) to = append(to, directions[wanted->direction]);
        at += length;
    }
    return PARITAS_OK;
}

/* Looks for a file as given, else beside the card. */
static paritas_status find_path(const struct card *card, const char *given, const char **path)
{
    *path = given;
    if (platform_exists(given) || platform_is_absolute(given)) return PARITAS_OK;
    const size_t folder = (size_t)(platform_file_name(card->path) - card->path), length = strlen(given);
    char *beside = arena_array(card->arena, folder + length + 1, 1);
    if (!beside) return paritas_fail_memory(card->context);
    memcpy(beside, card->path, folder);
    memcpy(beside + folder, given, length);
    if (platform_exists(beside)) *path = beside;
    return PARITAS_OK;
}

/* The reader's message behind the place in the card. */
static paritas_status refuse_as(const struct card_files *files, const struct card_shapes *shapes,
                                uint32_t word, paritas_status status)
{
    char reason[sizeof files->card->context->message];
    snprintf(reason, sizeof reason, "%s", files->card->context->message);
    if (status == PARITAS_NOT_FOUND && strstr(shapes->line->words[word].text, "$MASS"))
        return card_refuse(files->card, shapes->line, word, "%s; $MASS is %s here: -m MASS gives another",
                           reason, files->mass);
    return card_refuse(files->card, shapes->line, word, "%s", reason);
}

static paritas_status open_file(struct card_files *files, const struct card_shapes *shapes, const char *name,
                                struct root_file **file)
{
    struct card *card = files->card;
    struct card_file *known = files->first;
    while (known && !card_same(known->path, name)) known = known->next;
    if (known) {
        *file = known->file;
        return PARITAS_OK;
    }
    const char *path;
    struct card_file *made = arena_array(card->arena, 1, sizeof *made);
    if (!made) return paritas_fail_memory(card->context);
    TRY(find_path(card, name, &path));
    if (!platform_exists(path))
        return card_refuse(
            card, shapes->line, 3,
            "there is no file \"%.300s\", here or beside the card: put it there, or mend the name%s", name,
            strstr(shapes->file, "$MASS") ? "; -m MASS gives another $MASS" : "");
    const paritas_status status = root_file_open(card->context, path, &made->file);
    if (status == PARITAS_OUT_OF_MEMORY) return status;
    if (status != PARITAS_OK) return refuse_as(files, shapes, 3, status);
    made->path = name;
    made->next = files->first;
    files->first = made;
    *file = made->file;
    return PARITAS_OK;
}

void card_files_close(struct card_files *files)
{
    for (struct card_file *at = files->first; at; at = at->next) root_file_close(at->file);
    files->first = NULL;
}

static struct card_place *place_of(struct card_files *files, const struct card_wanted *wanted)
{
    const struct card *card = files->card;
    struct card_place *last = &files->last;
    if (last->shapes && last->channel == wanted->channel && last->column == wanted->column) return last;
    *last = (struct card_place){
        .channel = wanted->channel,
        .column = wanted->column,
        .shapes = card_shapes_find(card, card->channels[wanted->channel].name, process_of(card, wanted))};
    return last;
}

/* The file, and the name of the histogram in it. */
static paritas_status locate(struct card_files *files, const struct card_wanted *wanted,
                             const struct card_shapes **line, struct root_file **file, char **name)
{
    const struct card *card = files->card;
    const char *channel = card->channels[wanted->channel].name, *process = process_of(card, wanted);
    struct card_place *place = place_of(files, wanted);
    const struct card_shapes *shapes = *line = place->shapes;
    char *path;
    if (!shapes)
        return card_refuse(
            card, card->columns_bin,
            wanted->column == CARD_NONE ? CARD_NONE : card->columns[wanted->column].word,
            "no line `shapes` has %.200s in the channel %.200s: add one, or `shapes * %.200s FAKE` "
            "for a count",
            process, channel, channel);
    const char *pattern = wanted->nuisance ? shapes->systematic : shapes->nominal;
    if (!pattern)
        return card_refuse(card, shapes->line, CARD_NONE,
                           "the nuisance \"%.200s\" (line %u) needs the histograms' name with $SYSTEMATIC: "
                           "$CHANNEL/$PROCESS_$SYSTEMATIC",
                           wanted->nuisance ? wanted->nuisance->name : process,
                           wanted->nuisance ? wanted->nuisance->line->number : shapes->line->number);
    if (strchr(pattern, ':'))
        return card_refuse(
            card, shapes->line, wanted->nuisance ? 5 : 4,
            "\"%.200s\" stands in a RooFit workspace, which is not read: write its bins as a TH1", pattern);
    if (!place->file) TRY(fill_in(files, wanted, shapes, shapes->file, &path));
    TRY(fill_in(files, wanted, shapes, pattern, name));
    if (!place->file) TRY(open_file(files, shapes, path, &place->file));
    *file = place->file;
    if (strchr(shapes->file, '$') && strstr(shapes->file, "$SYSTEMATIC")) place->file = NULL;
    return PARITAS_OK;
}

paritas_status card_template_exists(struct card_files *files, const struct card_wanted *wanted, bool *exists)
{
    const struct card_shapes *shapes;
    struct root_file *file;
    char *name;
    *exists = false;
    TRY(locate(files, wanted, &shapes, &file, &name));
    *exists = root_file_has(file, name);
    return PARITAS_OK;
}

static double error_of(const struct root_histogram *histogram, uint32_t cell)
{
    const double content = histogram->contents[cell];
    const double square = histogram->squares ? histogram->squares[cell] : content < 0.0 ? -content : content;
    return host_sqrt(square); /* NaN of what is none: refused where an error is needed */
}

static paritas_status take(struct card *card, const struct card_shapes *shapes, const char *name,
                           const struct root_histogram *histogram, bool varies, struct card_template *made)
{
    const uint32_t n = histogram->n_bins;
    *made = (struct card_template){.n_bins = n,
                                   .bins = arena_array(card->arena, n, sizeof(double)),
                                   .errors = varies ? NULL : arena_array(card->arena, n, sizeof(double))};
    if (!made->bins || (!varies && !made->errors)) return paritas_fail_memory(card->context);
    for (uint32_t i = 0; i < n; i++) {
        const double content = histogram->contents[i + 1];
        made->bins[i] = card_rounded(card, CARD_SINGLE, content);
        if (made->bins[i] - made->bins[i] != 0)
            return card_refuse(card, shapes->line, 3,
                               "bin %u of \"%.200s\" is no finite number%s: mend the histogram", i + 1, name,
                               card->exact ? "" : " in single precision");
        if (!varies) made->errors[i] = error_of(histogram, i + 1);
        made->integral += content;
        made->sum += made->bins[i];
    }
    return PARITAS_OK;
}

/* `scratch`: for the histogram, of which the template is a part. */
static paritas_status read_template(struct card_files *files, const struct card_wanted *wanted,
                                    struct arena *scratch, struct card_template *made)
{
    struct card *card = files->card;
    const struct card_shapes *shapes;
    struct root_file *file;
    struct root_histogram histogram;
    char *name;
    TRY(locate(files, wanted, &shapes, &file, &name));
    const paritas_status status = root_histogram_read(card->context, file, name, scratch, &histogram);
    if (status == PARITAS_OUT_OF_MEMORY) return status;
    if (status != PARITAS_OK) return refuse_as(files, shapes, wanted->nuisance ? 5 : 4, status);
    struct card_channel *channel = &card->channels[wanted->channel];
    if (channel->n_bins == 0) channel->n_bins = histogram.n_bins;
    if (channel->n_bins != histogram.n_bins)
        return card_refuse(
            card, shapes->line, wanted->nuisance ? 5 : 4,
            "\"%.200s\" has %u bins, other histograms of the channel \"%.200s\" have %u: give all "
            "of them the same bins",
            name, histogram.n_bins, channel->name, channel->n_bins);
    return take(card, shapes, name, &histogram, wanted->nuisance != NULL, made);
}

paritas_status card_template_read(struct card_files *files, const struct card_wanted *wanted,
                                  struct card_template *made)
{
    struct arena scratch;
    arena_open(&scratch, &files->card->context->allocator);
    const paritas_status status = read_template(files, wanted, &scratch, made);
    arena_free(&scratch);
    return status;
}
