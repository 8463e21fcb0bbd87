/* datacard.c: public functions on cards. */
#include "paritas_datacard.h"
#include "base/file_bytes.h"
#include "base/platform.h"
#include "base/sized.h"
#include "datacard/card_groups.h"
#include "datacard/card_names.h"
#include "datacard/card_workspace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "125.0" is "125". */
static paritas_status find_mass(struct card *card, const char *given, const char **mass)
{
    double value;
    char whole[32];
    *mass = given;
    if (!card_number(given, &value))
        return paritas_refuse(card->context, "the mass must be a number, found \"%.100s\"", given);
    if (value > 1e15 || value < -1e15 || value != (double)(int64_t)value) return PARITAS_OK;
    snprintf(whole, sizeof whole, "%lld", (long long)value);
    *mass = card_copy(card, whole);
    return *mass ? PARITAS_OK : paritas_fail_memory(card->context);
}

/* Replaces a workspace by its copy with masked channels. */
static paritas_status mask(paritas_context *context, const paritas_names *masks,
                           paritas_workspace **workspace)
{
    paritas_workspace *read = *workspace;
    if (masks->count == 0) return PARITAS_OK;
    const paritas_status status = paritas_workspace_mask(context, read, masks, workspace);
    paritas_workspace_free(read);
    return status;
}

static paritas_status read_text(struct card *card, const char *text, size_t length,
                                const paritas_datacard_options *options, paritas_workspace **workspace)
{
    struct card_files files = {.card = card};
    card->exact = options->exact != 0;
    TRY(find_mass(card, options->mass ? options->mass : "120", &files.mass));
    TRY(card_lines_read(card, text, length));
    TRY(card_read(card));
    TRY(card_maps_apply(card, &options->maps));
    const paritas_status status = card_workspace_make(card, &files, workspace);
    card_files_close(&files);
    return status;
}

static paritas_status parse(paritas_context *context, const char *text, size_t length, const char *label,
                            const paritas_datacard_options *given, paritas_workspace **workspace)
{
    paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    struct arena arena;
    struct card card = {.context = context, .arena = &arena, .path = label};
    TRY(SIZED_TAKE(context, paritas_datacard_options, "options", given, &options));
    arena_open(&arena, &context->allocator);
    paritas_status status = read_text(&card, text, length, &options, workspace);
    arena_free(&arena);
    if (status == PARITAS_OK) status = mask(context, &options.masks, workspace);
    return status;
}

paritas_status paritas_datacard_parse(paritas_context *context, const char *text, size_t length,
                                      const char *label, const paritas_datacard_options *options,
                                      paritas_workspace **workspace)
{
    REQUIRE(context, workspace);
    *workspace = NULL;
    if (length > 0) REQUIRE(context, text);
    return parse(context, text ? text : "", length, label ? label : "text", options, workspace);
}

static bool is_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

static const char *label_of(const char *path)
{
    return is_input(path) ? "standard input" : path;
}

static paritas_status read_file(paritas_context *context, const char *path, size_t most,
                                struct file_bytes *bytes)
{
    const int file = is_input(path) ? 0 : platform_open_read(path);
    if (file < 0) return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", path, strerror(errno));
    const paritas_status status = file_bytes_read(context, label_of(path), file, most, bytes);
    if (!is_input(path)) platform_close(file);
    return status;
}

paritas_status paritas_datacard_read(paritas_context *context, const char *path,
                                     const paritas_datacard_options *options, paritas_workspace **workspace)
{
    struct file_bytes bytes = {0};
    REQUIRE(context, workspace);
    *workspace = NULL;
    REQUIRE(context, path);
    paritas_status status = read_file(context, path, SIZE_MAX, &bytes);
    if (status == PARITAS_OK)
        status = parse(context, bytes.at ? bytes.at : "", bytes.length, label_of(path), options, workspace);
    paritas_release(&context->allocator, bytes.at);
    return status;
}

