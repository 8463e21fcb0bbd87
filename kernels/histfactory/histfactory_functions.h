/* histfactory_functions.h: slots that are functions of others.
 *
 *   X of arguments ─► X of functions ─► rates, derivatives by all slots ─► chain rule: arguments alone
 *
 * A function f has words (numeric/expression_words.h). They are evaluated on a stack of frames: a value with
 * its first and second derivatives by f's arguments. An argument may be a function itself: it stands before
 * f, and chain rules go from the last function to the first.
 *
 * Functions have a value in X during an evaluation alone; between evaluations it is 0, as minimisers find it
 * in slots that are never free. Outside a function's domain the likelihood is HF_HUGE. */
#pragma once

#include "numeric/expression_words.h"
#include "numeric/math.h"
#include "numeric/tiles.h"
#include "histfactory/histfactory_records.h"

typedef CONSTANT hf_functions_record *hf_functions;
typedef CONSTANT hf_function_record *hf_function;

FN u32 hf_has_functions(CONSTANT u32 *mi)
{
    return mi[HF_SWITCHES] & HF_FUNCTIONS;
}
FN hf_functions hf_functions_of(CONSTANT u32 *mi)
{
    return (hf_functions)(mi + HF_HEADER);
}
FN hf_function hf_function_of(CONSTANT u32 *mi, u32 k)
{
    return (hf_function)(mi + hf_functions_of(mi)->functions) + k;
}

/* ---- words ---- */

/* What a word makes of x and y, and its derivatives by them. */
typedef struct {
    real value, by_x, by_y, by_xx, by_xy, by_yy;
    mask outside; /* of the domain */
} hf_answer;

#define HF_ROOT_LEAST R(1e-12) /* below, a root has this number's slope */

FN real hf_log_of(real x)
{
    return flush(FIRST(m_log(PACK_OF(x))));
}
FN real hf_exp_of(real x)
{
    return flush(FIRST(m_exp(PACK_OF(x))));
}
FN real hf_not_zero(real x, mask zero)
{
    return SELECT(zero, R(1.0), x);
}

FN hf_answer hf_nothing(void)
{
    hf_answer a;
    a.value = a.by_x = a.by_y = a.by_xx = a.by_xy = a.by_yy = R(0.0);
    a.outside = R(0.0) > R(1.0);
    return a;
}

/* x^n and two derivatives. */
FN hf_answer hf_whole_power(u32 n, real x)
{
    hf_answer a = hf_nothing();
    a.value = R(1.0);
    for (u32 k = 0; k < n; k++) {
        a.by_xx = flush(FMA(a.by_xx, x, R(2.0) * a.by_x));
        a.by_x = flush(FMA(a.by_x, x, a.value));
        a.value = flush(a.value * x);
    }
    return a;
}

FN hf_answer hf_answer_of_one(u32 word, u32 operand, real x)
{
    const real one = R(1.0), zero = R(0.0);
    if (word == EXPRESSION_WHOLE_POWER) return hf_whole_power(operand, x);
    hf_answer a = hf_nothing();
    if (word == EXPRESSION_NEGATE) {
        a.value = -x;
        a.by_x = -one;
    } else if (word == EXPRESSION_EXP) {
        a.value = a.by_x = a.by_xx = hf_exp_of(x);
    } else if (word == EXPRESSION_INVERT) {
        a.outside = NOT(OR(x > zero, x < zero));
        a.value = flush(DIVIDE(one, hf_not_zero(x, a.outside)));
        a.by_x = -flush(a.value * a.value);
        a.by_xx = flush(R(-2.0) * a.by_x * a.value);
    } else if (word == EXPRESSION_SQRT) {
        const real least = SELECT(x > HF_ROOT_LEAST, x, HF_ROOT_LEAST);
        a.outside = NOT(x >= zero);
        a.value = SQRT(SELECT(a.outside, zero, x));
        a.by_x = flush(DIVIDE(R(0.5), SQRT(least)));
        a.by_xx = flush(DIVIDE(R(-0.5) * a.by_x, least));
    } else { /* EXPRESSION_LOG */
        a.outside = NOT(x > zero);
        a.value = hf_log_of(hf_not_zero(x, a.outside));
        a.by_x = flush(DIVIDE(one, hf_not_zero(x, a.outside)));
        a.by_xx = -flush(a.by_x * a.by_x);
    }
    return a;
}

