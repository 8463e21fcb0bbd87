/* expression.h: formulas of named arguments as words for a stack (numeric/expression_words.h).
 *
 *   text ──► expression_parse ──► words, numbers, names ──► a model's tables ──► kernels
 *
 * Numbers, names, + - * / ^ **, parentheses, exp, log, sqrt, pow. Names are letters, digits and _ . : [ ], or
 * any text in single quotes. @0, @1 are the caller's arguments, by number. */
#pragma once

#include "base/context.h"
#include "numeric/expression_words.h"

struct expression {
    const uint32_t *words; /* pairs */
    const double *numbers;
    const char *const *names; /* of the arguments, in the order in which they appear first */
    const uint32_t *columns;  /* where, from 1 on */
    uint32_t n_words, n_numbers, n_names;
    uint32_t depth; /* of the stack */
};

/* `names`: of @0, @1 ..; NULL: the text has no such words. INVALID_INPUT: *column, from 1 on, and the
 * context's message, without a place. */
paritas_status expression_parse(paritas_context *context, struct arena *arena, const char *text,
                                const char *const *names, uint32_t n_names, struct expression *made,
                                uint32_t *column);

/* The value at `arguments`, by the kernels' functions; NaN outside the domain. `stack`: `depth` elements. */
double expression_value(const struct expression *expression, const double *arguments, double *stack);

/* Whether it is seen to be a sum of arguments times numbers. */
bool expression_is_linear(const struct expression *expression);

/* The text with names replaced: pairs of old and new names, the last of the same old one counts. The text was
 * parsed before. NULL: out of memory. */
char *expression_rename(struct arena *arena, const char *text, const char *const *pairs, size_t count);
/* The same with names in place of @0, @1, all of which are given. */
char *expression_name_arguments(struct arena *arena, const char *text, const char *const *names,
                                size_t count);