/* Is it neither JSON nor one of the formats that the reader of JSON names? */
static bool is_card(const struct file_bytes *bytes)
{
    size_t at = 0;
    while (at < bytes->length && strchr(" \t\r\n", bytes->at[at])) at++;
    if (at == bytes->length || strchr("{[\"<\xef\x1f", bytes->at[at])) return false; /* 1f: gzip */
    if (json_is_archive(bytes->at, bytes->length)) return false;
    return !(bytes->length > 5 && memcmp(bytes->at, "root\0", 5) == 0);
}

/* `bytes` NULL: of the file. */
static paritas_status read_json(paritas_context *context, const char *path, const struct file_bytes *bytes,
                                const paritas_datacard_options *given, paritas_workspace **workspace)
{
    paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    TRY(SIZED_TAKE(context, paritas_datacard_options, "options", given, &options));
    if (options.maps.count > 0)
        return paritas_refuse(context, "%s: maps are for datacards, and this is JSON: leave them out",
                              label_of(path));
    TRY(bytes ? json_read(context, bytes->at ? bytes->at : "", bytes->length, label_of(path), workspace)
              : json_read_packed(context, path, workspace));
    return mask(context, &options.masks, workspace);
}

paritas_status paritas_document_read(paritas_context *context, const char *path,
                                     const paritas_datacard_options *options, paritas_workspace **workspace)
{
    struct file_bytes bytes = {0};
    struct platform_info about;
    REQUIRE(context, workspace);
    *workspace = NULL;
    REQUIRE(context, path);
    const bool again = !is_input(path) && platform_info(path, &about) && about.kind == PLATFORM_FILE;
    if (!is_input(path) && !again && !(platform_exists(path) && about.kind == PLATFORM_OTHER))
        return json_read_packed(context, path, workspace); /* and says why it cannot */
    paritas_status status = read_file(context, path, again ? 1 : SIZE_MAX, &bytes);
    const bool card = status == PARITAS_OK && is_card(&bytes);
    if (status == PARITAS_OK && card)
        status = again ? paritas_datacard_read(context, path, options, workspace)
                       : parse(context, bytes.at, bytes.length, label_of(path), options, workspace);
    else if (status == PARITAS_OK)
        status = read_json(context, path, again ? NULL : &bytes, options, workspace);
    paritas_release(&context->allocator, bytes.at);
    return status;
}

int paritas_is_datacard(const char *path)
{
    char first[512]; /* the header of a tar archive */
    const int file = path ? platform_open_read(path) : -1;
    if (file < 0) return 0;
    const ptrdiff_t n = platform_read(file, first, sizeof first);
    platform_close(file);
    return n > 0 && is_card(&(struct file_bytes){.at = first, .length = (size_t)n});
}

paritas_status paritas_datacard_names(paritas_context *context, const paritas_workspace *workspace,
                                      paritas_workspace **names)
{
    REQUIRE(context, names);
    *names = NULL;
    REQUIRE(context, workspace);
    return card_names_make(context, workspace, names);
}

static paritas_status read_groups(struct card *card, const char *text, size_t length,
                                  paritas_workspace **groups)
{
    TRY(card_lines_read(card, text, length));
    TRY(card_read(card));
    return card_groups_make(card, groups);
}

paritas_status paritas_datacard_groups(paritas_context *context, const char *path, paritas_workspace **groups)
{
    struct file_bytes bytes = {0};
    struct arena arena;
    REQUIRE(context, groups);
    *groups = NULL;
    REQUIRE(context, path);
    struct card card = {.context = context, .arena = &arena, .path = label_of(path)};
    arena_open(&arena, &context->allocator);
    paritas_status status = read_file(context, path, SIZE_MAX, &bytes);
    if (status == PARITAS_OK) status = read_groups(&card, bytes.at ? bytes.at : "", bytes.length, groups);
    arena_free(&arena);
    paritas_release(&context->allocator, bytes.at);
    return status;
}