FN hf_answer hf_answer_of_two(u32 word, real x, real y)
{
    const real one = R(1.0), zero = R(0.0);
    hf_answer a = hf_nothing();
    if (word == EXPRESSION_ADD || word == EXPRESSION_SUBTRACT) {
        a.by_x = one;
        a.by_y = word == EXPRESSION_ADD ? one : -one;
        a.value = word == EXPRESSION_ADD ? x + y : x - y;
    } else if (word == EXPRESSION_MULTIPLY) {
        a.value = x * y;
        a.by_x = y;
        a.by_y = x;
        a.by_xy = one;
    } else if (word == EXPRESSION_DIVIDE) {
        a.outside = NOT(OR(y > zero, y < zero));
        const real divisor = hf_not_zero(y, a.outside);
        a.value = DIVIDE(x, divisor);
        a.by_x = flush(DIVIDE(one, divisor));
        a.by_y = -flush(flush(a.value) * a.by_x);
        a.by_xy = -flush(a.by_x * a.by_x);
        a.by_yy = flush(R(-2.0) * a.by_y * a.by_x);
    } else { /* EXPRESSION_POWER */
        a.outside = NOT(x > zero);
        const real base = hf_not_zero(x, a.outside), logarithm = hf_log_of(base),
                   inverse = flush(DIVIDE(one, base)), turn = flush(y * inverse);
        a.value = hf_exp_of(flush(y * logarithm));
        a.by_x = flush(a.value * turn);
        a.by_y = flush(a.value * logarithm);
        a.by_xx = flush(a.by_x * flush((y - one) * inverse));
        a.by_xy = flush(a.value * flush(inverse * FMA(y, logarithm, one)));
        a.by_yy = flush(a.by_y * logarithm);
    }
    a.value = flush(a.value);
    return a;
}

/* Frame x := the answer of x, and for a word of two of y. `order`: of derivatives. */
FN void hf_put_answer(hf_answer a, GLOBAL real *x, GLOBAL const real *y, u32 two, u32 n, u32 order)
{
    GLOBAL real *second = x + 1 + n;
    GLOBAL const real *other = y + 1 + n;
    x[0] = a.value;
    for (u32 i = 0; i < n && order > 1; i++)
        for (u32 j = 0; j <= i; j++) {
            const u32 at = i * (i + 1) / 2 + j;
            const real xi = x[1 + i], xj = x[1 + j];
            real v = FMA(a.by_x, second[at], flush(a.by_xx * flush(xi * xj)));
            if (two) {
                const real yi = y[1 + i], yj = y[1 + j];
                v = FMA(a.by_y, other[at], v);
                v = FMA(a.by_xy, flush(FMA(xi, yj, xj * yi)), v);
                v = FMA(a.by_yy, flush(yi * yj), v);
            }
            second[at] = flush(v);
        }
    for (u32 i = 0; i < n && order > 0; i++) {
        real v = a.by_x * x[1 + i];
        if (two) v = FMA(a.by_y, y[1 + i], v);
        x[1 + i] = flush(v);
    }
}

/* A number, or the i-th argument. */
FN void hf_push(GLOBAL real *frame, real value, u32 is_argument, u32 i, u32 size)
{
    for (u32 k = 1; k < size; k++) frame[k] = R(0.0);
    frame[0] = value;
    if (is_argument) frame[1 + i] = R(1.0);
}

/* X and the derivatives of a function. Returns lanes outside its domain. */
FN mask hf_evaluate_function(HF_PARAMETERS, hf_function f, GLOBAL real *stack, u32 order)
{
    const u32 n = f->n_arguments, whole = HF_DERIVATIVES(n);
    const u32 wanted = order > 1 ? whole : order > 0 ? 1 + n : 1;
    if (f->linear && order > 1) order = 1;
    const u32 size = order > 1 ? whole : order > 0 ? 1 + n : 1;
    CONSTANT u32 *words = mi + f->words, *arguments = mi + f->arguments;
    GLOBAL real *x = HF_S(X), *top = stack, *to = s + f->derivatives;
    mask outside = R(0.0) > R(1.0);
    for (u32 k = 0; k < f->n_words; k++) {
        const u32 word = words[2 * k], operand = words[2 * k + 1];
        if (word <= EXPRESSION_ARGUMENT) { /* `top` is behind the last frame */
            const u32 is_argument = word == EXPRESSION_ARGUMENT;
            const real value = is_argument ? x[arguments[operand]] : LOADM1(mr, f->numbers + operand);
            hf_push(top, value, is_argument && order > 0, operand, size);
            top += whole;
        } else {
            const u32 two = word >= EXPRESSION_FIRST_OF_TWO;
            if (two) top -= whole;
            GLOBAL real *frame = top - whole;
            const hf_answer a =
                two ? hf_answer_of_two(word, frame[0], top[0]) : hf_answer_of_one(word, operand, frame[0]);
            outside = OR(outside, a.outside);
            hf_put_answer(a, frame, top, two, n, order);
        }
    }
    outside = OR(outside, NOT(AND(stack[0]<HF_HUGE, stack[0]> - HF_HUGE)));
    x[f->slot] = SELECT(outside, R(0.0), stack[0]);
    for (u32 k = 1; k < size; k++) to[k] = SELECT(outside, R(0.0), stack[k]);
    for (u32 k = size; k < wanted; k++) to[k] = R(0.0);
    return outside;
}

/* All functions in X, with derivatives of the order. */
FN_LARGE void hf_evaluate_functions(HF_PARAMETERS, u32 order)
{
    hf_functions all = hf_functions_of(mi);
    TEAM_BARRIER();
    ONE_WORKER
    {
        mask outside = R(0.0) > R(1.0);
        for (u32 k = 0; k < all->count; k++)
            outside = OR(outside, hf_evaluate_function(HF, hf_function_of(mi, k), s + all->stack, order));
        s[all->outside] = SELECT(outside, R(1.0), R(0.0));
    }
    TEAM_BARRIER();
}

