/* card_combine_paths.c: where the combined card finds histograms. */
#include "datacard/card_combine.h"
#include "base/platform.h"

#include <string.h>

/* `a`, `b` and `c` in one. */
static char *join(const struct combination *all, const char *a, const char *b, const char *c)
{
    char *made = arena_array(all->arena, strlen(a) + strlen(b) + strlen(c) + 1, 1);
    if (!made) return NULL;
    strcpy(made, a);
    strcat(made, b);
    return strcat(made, c);
}

/* Bytes of the folders that both absolute paths begin with. */
static size_t common_folders(const char *a, const char *b)
{
    size_t common = 0, i = 0;
    for (; a[i] != '\0' && a[i] == b[i]; i++)
        if (platform_is_separator(a[i])) common = i;
    const bool a_ends = a[i] == '\0' || platform_is_separator(a[i]),
               b_ends = b[i] == '\0' || platform_is_separator(b[i]);
    return a_ends && b_ends ? i : common;
}

/* The way from one folder to another, with a separator behind it; both absolute, without links. */
static const char *way(const struct combination *all, const char *from, const char *to)
{
    const size_t common = common_folders(from, to);
    const char *up = "", *rest = to + common;
    for (const char *at = from + common; *at != '\0' && up; at++)
        if (!platform_is_separator(*at) && (at == from + common || platform_is_separator(at[-1])))
            up = join(all, up, "../", "");
    if (!up) return NULL;
    while (platform_is_separator(*rest)) rest++;
    return join(all, up, rest, *rest == '\0' ? "" : "/");
}

/* Is the file in the current folder, and not beside the card? A file beside it is the card's. */
static bool is_as_named(const struct combination *all, const char *folder, const char *file)
{
    const char *beside = join(all, folder, file, "");
    return beside && !platform_exists(beside) && platform_exists(file);
}

const char *card_path_moved(const struct combination *all, const struct card_part *part, const char *file)
{
    char from[PLATFORM_PATH_MAX], to[PLATFORM_PATH_MAX];
    const char *path = part->card.path;
    const size_t length = (size_t)(platform_file_name(path) - path);
    if (card_same(file, "FAKE") || platform_is_absolute(file)) return file;
    const char *folder = arena_text(all->arena, path, length);
    if (!folder) return NULL;
    if (is_as_named(all, folder, file)) folder = "";
    if (!all->folder) return join(all, folder, file, "");
    if (!platform_real_path(all->folder, from) || !platform_real_path(*folder == '\0' ? "." : folder, to))
        return join(all, folder, file, "");
    const char *moved = way(all, from, to);
    return moved ? join(all, moved, file, "") : NULL;
}

const char *card_without_channel(const struct combination *all, const char *text, const char *channel)
{
    static const char variable[] = "$CHANNEL";
    for (const char *at; text && (at = strstr(text, variable));) {
        const char *before = arena_text(all->arena, text, (size_t)(at - text));
        text = before ? join(all, before, channel, at + sizeof variable - 1) : NULL;
    }
    return text;
}
