/* expression_words.h: an expression for host and kernels: pairs of a word and its operand.
 *
 * The parser is src/base/expression.h. A word takes its arguments from a stack, and puts its answer there. */
#pragma once

enum expression_word {
    EXPRESSION_NUMBER,      /* operand: which number */
    EXPRESSION_ARGUMENT,    /* operand: which argument */
    EXPRESSION_NEGATE,      /* from here on: of one number */
    EXPRESSION_INVERT,      /* 1 / x */
    EXPRESSION_WHOLE_POWER, /* operand: the exponent, at most EXPRESSION_POWER_MOST */
    EXPRESSION_SQRT,
    EXPRESSION_EXP,
    EXPRESSION_LOG,
    EXPRESSION_ADD, /* from here on: of two */
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE,
    EXPRESSION_POWER /* of a positive number */
};
#define EXPRESSION_FIRST_OF_TWO EXPRESSION_ADD
#define EXPRESSION_POWER_MOST 64
