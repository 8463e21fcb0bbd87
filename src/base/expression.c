/* expression.c: a parser by recursive descent.
 *
 *   sum = product {("+" | "-") product}      product = signed {("*" | "/") signed}
 *   signed = {"+" | "-"} power               power = one [("^" | "**") signed]
 *   one = number | name | function "(" sum {"," sum} ")" | "(" sum ")" */
#include "base/expression.h"

#include "base/json/number.h"
#include "base/math/host_math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MOST = 100, LITERAL_MOST = 60 };

struct token {
    enum { END, LITERAL, NAME, REFERENCE, SIGN, BAD_QUOTE } kind;
    const char *at; /* a name's text, without quotes */
    size_t length;
    const char *first, *next; /* with quotes */
};

struct parser {
    paritas_context *context;
    struct arena *arena;
    const char *text, *const *given;
    uint32_t n_given;
    struct token token;
    struct expression *made;
    uint32_t *words, *columns, *error;
    double *numbers;
    const char **names;
    uint32_t height, nesting;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_of_name(char c)
{
    return is_letter(c) || is_digit(c) || (c != '\0' && strchr(".[]:", c));
}
static bool is_blank(char c)
{
    return c != '\0' && strchr(" \t\r\n", c);
}

/* Digits, a point, an exponent; also ".5" and "5.". */
static const char *end_of_number(const char *at)
{
    while (is_digit(*at)) at++;
    if (*at == '.') at++;
    while (is_digit(*at)) at++;
    if (*at != 'e' && *at != 'E') return at;
    const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
    if (!is_digit(*exponent)) return at;
    while (is_digit(*exponent)) exponent++;
    return exponent;
}

static struct token token_at(const char *at)
{
    while (is_blank(*at)) at++;
    struct token token = {.kind = END, .at = at, .first = at, .next = at};
    if (*at == '\0') return token;
    if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) {
        token.kind = LITERAL;
        token.next = end_of_number(at);
    } else if (is_letter(*at)) {
        token.kind = NAME;
        while (is_of_name(*token.next)) token.next++;
    } else if (*at == '\'') {
        const char *end = strchr(++token.at, '\'');
        token.kind = end ? NAME : BAD_QUOTE;
        token.length = end ? (size_t)(end - token.at) : strlen(token.at);
        token.next = end ? end + 1 : token.at + token.length;
        return token;
    } else if (*at == '@' && is_digit(at[1])) {
        token.kind = REFERENCE;
        token.next++;
        while (is_digit(*token.next)) token.next++;
    } else {
        token.kind = SIGN;
        token.next += at[0] == '*' && at[1] == '*' ? 2 : 1;
        while ((*token.next & 0xc0) == 0x80) token.next++; /* the rest of a character */
    }
    token.length = (size_t)(token.next - token.at);
    return token;
}

static void take(struct parser *p)
{
    p->token = token_at(p->token.next);
}
static bool is_sign(const struct parser *p, const char *sign)
{
    return p->token.kind == SIGN && p->token.length == strlen(sign) &&
           memcmp(p->token.at, sign, p->token.length) == 0;
}

static paritas_status refuse(const struct parser *p, const char *at, const char *format, ...)
    PRINTF_LIKE(3, 4);
static paritas_status refuse(const struct parser *p, const char *at, const char *format, ...)
{
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    *p->error = (uint32_t)(at - p->text) + 1;
    return paritas_fail(p->context, PARITAS_INVALID_INPUT, "%s", reason);
}

static paritas_status refuse_token(const struct parser *p, const char *wanted)
{
    const struct token *token = &p->token;
    if (token->kind == END) return refuse(p, token->first, "%s is missing at the end", wanted);
    if (token->kind == BAD_QUOTE) return refuse(p, token->first, "the quoted name has no end");
    return refuse(p, token->first, "%s is missing, found \"%.*s\"", wanted, (int)(token->next - token->first),
                  token->first);
}

/* A text has room for as many words as it has characters: each word comes from one of its own. */
static void put(struct parser *p, enum expression_word word, uint32_t operand)
{
    p->words[2 * p->made->n_words] = word;
    p->words[2 * p->made->n_words++ + 1] = operand;
    p->height += word <= EXPRESSION_ARGUMENT;
    p->height -= word >= EXPRESSION_FIRST_OF_TWO;
    if (p->height > p->made->depth) p->made->depth = p->height;
}

/* The number that is all that was put since `first`; NULL: it is none. */
static double *only_number(const struct parser *p, uint32_t first)
{
    return p->made->n_words == first + 1 && p->words[2 * first] == EXPRESSION_NUMBER
               ? &p->numbers[p->words[2 * first + 1]]
               : NULL;
}

