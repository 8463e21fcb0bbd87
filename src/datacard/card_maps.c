/* card_maps.c: which parameter of interest scales which process, as Combine's multiSignalModel has it.
 *
 *   PATTERN[,PATTERN..]:POI   PATTERN: a regular expression for the beginning of CHANNEL/PROCESS
 *   POI                       NAME[VALUE,LOW,HIGH] at first, then also NAME; or 0 or 1
 *
 * The last map that matches holds. Without maps r scales all signals. */
#include "datacard/card.h"

#include <string.h>

static paritas_status refuse(const struct card *card, const char *map, const char *reason)
{
    return paritas_refuse(card->context, "map \"%.200s\": %s", map, reason);
}

static struct card_poi *find_poi(const struct card *card, const char *name)
{
    struct card_poi *at = card->pois;
    while (at && !card_same(at->name, name)) at = at->next;
    return at;
}

/* Numbers "VALUE", "LOW,HIGH" or "VALUE,LOW,HIGH", which end in ']'. Changes the text. */
static bool read_numbers(char *text, double numbers[3], uint32_t *n)
{
    char *const end = strchr(text, ']');
    *n = 0;
    if (!end || end[1] != '\0') return false;
    *end = '\0';
    for (char *at = text; at && *n < 3; (*n)++) {
        char *comma = strchr(at, ',');
        if (comma) *comma++ = '\0';
        while (*at == ' ') at++;
        if (!card_number(at, &numbers[*n])) return false;
        at = comma;
        if (!at) return ++*n > 0;
    }
    return false;
}

/* Letters, digits and _, as formulas have them. */
static bool is_name(const char *text)
{
    static const char bytes[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return strspn(text, bytes + 10) > 0 && text[strspn(text, bytes)] == '\0';
}

static paritas_status define_poi(struct card *card, const char *map, char *text, struct card_poi **made)
{
    double numbers[3];
    uint32_t n;
    char *const bracket = strchr(text, '[');
    struct card_poi **last = &card->pois;
    *bracket = '\0';
    if (!is_name(text) || !read_numbers(bracket + 1, numbers, &n))
        return refuse(card, map,
                      "a parameter of interest is NAME[VALUE,LOW,HIGH], NAME[LOW,HIGH] or NAME[VALUE]");
    *made = find_poi(card, text);
    if (*made) return PARITAS_OK; /* the first definition holds */
    struct card_poi *poi = *made = arena_array(card->arena, 1, sizeof *poi);
    if (!poi) return paritas_fail_memory(card->context);
    while (*last) last = &(*last)->next;
    *last = poi;
    poi->name = text;
    poi->fixed = n == 1;
    poi->lower = numbers[n > 2];
    poi->upper = numbers[n - 1];
    poi->start = n == 2 ? 0.5 * (poi->lower + poi->upper) : numbers[0];
    if (n > 1 && !(poi->lower < poi->upper && poi->start >= poi->lower && poi->start <= poi->upper))
        return refuse(card, map, "the range must go from LOW to a larger HIGH, with the value inside");
    return PARITAS_OK;
}

/* What the map scales by: *poi, or NULL for a number. */
static paritas_status read_scale(struct card *card, const char *map, char *text, struct card_poi **poi,
                                 bool *off)
{
    *poi = NULL;
    *off = card_same(text, "0");
    if (*off || card_same(text, "1")) return PARITAS_OK;
    if (strchr(text, '='))
        return refuse(card, map,
                      "functions of parameters of interest are not read: write them as `rateParam`");
    if (strchr(text, '[')) return define_poi(card, map, text, poi);
    *poi = find_poi(card, text);
    if (*poi) return PARITAS_OK;
    return refuse(card, map,
                  "the first map of a parameter of interest gives its range: NAME[VALUE,LOW,HIGH]");
}

/* The pattern with anything behind it, unless it names the end by $. NULL: out of memory. */
static char *open_pattern(struct card *card, const char *pattern)
{
    const size_t length = strlen(pattern);
    const bool ends = length > 0 && pattern[length - 1] == '$';
    char *whole = arena_array(card->arena, length + sizeof "().*", 1);
    if (!whole) return NULL;
    strcpy(whole, "(");
    strcat(whole, pattern);
    strcat(whole, ends ? ")" : ").*");
    return whole;
}

/* Puts the scale where a pattern matches; *any: is there such a process? */
static paritas_status scale_columns(struct card *card, const char *map, const char *pattern,
                                    const struct card_poi *poi, bool off, bool *any)
{
    const char *const whole = open_pattern(card, pattern);
    if (!whole) return paritas_fail_memory(card->context);
    for (uint32_t k = 0; k < card->n_columns; k++) {
        struct card_column *column = &card->columns[k];
        const char *channel = card->channels[column->channel].name;
        char *name = arena_array(card->arena, strlen(channel) + strlen(column->process) + 2, 1);
        if (!name) return paritas_fail_memory(card->context);
        strcpy(name, channel);
        strcat(name, "/");
        strcat(name, column->process);
        const enum card_match match = card_matches_expression(whole, name);
        if (*pattern == '\0' || match == CARD_NO_PATTERN)
            return refuse(card, map,
                          "the pattern is not read as a regular expression: use letters, . * + ? [] and "
                          "choices (a|b)");
        if (match != CARD_MATCHES) continue;
        *any = true;
        column->poi = poi;
        column->off = off;
    }
    return PARITAS_OK;
}

static paritas_status apply_map(struct card *card, const char *map)
{
    struct card_poi *poi;
    bool off, any = false;
    char *patterns = card_copy(card, map), *scale = patterns ? strchr(patterns, ':') : NULL;
    if (!patterns) return paritas_fail_memory(card->context);
    if (!scale)
        return refuse(card, map, "a map is PATTERN:NAME[VALUE,LOW,HIGH], with a PATTERN of CHANNEL/PROCESS");
    *scale++ = '\0';
    TRY(read_scale(card, map, scale, &poi, &off));
    for (char *at = patterns; at;) {
        char *comma = strchr(at, ',');
        if (comma) *comma++ = '\0';
        TRY(scale_columns(card, map, at, poi, off, &any));
        at = comma;
    }
    return any ? PARITAS_OK
               : refuse(card, map, "it matches no CHANNEL/PROCESS of the card: mend the pattern");
}

/* r for all signals. */
static paritas_status use_one_strength(struct card *card)
{
    struct card_poi *r = arena_array(card->arena, 1, sizeof *r);
    if (!r) return paritas_fail_memory(card->context);
    *r = (struct card_poi){.name = "r", .start = 1.0, .upper = 20.0};
    for (uint32_t k = 0; k < card->n_columns; k++) {
        if (!card->columns[k].signal) continue;
        card->columns[k].poi = r;
        if (card_is_present(card, k)) card->pois = r;
    }
    return PARITAS_OK;
}

paritas_status card_maps_apply(struct card *card, const paritas_names *maps)
{
    if (maps->count == 0) return use_one_strength(card);
    for (size_t i = 0; i < maps->count; i++) {
        if (!maps->items || !maps->items[i])
            return paritas_refuse(card->context, "maps: text %zu is NULL", i);
        TRY(apply_map(card, maps->items[i]));
    }
    return PARITAS_OK;
}
