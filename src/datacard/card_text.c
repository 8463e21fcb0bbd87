/* card_text.c: lines, words and numbers of a card. */
#include "datacard/card.h"
#include "base/json/number.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

paritas_status card_refuse(const struct card *card, const struct card_line *line, uint32_t word,
                           const char *format, ...)
{
    char reason[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const uint32_t column = word < line->n ? line->words[word].column
                            : line->n > 0  ? line->words[0].column
                                           : 1;
    return paritas_fail(card->context, PARITAS_INVALID_INPUT, "%s:%u:%u: %s", card->path, line->number,
                        column, reason);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\f' || byte == '\v';
}

/* The end of what counts: a line may be a comment, or end in one. Below `rate` a # ends a word, too. */
static const char *end_of_content(const char *at, const char *end, bool below)
{
    while (at < end && is_blank(*at)) at++;
    if (end - at >= 2 && at[0] == '-' && at[1] == '-') return at;
    for (const char *from = at; at < end; at++)
        if (*at == '#' && (below || at == from || is_blank(at[-1]))) return at;
    return end;
}

static uint32_t count_words(const char *at, const char *end)
{
    uint32_t n = 0;
    while (at < end) {
        while (at < end && is_blank(*at)) at++;
        n += at < end;
        while (at < end && !is_blank(*at)) at++;
    }
    return n;
}

/* Adds a line unless it is empty. Below `rate` a word alone says nothing. */
static paritas_status add_line(struct card *card, const char *at, const char *end, uint32_t number,
                               bool below, struct card_line ***last)
{
    const char *const start = at, *const stop = end_of_content(at, end, below);
    const uint32_t n = count_words(at, stop);
    if (n == 0 || (n == 1 && below)) return PARITAS_OK;
    struct card_line *line = arena_array(card->arena, 1, sizeof *line);
    struct card_word *words = arena_array(card->arena, n, sizeof *words);
    if (!line || !words) return paritas_fail_memory(card->context);
    *line = (struct card_line){NULL, number, n, words};
    for (uint32_t i = 0; i < n; i++) {
        while (is_blank(*at)) at++;
        const char *const first = at;
        while (at < stop && !is_blank(*at)) at++;
        words[i].column = (uint32_t)(first - start) + 1;
        words[i].text = arena_text(card->arena, first, (size_t)(at - first));
        if (!words[i].text) return paritas_fail_memory(card->context);
    }
    **last = line;
    *last = &line->next;
    return PARITAS_OK;
}

paritas_status card_lines_read(struct card *card, const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    struct card_line **last = &card->lines;
    bool below = false;
    if (length > (UINT32_C(1) << 30))
        return paritas_fail(card->context, PARITAS_INVALID_INPUT,
                            "%s: has more than 2^30 bytes, which no datacard has", card->path);
    const char *zero = memchr(text, '\0', length);
    for (uint32_t number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *const stop = newline ? newline : end;
        if (zero && zero < stop)
            return paritas_fail(card->context, PARITAS_INVALID_INPUT,
                                "%s:%u:%u: a zero byte, so this is no text; give the datacard itself",
                                card->path, number, (unsigned)(zero - at) + 1);
        struct card_line **const place = last;
        TRY(add_line(card, at, stop, number, below, &last));
        below = below || (*place && card_same((*place)->words[0].text, "rate"));
        at = stop + 1;
    }
    return PARITAS_OK;
}

char *card_copy(struct card *card, const char *text)
{
    return arena_text(card->arena, text, strlen(text));
}

paritas_status card_check_name(const struct card *card, const struct card_line *line, uint32_t word)
{
    const char *text = line->words[word].text;
    size_t step = 1;
    for (size_t left = strlen(text); left != 0 && step != 0; text += step, left -= step)
        step = utf8_sequence((const unsigned char *)text, left);
    if (step != 0) return PARITAS_OK;
    return card_refuse(card, line, word, "the name is not UTF-8: save the card in that encoding");
}

bool card_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static char lower_case(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

bool card_same_word(const char *a, const char *b)
{
    while (*a != '\0' && lower_case(*a) == lower_case(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

bool card_is_dash(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && strspn(text, "-") == length;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* JSON's numbers have no plus in front, no zeros before the first digit, and digits around the point. */
bool card_number(const char *text, double *value)
{
    char plain[128];
    size_t n = 0;
    const char *at = text;
    if (strlen(text) > sizeof plain - 8) return false;
    if (*at == '+' || *at == '-') {
        if (*at == '-') plain[n++] = '-';
        at++;
    }
    if (!is_digit(*at) && !(*at == '.' && is_digit(at[1]))) return false;
    while (*at == '0' && is_digit(at[1])) at++;
    if (*at == '.') plain[n++] = '0';
    while (is_digit(*at)) plain[n++] = *at++;
    if (*at == '.') {
        at++;
        if (is_digit(*at)) plain[n++] = '.';
        while (is_digit(*at)) plain[n++] = *at++;
    }
    while (*at != '\0') plain[n++] = *at++;
    plain[n] = '\0';
    const char *reason = NULL;
    struct decimal decimal;
    const char *end = number_scan(plain, plain + n, &decimal, &reason);
    if (reason || end != plain + n) return false;
    *value = number_value(&decimal, plain, n);
    return *value - *value == 0;
}

/* Reads a printed number by its digits: the locale may have put in another point. */
static double value_of_printed(const char *printed, int decimals)
{
    struct decimal decimal = {.exponent = -decimals};
    for (; *printed != '\0' && *printed != 'e'; printed++) {
        if (*printed == '-') decimal.negative = true;
        if (is_digit(*printed)) decimal.digits = decimal.digits * 10 + (uint64_t)(*printed - '0');
    }
    int exponent = 0;
    if (*printed == 'e') {
        const bool negative = printed[1] == '-';
        for (printed += 2; is_digit(*printed); printed++) exponent = exponent * 10 + (*printed - '0');
        if (negative) exponent = -exponent;
    }
    decimal.exponent += exponent;
    return number_value(&decimal, "", 0);
}

double card_six_digits(double value)
{
    char printed[64];
    snprintf(printed, sizeof printed, "%.5e", value);
    return value - value == 0 ? value_of_printed(printed, 5) : value;
}

double card_six_decimals(double value)
{
    char printed[64];
    const double millionths = value * 1e6;
    if (millionths >= 0.0 && millionths < 1e12) { /* printing is slow, and needed near a half only */
        const double whole = (double)(uint64_t)(millionths + 0.5), apart = millionths - whole;
        if (apart < 0.499 && apart > -0.499) return whole / 1e6;
    }
    if (!(value < 1e12 && value > -1e12)) return value;
    snprintf(printed, sizeof printed, "%.6f", value);
    return value_of_printed(printed, 6);
}

double card_rounded(const struct card *card, enum card_rounding rounding, double value)
{
    if (card->exact) return value;
    if (rounding == CARD_SINGLE) return (double)(float)value;
    return rounding == CARD_SIX_DIGITS ? card_six_digits(value) : card_six_decimals(value);
}