static paritas_status put_argument(struct parser *p, const char *text, size_t length)
{
    struct expression *made = p->made;
    uint32_t k = 0;
    while (k < made->n_names && !(strlen(p->names[k]) == length && memcmp(p->names[k], text, length) == 0))
        k++;
    if (k == made->n_names) {
        p->names[k] = arena_text(p->arena, text, length);
        if (!p->names[k]) return paritas_fail_memory(p->context);
        p->columns[k] = (uint32_t)(p->token.first - p->text) + 1;
        made->n_names++;
    }
    put(p, EXPRESSION_ARGUMENT, k);
    return PARITAS_OK;
}

/* The number behind @. */
static uint32_t reference_of(const struct token *token)
{
    uint32_t k = 0;
    for (size_t i = 1; i < token->length && k < 1000000; i++) k = 10 * k + (uint32_t)(token->at[i] - '0');
    return k;
}

static paritas_status put_reference(struct parser *p)
{
    const uint32_t k = reference_of(&p->token);
    if (!p->given) return refuse(p, p->token.first, "arguments have names here, not numbers as \"@%u\"", k);
    if (k >= p->n_given)
        return refuse(p, p->token.first, "there is no argument @%u: %u are given, from @0 on", k, p->n_given);
    return put_argument(p, p->given[k], strlen(p->given[k]));
}

/* Writes it as number_scan reads it: digits on both sides of a point. */
static paritas_status put_number(struct parser *p)
{
    const struct token *token = &p->token;
    char literal[LITERAL_MOST + 8];
    size_t n = 0;
    struct decimal decimal;
    const char *reason;
    if (token->length > LITERAL_MOST)
        return refuse(p, token->first, "a number has at most %d characters", LITERAL_MOST);
    for (size_t i = 0; i < token->length; i++) {
        const char c = token->at[i];
        if (c == '.' && i == 0) literal[n++] = '0';
        literal[n++] = c;
        if (c == '.' && !(i + 1 < token->length && is_digit(token->at[i + 1]))) literal[n++] = '0';
    }
    literal[n] = '\0';
    number_scan(literal, literal + n, &decimal, &reason);
    const double value = reason ? NAN : number_value(&decimal, literal, n);
    if (!isfinite(value))
        return refuse(p, token->first, "\"%s\" is no number%s%s", literal, reason ? ": " : "",
                      reason ? reason : ", it is too large");
    put(p, EXPRESSION_NUMBER, p->made->n_numbers);
    p->numbers[p->made->n_numbers++] = value;
    return PARITAS_OK;
}

static paritas_status read_sum(struct parser *p);

static paritas_status expect(struct parser *p, const char *sign)
{
    char wanted[8];
    snprintf(wanted, sizeof wanted, "\"%s\"", sign);
    if (!is_sign(p, sign)) return refuse_token(p, wanted);
    take(p);
    return PARITAS_OK;
}

/* `first`: the exponent's first word. Whole numbers, and halves, need no logarithm. */
static void put_power(struct parser *p, uint32_t first)
{
    const double *number = only_number(p, first), exponent = number ? *number : NAN;
    const bool whole = exponent == floor(exponent) && fabs(exponent) <= EXPRESSION_POWER_MOST;
    if (!whole && !(exponent == 0.5)) {
        put(p, EXPRESSION_POWER, 0);
        return;
    }
    p->made->n_words--; /* the number stays unread */
    p->height--;
    if (!whole)
        put(p, EXPRESSION_SQRT, 0);
    else
        put(p, EXPRESSION_WHOLE_POWER, (uint32_t)fabs(exponent));
    if (whole && exponent < 0.0) put(p, EXPRESSION_INVERT, 0);
}

static const struct {
    const char *name;
    enum expression_word word;
    bool two;
} functions[] = {{"exp", EXPRESSION_EXP, false},
                 {"log", EXPRESSION_LOG, false},
                 {"sqrt", EXPRESSION_SQRT, false},
                 {"pow", EXPRESSION_POWER, true}};

static paritas_status read_function(struct parser *p)
{
    static const char *const kinked[] = {"abs", "fabs", "min", "max", "TMath::Min", "TMath::Max"};
    const struct token name = p->token;
    size_t k = 0;
    for (size_t i = 0; i < COUNT_OF(kinked); i++)
        if (strlen(kinked[i]) == name.length && memcmp(kinked[i], name.at, name.length) == 0)
            return refuse(p, name.first, "%s has a kink, and fits need smooth functions", kinked[i]);
    while (k < COUNT_OF(functions) && !(strlen(functions[k].name) == name.length &&
                                        memcmp(functions[k].name, name.at, name.length) == 0))
        k++;
    if (k == COUNT_OF(functions))
        return refuse(p, name.first, "there is no function \"%.*s\", only exp, log, sqrt and pow",
                      (int)(name.length < 200 ? name.length : 200), name.at);
    take(p);
    take(p); /* "(" */
    TRY(read_sum(p));
    const uint32_t second = p->made->n_words;
    if (functions[k].two) {
        TRY(expect(p, ","));
        TRY(read_sum(p));
        put_power(p, second);
    } else {
        put(p, functions[k].word, 0);
    }
    return expect(p, ")");
}