/* No function has a value any more. */
FN void hf_leave_functions(HF_PARAMETERS)
{
    hf_functions all = hf_functions_of(mi);
    TEAM_FOR(k, all->count) s[mi[HF_S_X] + hf_function_of(mi, k)->slot] = R(0.0);
    TEAM_BARRIER();
}

/* ---- chain rules ---- */

/* GRADIENT by arguments alone. Keeps those by functions. */
FN_LARGE void hf_fold_gradient(HF_PARAMETERS)
{
    GLOBAL real *gradient = HF_S(GRADIENT);
    ONE_WORKER
    {
        for (u32 k = hf_functions_of(mi)->count; k-- > 0;) {
            hf_function f = hf_function_of(mi, k);
            CONSTANT u32 *arguments = mi + f->arguments;
            GLOBAL real *derivatives = s + f->derivatives;
            const real own = gradient[f->slot];
            derivatives[0] = own;
            for (u32 i = 0; i < f->n_arguments; i++)
                gradient[arguments[i]] = flush(FMA(derivatives[1 + i], own, gradient[arguments[i]]));
            gradient[f->slot] = R(0.0);
        }
    }
    TEAM_BARRIER();
}

/* A change of the functions along a change of all slots. */
FN void hf_fold_direction(HF_PARAMETERS, GLOBAL real *direction)
{
    ONE_WORKER
    {
        for (u32 k = 0; k < hf_functions_of(mi)->count; k++) {
            hf_function f = hf_function_of(mi, k);
            CONSTANT u32 *arguments = mi + f->arguments;
            real sum = R(0.0);
            for (u32 i = 0; i < f->n_arguments; i++)
                sum = FMA(s[f->derivatives + 1 + i], direction[arguments[i]], sum);
            direction[f->slot] = flush(sum);
        }
    }
    TEAM_BARRIER();
}

/* A panel's jacobian, [spot][8 bins], by arguments alone. */
FN_LARGE void hf_fold_jacobian(HF_PARAMETERS, hf_channel ch, GLOBAL real *jacobian)
{
    CONSTANT u32 *first = mi + mi[hf_functions_of(mi)->spots + (u32)(ch - hf_channel_of(mi, 0))];
    TEAM_FOR_PACK(b, 8) {
        CONSTANT u32 *spot = first + 1;
        for (u32 left = first[0]; left > 0; left--) {
            hf_function f = hf_function_of(mi, spot[0]);
            const u32 n = f->n_arguments;
            GLOBAL real *own = jacobian + 8 * spot[1];
            const pack turn = pflush(LOADP(own, b));
            for (u32 i = 0; i < n; i++) {
                GLOBAL real *to = jacobian + 8 * spot[2 + i];
                STOREP(to, b, PFMA(PACK_OF(s[f->derivatives + 1 + i]), turn, LOADP(to, b)));
            }
            STOREP(own, b, PK(0.0));
            spot += 2 + n;
        }
    }
}

/* Second derivatives by a function's slot, with its first derivatives J: J h^T + h J^T + J J^T h_own, h the
 * slot's column; and those of the function itself. */
FN void hf_fold_function(HF_PARAMETERS, hf_function f, real kap)
{
    const u32 n = f->n_arguments, dense = mi[HF_DENSE];
    CONSTANT u32 *arguments = mi + f->arguments;
    GLOBAL real *tiles = HF_S(TILES), *column = s + hf_functions_of(mi)->column;
    GLOBAL const real *derivatives = s + f->derivatives, *second = derivatives + 1 + n;
    TEAM_FOR(j, dense) column[j] = flush(tiles_element(tiles, f->slot, j));
    TEAM_BARRIER();
    for (u32 i = 0; i < n; i++) {
        const u32 a = arguments[i];
        TEAM_FOR(j, dense) {
            const real v = derivatives[1 + i] * column[j];
            if (j != f->slot) tiles_add_element(tiles, a, j, j == a ? v + v : v);
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        const real own = flush(column[f->slot] + s[mi[HF_S_DIAGONAL] + f->slot]),
                   slope = flush(kap * derivatives[0]);
        for (u32 i = 0; i < n; i++)
            for (u32 j = 0; j <= i; j++) {
                const real both = flush(derivatives[1 + i] * derivatives[1 + j]);
                tiles_add_element(tiles, arguments[i], arguments[j],
                                  FMA(slope, second[i * (i + 1) / 2 + j], both * own));
            }
    }
    TEAM_BARRIER();
}

/* TILES, which with DIAGONAL have the second derivatives of rates by functions' slots: by arguments alone. */
FN_LARGE void hf_fold_tiles(HF_PARAMETERS, real kap)
{
    for (u32 k = hf_functions_of(mi)->count; k-- > 0;) hf_fold_function(HF, hf_function_of(mi, k), kap);
}
