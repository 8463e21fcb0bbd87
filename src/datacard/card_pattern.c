/* card_pattern.c: wildcards, and the regular expressions of edits. */
#include "datacard/card.h"

#include <string.h>

/* Does the byte belong to the class that begins behind '['? *end: behind the ']'; NULL: there is none. */
static bool in_class(const char *at, char byte, const char **end)
{
    const bool inverted = *at == '!' || *at == '^';
    bool found = false;
    if (inverted) at++;
    for (const char *first = at; *at != '\0' && (*at != ']' || at == first); at++) {
        char low = *at, high = *at;
        if (at[1] == '-' && at[2] != '\0' && at[2] != ']') {
            high = at[2];
            at += 2;
        }
        found = found || (byte >= low && byte <= high);
    }
    *end = *at == ']' ? at + 1 : NULL;
    return found != inverted;
}

/* Linear but for the last star: what stands between two stars is taken where it first fits. */
bool card_matches_wildcard(const char *pattern, const char *text)
{
    const char *star = NULL, *again = NULL;
    while (*text != '\0') {
        const char *end = pattern + 1;
        bool fits = *pattern == '?' || *pattern == *text;
        if (*pattern == '[') {
            const bool member = in_class(pattern + 1, *text, &end);
            fits = end ? member : fits;
            end = end ? end : pattern + 1;
        }
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (*pattern != '\0' && fits) {
            pattern = end;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

/* A matcher by trying. An expression is a chain of pieces, each a byte, class or group, perhaps repeated. */
struct trial {
    unsigned steps; /* left */
    unsigned depth;
    bool wrong;
};

/* What is left to match once an expression has ended: the rest of the outer one. */
struct rest {
    const char *at, *end;
    const struct rest *outer;
};

static bool match_choices(struct trial *trial, const char *at, const char *end, const char *text,
                          const struct rest *rest);

static const char *end_of_group(const char *at, const char *end)
{
    unsigned depth = 0;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at == '(')
            depth++;
        else if (*at == ')' && --depth == 0)
            return at;
    }
    return NULL;
}

static const char *end_of_piece(struct trial *trial, const char *at, const char *end)
{
    const char *stop = at + 1;
    if (*at == '\\') {
        stop = at + 1 < end && !(at[1] >= '0' && at[1] <= '9') ? at + 2 : NULL;
    } else if (*at == '[') {
        in_class(at + 1, 'a', &stop);
    } else if (*at == '(') {
        stop = end_of_group(at, end);
        if (stop) stop++;
    } else if (strchr("*+?)]{}", *at)) {
        stop = NULL;
    }
    if (!stop || stop > end) {
        trial->wrong = true;
        return NULL;
    }
    return stop;
}

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_';
}

static bool byte_fits(const char *piece, char byte)
{
    const char *end;
    if (byte == '\0') return false;
    if (*piece == '.') return true;
    if (*piece == '[') return in_class(piece + 1, byte, &end);
    if (*piece != '\\') return *piece == byte;
    const bool digit = byte >= '0' && byte <= '9';
    return piece[1] == 'd' ? digit : piece[1] == 'w' ? is_word_byte(byte) : piece[1] == byte;
}

static bool match_chain(struct trial *trial, const char *at, const char *end, const char *text,
                        const struct rest *rest)
{
    if (trial->steps == 0 || trial->depth > 1000) trial->wrong = true;
    if (trial->wrong) return false;
    trial->steps--;
    while (at < end && (*at == '^' || *at == '$')) at++; /* the whole text is matched anyway */
    if (at == end) return rest ? match_chain(trial, rest->at, rest->end, text, rest->outer) : *text == '\0';
    const char *stop = end_of_piece(trial, at, end);
    if (!stop) return false;
    const char repeat = stop < end ? *stop : '\0';
    const bool repeats = repeat == '*' || repeat == '+', optional = repeat == '*' || repeat == '?';
    const char *const next = repeats || optional ? stop + 1 : stop;
    bool found = false;
    trial->depth++;
    if (*at == '(') {
        const struct rest behind = {next, end, rest};
        if (repeats) trial->wrong = true; /* a group that repeats is not understood */
        found = match_choices(trial, at + 1, stop - 1, text, &behind);
    } else if (byte_fits(at, *text)) {
        found = (repeats && match_chain(trial, at, end, text + 1, rest)) ||
                match_chain(trial, next, end, text + 1, rest);
    }
    if (!found && optional) found = match_chain(trial, next, end, text, rest);
    trial->depth--;
    return found && !trial->wrong;
}

static bool match_choices(struct trial *trial, const char *at, const char *end, const char *text,
                          const struct rest *rest)
{
    while (true) {
        unsigned depth = 0;
        const char *bar = at;
        for (; bar < end && !(*bar == '|' && depth == 0); bar++) {
            if (*bar == '\\' && bar + 1 < end) bar++;
            depth += (*bar == '(') - (unsigned)(*bar == ')' && depth > 0);
        }
        if (bar > end) bar = end;
        if (match_chain(trial, at, bar, text, rest)) return true;
        if (bar == end || trial->wrong) return false;
        at = bar + 1;
    }
}

enum card_match card_matches_expression(const char *expression, const char *text)
{
    struct trial trial = {.steps = 10000};
    if (card_same(expression, "*")) return CARD_MATCHES;
    const bool found = match_choices(&trial, expression, expression + strlen(expression), text, NULL);
    return trial.wrong ? CARD_NO_PATTERN : found ? CARD_MATCHES : CARD_DIFFERS;
}