static paritas_status read_one(struct parser *p)
{
    const struct token token = p->token;
    if (token.kind == NAME && token.first == token.at && *token_at(token.next).first == '(')
        return read_function(p);
    if (is_sign(p, "(")) {
        take(p);
        TRY(read_sum(p));
        return expect(p, ")");
    }
    if (token.kind == LITERAL)
        TRY(put_number(p));
    else if (token.kind == REFERENCE)
        TRY(put_reference(p));
    else if (token.kind == NAME && token.length > 0)
        TRY(put_argument(p, token.at, token.length));
    else
        return refuse_token(p, "a number, a name or \"(\"");
    take(p);
    return PARITAS_OK;
}

static paritas_status read_signed(struct parser *p)
{
    bool negative = false;
    for (; is_sign(p, "-") || is_sign(p, "+"); take(p)) negative ^= is_sign(p, "-");
    const uint32_t first = p->made->n_words;
    TRY(read_one(p));
    if (is_sign(p, "^") || is_sign(p, "**")) {
        if (++p->nesting > NESTING_MOST)
            return refuse(p, p->token.first, "more than %d levels", NESTING_MOST);
        take(p);
        const uint32_t exponent = p->made->n_words;
        TRY(read_signed(p));
        p->nesting--;
        put_power(p, exponent);
    }
    double *number = only_number(p, first);
    if (negative && number)
        *number = -*number;
    else if (negative)
        put(p, EXPRESSION_NEGATE, 0);
    return PARITAS_OK;
}

static paritas_status read_product(struct parser *p)
{
    TRY(read_signed(p));
    while (is_sign(p, "*") || is_sign(p, "/")) {
        const enum expression_word word = is_sign(p, "*") ? EXPRESSION_MULTIPLY : EXPRESSION_DIVIDE;
        take(p);
        TRY(read_signed(p));
        put(p, word, 0);
    }
    return PARITAS_OK;
}

static paritas_status read_sum(struct parser *p)
{
    if (++p->nesting > NESTING_MOST) return refuse(p, p->token.first, "more than %d levels", NESTING_MOST);
    TRY(read_product(p));
    while (is_sign(p, "+") || is_sign(p, "-")) {
        const enum expression_word word = is_sign(p, "+") ? EXPRESSION_ADD : EXPRESSION_SUBTRACT;
        take(p);
        TRY(read_product(p));
        put(p, word, 0);
    }
    p->nesting--;
    return PARITAS_OK;
}

paritas_status expression_parse(paritas_context *context, struct arena *arena, const char *text,
                                const char *const *names, uint32_t n_names, struct expression *made,
                                uint32_t *column)
{
    const size_t room = strlen(text) + 1;
    *made = (struct expression){0};
    *column = 1;
    struct parser p = {.context = context,
                       .arena = arena,
                       .text = text,
                       .given = names,
                       .n_given = n_names,
                       .token = token_at(text),
                       .made = made,
                       .words = arena_array(arena, 2 * room, sizeof *p.words),
                       .columns = arena_array(arena, room, sizeof *p.columns),
                       .error = column,
                       .numbers = arena_array(arena, room, sizeof *p.numbers),
                       .names = arena_array(arena, room, sizeof *p.names)};
    made->words = p.words;
    made->columns = p.columns;
    made->numbers = p.numbers;
    made->names = p.names;
    if (!p.words || !p.columns || !p.numbers || !p.names) return paritas_fail_memory(context);
    TRY(read_sum(&p));
    return p.token.kind == END ? PARITAS_OK : refuse_token(&p, "an operator");
}

static double value_of_one(uint32_t word, uint32_t operand, double x)
{
    double power = 1.0;
    switch (word) {
    case EXPRESSION_NEGATE:
        return -x;
    case EXPRESSION_INVERT:
        return x != 0.0 ? 1.0 / x : NAN;
    case EXPRESSION_WHOLE_POWER:
        for (uint32_t k = 0; k < operand; k++) power *= x;
        return power;
    case EXPRESSION_SQRT:
        return x >= 0.0 ? host_sqrt(x) : NAN;
    case EXPRESSION_EXP:
        return host_exp(x);
    default: /* EXPRESSION_LOG */
        return x > 0.0 ? host_log(x) : NAN;
    }
}

