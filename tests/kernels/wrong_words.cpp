// wrong_words.cpp: the CUDA text of the conformance kernels as native code, in one precision (PARITAS_F64),
// on numbers whose operations can make the mistakes of wrong_words.h. They stand where CUDA's type would.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern "C" {
#define _Thread_local __thread
#include "cuda/words.h"
}
#include "kernels/wrong_words.h"

// functions of one name in both precisions
namespace {

#if PARITAS_F64
typedef double plain;
typedef long double wider;
const plain least = DBL_MIN, most = DBL_MAX;
#else
typedef float plain;
typedef double wider;
const plain least = FLT_MIN, most = FLT_MAX;
#endif

inline bool is(enum wrong_word which)
{
    return wrong_word == which;
}
inline bool is_in(enum wrong_word which, const char *function, const char *wanted)
{
    return wrong_word == which && strcmp(function, wanted) == 0;
}

plain operand(plain a)
{
    return is(WRONG_FLUSH_OPERANDS) && fabs(a) < least ? a * 0 : a;
}
plain result(plain a)
{
    return is(WRONG_FLUSH_RESULTS) && fabs(a) < least ? a * 0 : a;
}
// A rounded result towards zero; error: what is right less what is rounded.
plain cut(plain rounded, plain error)
{
    return rounded * error < 0 ? (plain)nextafter(rounded, (plain)0) : rounded;
}

struct wrong_u32;

struct number {
    plain value;
    number() = default;
    constexpr number(double a) : value((plain)a) {}
    constexpr number(float a) : value((plain)a) {}
    constexpr number(int a) : value((plain)a) {}
    constexpr number(unsigned a) : value((plain)a) {}
    inline number(wrong_u32 a);
    explicit operator int() const { return (int)value; }
    explicit operator unsigned() const { return (unsigned)value; }
    explicit operator long long() const { return (long long)value; }
};
// knows its factors until it is stored
struct product : number {
    plain a, b;
};

number plus(plain a, plain b)
{
    a = operand(a), b = operand(b);
    const plain sum = result(a + b), of_b = sum - a, error = (a - (sum - of_b)) + (b - of_b);
    if (is(WRONG_ZERO_ADDED) && a == 0) return b;
    return is(WRONG_SUM_CUT) ? cut(sum, error) : sum;
}

// A sum that goes on where the last one ended, its terms in another order.
number in_chain(plain a, plain b)
{
    static plain terms[300], last = NAN;
    static unsigned n;
    if (memcmp(&a, &last, sizeof a) != 0 || n == 300) terms[0] = a, n = 1;
    terms[n++] = b;
    plain sums[300];
    unsigned left = n;
    memcpy(sums, terms, sizeof sums);
    if (is(WRONG_FOUR_SUMS)) {
        for (unsigned i = 4; i < n; i++) sums[i % 4] += sums[i];
        if (left > 4) left = 4;
    }
    for (; left > 1; left = (left + 1) / 2)
        for (unsigned i = 0; i < left; i += 2)
            sums[i / 2] = i + 1 < left ? sums[i] + sums[i + 1] : sums[i];
    last = sums[0];
    return last;
}
number fused(plain a, plain b, plain c)
{
    a = operand(a), b = operand(b), c = operand(c);
#if PARITAS_F64
    return result(__builtin_fma(a, b, c));
#else
    return result(__builtin_fmaf(a, b, c));
#endif
}

number operator+(number a, number b)
{
    return is(WRONG_FOUR_SUMS) || is(WRONG_SUM_BY_PAIRS) ? in_chain(a.value, b.value)
                                                         : plus(a.value, b.value);
}
number operator+(product a, number b)
{
    return is(WRONG_CONTRACTED) ? fused(a.a, a.b, b.value) : plus(a.value, b.value);
}
number operator+(number a, product b)
{
    return b + a;
}
number operator+(product a, product b)
{
    return a + (number)b;
}
number operator-(number a)
{
    return is(WRONG_ZERO_MINUS) ? number((plain)0 - a.value) : number(-a.value);
}
number operator-(number a, number b)
{
    const plain x = operand(a.value), y = operand(b.value), difference = result(x - y),
                of_y = difference - x, error = (x - (difference - of_y)) - (y + of_y);
    return is(WRONG_DIFFERENCE_CUT) ? cut(difference, error) : difference;
}
product operator*(number a, number b)
{
    product p;
    p.a = operand(a.value);
    p.b = operand(b.value);
    p.value = result(p.a * p.b);
    if (is(WRONG_PRODUCT_CUT)) p.value = cut(p.value, fused(p.a, p.b, -p.value).value);
    if (is(WRONG_ZERO_TIMES) && (p.a == 0 || p.b == 0)) p.value = 0;
    return p;
}
number quotient(number a, number b, bool by_reciprocal)
{
    const plain x = operand(a.value), y = operand(b.value);
    if (is(WRONG_NO_INFINITY) && y == 0) return (plain)copysign(most, y);
    return by_reciprocal ? x * (1 / y) : result(x / y);
}
number operator/(number a, number b)
{
    return quotient(a, b, is(WRONG_BY_RECIPROCAL));
}

// ---- comparisons; remembers what `not` might be folded to ----
int opposite;

bool is_less(plain a, plain b)
{
    return is(WRONG_NAN_IS_LESS) ? !(a >= b) : a < b;
}
int operator<(number a, number b)
{
    const plain x = operand(a.value), y = operand(b.value);
    opposite = x >= y;
    return is_less(x, y);
}
int operator>(number a, number b)
{
    return b < a;
}
int operator>=(number a, number b)
{
    const plain x = operand(a.value), y = operand(b.value);
    opposite = x < y;
    return x >= y;
}
int operator<=(number a, number b)
{
    return b >= a;
}
int operator==(number a, number b)
{
    const bool nan = a.value != a.value && b.value != b.value;
    return operand(a.value) == operand(b.value) || (is(WRONG_NAN_IS_EQUAL) && nan);
}
int operator!=(number a, number b)
{
    const bool nan = a.value != a.value && b.value != b.value;
    return operand(a.value) != operand(b.value) && !(is(WRONG_NAN_IS_NOT_UNEQUAL) && nan);
}
int not_of(int mask)
{
    return is(WRONG_NOT_BY_OPPOSITE) ? opposite : !mask;
}

// ---- functions of numbers ----
number wrong_fma(number a, number b, number c, const char *function)
{
    const plain x = a.value, y = b.value, z = c.value;
    if (is(WRONG_FMA_UNFUSED) || is_in(WRONG_REAL_UNFUSED, function, "conform_memory") ||
        is_in(WRONG_TEAM_SUM_UNFUSED, function, "acc8_fma") ||
        is_in(WRONG_DEVIANCE_UNFUSED, function, "m_deviance") ||
        is_in(WRONG_ERF_UNFUSED, function, "m_erf_ratio") ||
        is_in(WRONG_LGAMMA_UNFUSED, function, "m_lgamma") ||
        is_in(WRONG_NORMAL_UNFUSED, function, "rng_normal_ratio") ||
        is_in(WRONG_SIN_UNFUSED, function, "m_turn_of"))
        return x * y + z;
    if (is(WRONG_FMA_BY_WIDER)) return (plain)((wider)x * y + z);
    if (is(WRONG_FLUSH_WITHOUT_SUM) && x != 0 && y != 0 && fabs(x * y) < least)
        return x * y;
    return fused(x, y, z);
}
number wrong_root(number a)
{
#if PARITAS_F64
    const plain x = operand(a.value), root = __builtin_sqrt(x);
#else
    const plain x = operand(a.value), root = __builtin_sqrtf(x);
#endif
    return is(WRONG_ROOT_BY_INVERSE) ? x * (1 / root) : root;
}
number wrong_select(int mask, number a, number b, const char *function)
{
    const bool turned = is(WRONG_SELECT_TURNED) ||
                        is_in(WRONG_REAL_SELECT_TURNED, function, "conform_memory") ||
                        is_in(WRONG_PFLUSH_TURNED, function, "pflush") ||
                        is_in(WRONG_EXP_TURNED, function, "m_exp") ||
                        is_in(WRONG_LOG_TURNED, function, "m_log") ||
                        is_in(WRONG_LOG1P_TURNED, function, "m_log1p") ||
                        is_in(WRONG_ERFC_TURNED, function, "m_erfc") ||
                        is_in(WRONG_NORMAL_CDF_TURNED, function, "m_normal_cdf") ||
                        is_in(WRONG_POISSON_TURNED, function, "rng_poisson") ||
                        is_in(WRONG_ACOS_TURNED, function, "m_acos_degrees") ||
                        is_in(WRONG_ASIN_ROOT_TURNED, function, "m_asin_root_degrees");
    return (mask != 0) != turned ? a : b;
}
number wrong_literal(double exact, number right, const char *function)
{
    if (is_in(WRONG_COS_WITHOUT_LITERAL, function, "m_cos_degrees")) return 0;
    if (!is_in(WRONG_LITERAL_CUT, function, "conform_words")) return right;
    return PARITAS_F64 ? number((float)exact) : cut(right.value, (plain)(exact - (double)right.value));
}

// ---- u32 of philox alone ----
struct wrong_u32 {
    unsigned value;
    wrong_u32() = default;
    wrong_u32(unsigned a) : value(a) {}
};
inline number::number(wrong_u32 a) : value((plain)a.value) {}
#define OPERATOR_OF_U32(op) \
    wrong_u32 operator op(wrong_u32 a, wrong_u32 b) { return a.value op b.value; }
OPERATOR_OF_U32(+)
OPERATOR_OF_U32(^)
OPERATOR_OF_U32(&)
OPERATOR_OF_U32(>>)
wrong_u32 operator*(wrong_u32 a, wrong_u32 b)
{
    const unsigned kept = is(WRONG_PRODUCT_OF_24_BITS) ? 0xffffff : 0xffffffff;
    return (a.value & kept) * (b.value & kept);
}
wrong_u32 &operator+=(wrong_u32 &a, wrong_u32 b)
{
    return a = a + b;
}
bool operator<(wrong_u32 a, wrong_u32 b)
{
    return a.value < b.value;
}
void operator++(wrong_u32 &a, int)
{
    a.value++;
}

// ---- a table of constants ----
template <class type, int n> struct wrong_table {
    type entries[n];
    const type &operator[](unsigned i) const { return entries[is(WRONG_TABLE_NEXT) ? (i + 1) % n : i]; }
};

} // namespace

#if PARITAS_F64
#define double number
#else
#define float number
#endif
#undef __double_as_longlong
#undef __longlong_as_double
#undef __float_as_int
#undef __int_as_float
#undef __fma_rn
#undef __fmaf_rn
#undef __dsqrt_rn
#undef __fsqrt_rn
#define __double_as_longlong(a) native_bits64(number(a).value)
#define __longlong_as_double(i) number(native_from_bits64(i))
#define __float_as_int(a) native_bits32(number(a).value)
#define __int_as_float(i) number(native_from_bits32(i))
#define __fma_rn(a, b, c) wrong_fma(a, b, c, __func__)
#define __fmaf_rn(a, b, c) wrong_fma(a, b, c, __func__)
#define __dsqrt_rn(a) wrong_root(a)
#define __fsqrt_rn(a) wrong_root(a)

// native_kernels.c puts the dialect in front of this, and the kernels' entries behind
#define PARITAS_MODULE conformance
#define PARITAS_MODULE_FILE "kernels/wrong_words_module.h"
#define PARITAS_MODULE_ENTRIES_FILE "modules/conformance_entries.h"
#include "cuda/native_kernels.c"