static double value_of_two(uint32_t word, double x, double y)
{
    switch (word) {
    case EXPRESSION_ADD:
        return x + y;
    case EXPRESSION_SUBTRACT:
        return x - y;
    case EXPRESSION_MULTIPLY:
        return x * y;
    case EXPRESSION_DIVIDE:
        return y != 0.0 ? x / y : NAN;
    default: /* EXPRESSION_POWER */
        return x > 0.0 ? host_exp(y * host_log(x)) : NAN;
    }
}

bool expression_is_linear(const struct expression *expression)
{
    const uint32_t *words = expression->words;
    for (uint32_t k = 0; k < expression->n_words; k++) {
        const uint32_t word = words[2 * k], last = k > 0 ? words[2 * k - 2] : EXPRESSION_NUMBER;
        const bool turns = k > 1 && last == EXPRESSION_ARGUMENT && words[2 * k - 4] == EXPRESSION_NUMBER;
        switch (word) {
        case EXPRESSION_NUMBER:
        case EXPRESSION_ARGUMENT:
        case EXPRESSION_NEGATE:
        case EXPRESSION_ADD:
        case EXPRESSION_SUBTRACT:
            break;
        case EXPRESSION_MULTIPLY:
            if (!turns && last != EXPRESSION_NUMBER) return false;
            break;
        case EXPRESSION_DIVIDE:
            if (last != EXPRESSION_NUMBER) return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

double expression_value(const struct expression *expression, const double *arguments, double *stack)
{
    uint32_t height = 0;
    for (uint32_t k = 0; k < expression->n_words; k++) {
        const uint32_t word = expression->words[2 * k], operand = expression->words[2 * k + 1];
        if (word == EXPRESSION_NUMBER) {
            stack[height++] = expression->numbers[operand];
        } else if (word == EXPRESSION_ARGUMENT) {
            stack[height++] = arguments[operand];
        } else if (word < EXPRESSION_FIRST_OF_TWO) {
            stack[height - 1] = value_of_one(word, operand, stack[height - 1]);
        } else {
            height--;
            stack[height - 1] = value_of_two(word, stack[height - 1], stack[height]);
        }
    }
    return stack[0];
}

/* Must a name stand in quotes? */
static bool needs_quotes(const char *name)
{
    bool plain = is_letter(name[0]);
    for (const char *at = name; *at != '\0'; at++) plain = plain && is_of_name(*at);
    return !plain;
}

/* What replaces names and references; each may have none. */
struct replacement {
    const char *const *pairs; /* old and new names: the last of the same old one counts */
    size_t count;
    const char *const *arguments; /* of @0, @1 .. */
};

/* What stands in the token's place; NULL: itself. */
static const char *new_name(const struct token *token, const struct replacement *by)
{
    const bool is_function = token->first == token->at && *token_at(token->next).first == '(';
    if (token->kind == REFERENCE && by->arguments) return by->arguments[reference_of(token)];
    for (size_t i = by->count; token->kind == NAME && !is_function && i >= 2; i -= 2)
        if (strlen(by->pairs[i - 2]) == token->length &&
            memcmp(by->pairs[i - 2], token->at, token->length) == 0)
            return by->pairs[i - 1];
    return NULL;
}

/* `longest`: of the new names. */
static char *replace(struct arena *arena, const char *text, const struct replacement *by, size_t longest)
{
    char *made = arena_allocate(arena, (strlen(text) + 1) * (longest + 3)), *to = made;
    if (!made) return NULL;
    struct token token = token_at(text);
    for (const char *from = text;; from = token.next, token = token_at(token.next)) {
        const char *name = new_name(&token, by), *end = name ? token.first : token.next;
        memcpy(to, from, (size_t)(end - from));
        to += end - from;
        if (token.kind == END) break;
        if (!name) continue;
        const bool quoted = needs_quotes(name);
        if (quoted) *to++ = '\'';
        memcpy(to, name, strlen(name));
        to += strlen(name);
        if (quoted) *to++ = '\'';
    }
    *to = '\0';
    return made;
}

char *expression_rename(struct arena *arena, const char *text, const char *const *pairs, size_t count)
{
    size_t longest = 0;
    for (size_t i = 1; i < count; i += 2)
        if (strlen(pairs[i]) > longest) longest = strlen(pairs[i]);
    return replace(arena, text, &(struct replacement){.pairs = pairs, .count = count}, longest);
}

char *expression_name_arguments(struct arena *arena, const char *text, const char *const *names, size_t count)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) > longest) longest = strlen(names[i]);
    return replace(arena, text, &(struct replacement){.arguments = names}, longest);
}
