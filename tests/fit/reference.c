/* reference.c: see reference.h. */
#include "fit/fit_reference.h"

#include <math.h>
#include <stdlib.h>

#define EACH(k) for (int k = 0; k < REFERENCE_WIDTH; k++)

static struct jet constant(double value)
{
    return (struct jet){.v = value};
}

static struct jet add(struct jet x, struct jet y)
{
    x.v += y.v;
    x.a += y.a;
    EACH(k) x.b[k] += y.b[k];
    EACH(k) x.ab[k] += y.ab[k];
    return x;
}

static struct jet times(struct jet x, struct jet y)
{
    struct jet z = {.v = x.v * y.v, .a = x.a * y.v + x.v * y.a};
    EACH(k) z.b[k] = x.b[k] * y.v + x.v * y.b[k];
    EACH(k) z.ab[k] = x.ab[k] * y.v + x.a * y.b[k] + x.b[k] * y.a + x.v * y.ab[k];
    return z;
}

static struct jet scaled(double factor, struct jet x)
{
    x.v *= factor;
    x.a *= factor;
    EACH(k) x.b[k] *= factor;
    EACH(k) x.ab[k] *= factor;
    return x;
}

/* f(x), given f, f' and f'' at x.v */
static struct jet chain(struct jet x, double f, double f1, double f2)
{
    struct jet z = {.v = f, .a = f1 * x.a};
    EACH(k) z.b[k] = f1 * x.b[k];
    EACH(k) z.ab[k] = f1 * x.ab[k] + f2 * x.a * x.b[k];
    return z;
}

/* base^x */
static struct jet power(double base, struct jet x)
{
    const double l = log(base), p = exp(l * x.v);
    return chain(x, p, l * p, l * l * p);
}

/* NaN below 0 */
static struct jet logarithm(struct jet x)
{
    if (!(x.v > 0.0)) return constant(NAN);
    return chain(x, log(x.v), 1.0 / x.v, -1.0 / (x.v * x.v));
}

/* c1 x + ... + c6 x^6 + 1 */
static struct jet polynomial(const double c[6], struct jet x)
{
    struct jet sum = constant(0.0);
    for (int k = 6; k-- > 0;) sum = times(add(sum, constant(c[k])), x);
    return add(sum, constant(1.0));
}

/* The polynomial of degree 6 that is 1 at 0 and meets hi^x at 1 and lo^-x at -1 with its first two
 * derivatives: six equations. */
static void solve_polynomial(double hi, double lo, double c[6])
{
    const long double lh = logl(hi), ll = logl(lo);
    long double m[6][7];
    for (int k = 1; k <= 6; k++) {
        const long double sign = k % 2 ? -1.0L : 1.0L; /* (-1)^k */
        m[0][k - 1] = 1.0L;
        m[1][k - 1] = k;
        m[2][k - 1] = k * (k - 1);
        m[3][k - 1] = sign;
        m[4][k - 1] = -sign * k;
        m[5][k - 1] = sign * k * (k - 1);
    }
    m[0][6] = hi - 1.0L;
    m[1][6] = hi * lh;
    m[2][6] = hi * lh * lh;
    m[3][6] = lo - 1.0L;
    m[4][6] = -lo * ll;
    m[5][6] = lo * ll * ll;
    for (int i = 0; i < 6; i++) {
        int pivot = i;
        for (int r = i; r < 6; r++)
            if (fabsl(m[r][i]) > fabsl(m[pivot][i])) pivot = r;
        for (int k = 0; k < 7; k++) {
            const long double swap = m[i][k];
            m[i][k] = m[pivot][k];
            m[pivot][k] = swap;
        }
        for (int r = 0; r < 6; r++) {
            const long double factor = m[r][i] / m[i][i];
            for (int k = 0; r != i && k < 7; k++) m[r][k] -= factor * m[i][k];
        }
    }
    for (int i = 0; i < 6; i++) c[i] = (double)(m[i][6] / m[i][i]);
}

bool reference_open(struct reference *reference)
{
    const struct hf_spec *spec = reference->spec;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        for (uint32_t c = 0; c < spec->n_channels; c++)
            for (uint32_t s = 0; s < spec->channels[c].n_samples; s++)
                for (uint32_t m = 0; m < spec->channels[c].samples[s].n_modifiers; m++) {
                    const struct hf_modifier *modifier = &spec->channels[c].samples[s].modifiers[m];
                    if (modifier->type != HF_NORMSYS) continue;
                    if (pass) solve_polynomial(modifier->hi, modifier->lo, reference->polynomials[n]);
                    n++;
                }
        if (pass == 0) reference->polynomials = calloc(n + 1, sizeof *reference->polynomials);
        if (!reference->polynomials) return false;
    }
    return true;
}

void reference_close(struct reference *reference)
{
    free(reference->polynomials);
}

/* What a histosys adds to a bin whose nominal rate becomes `hi` at 1 and `lo` at -1. */
static struct jet shift(int code, double nominal, double hi, double lo, struct jet x)
{
    const double up = hi - nominal, down = nominal - lo;
    if (code == PARITAS_HISTOSYS_CODE_0) return scaled(x.v > 0.0 ? up : down, x);
    if (code == PARITAS_HISTOSYS_CODE_2 || code == PARITAS_HISTOSYS_CODE_2C) {
        const double a = 0.5 * (hi + lo) - nominal, b = 0.5 * (hi - lo);
        if (code == PARITAS_HISTOSYS_CODE_2C && (x.v > 1.0 || x.v < -1.0)) {
            const double edge = x.v > 1.0 ? 1.0 : -1.0;
            return add(constant(x.v > 1.0 ? up : -down), scaled(b + 2.0 * edge * a, add(x, constant(-edge))));
        }
        if (x.v > 1.0) return scaled(b + 2.0 * a, add(x, constant(-1.0)));
        if (x.v < -1.0) return scaled(b - 2.0 * a, x); /* as pyhf 0.7 has it */
        return add(scaled(a, times(x, x)), scaled(b, x));
    }
    if (x.v > 1.0) return scaled(up, x);
    if (x.v < -1.0) return scaled(down, x);
    const struct jet square = times(x, x);
    const struct jet inner = add(constant(15.0), times(square, add(scaled(3.0, square), constant(-10.0))));
    return add(scaled(0.5 * (up + down), x), scaled((up - down) / 16.0, times(square, inner)));
}

/* The factor of a normsys. */
static struct jet normsys(const struct reference *reference, const struct hf_modifier *m,
                          const double polynomial_of[6], struct jet x)
{
    const int code = m->code ? m->code : reference->normsys_code;
    if (code == PARITAS_NORMSYS_CODE_LNN) {
        /* ln v interpolated as a histosys with 4p of twice the parameter */
        const double up = 0.5 * log(m->hi), down = 0.5 * log(m->lo);
        return power(exp(1.0), shift(PARITAS_HISTOSYS_CODE_4P, 0.0, up, down, scaled(2.0, x)));
    }
    if (code == 1) return x.v >= 0.0 ? power(m->hi, x) : power(1.0 / m->lo, x);
    if (code != 4) {
        const int shift_code = code == PARITAS_NORMSYS_CODE_0    ? PARITAS_HISTOSYS_CODE_0
                               : code == PARITAS_NORMSYS_CODE_2C ? PARITAS_HISTOSYS_CODE_2C
                                                                 : PARITAS_HISTOSYS_CODE_4P;
        const struct jet factor = add(constant(1.0), shift(shift_code, 1.0, m->hi, m->lo, x));
        return factor.v > 0.0 ? factor : constant(0.0);
    }
    if (x.v >= 1.0) return power(m->hi, x);
    if (x.v <= -1.0) return power(1.0 / m->lo, x);
    return polynomial(polynomial_of, x);
}

static bool multiplies(int histosys_code)
{
    return histosys_code == PARITAS_HISTOSYS_CODE_1 || histosys_code == PARITAS_HISTOSYS_CODE_5 ||
           histosys_code == PARITAS_HISTOSYS_CODE_6;
}

/* The factor of a bin of a histosys that multiplies. */
static struct jet bin_factor(int code, double nominal, double hi, double lo, struct jet x)
{
    struct hf_modifier m = {.hi = hi / nominal, .lo = lo / nominal};
    const struct reference none = {0};
    double polynomial_of[6];
    if (code == PARITAS_HISTOSYS_CODE_1) m.code = PARITAS_NORMSYS_CODE_1;
    if (code == PARITAS_HISTOSYS_CODE_5) m.code = PARITAS_NORMSYS_CODE_4;
    if (code == PARITAS_HISTOSYS_CODE_6) m.code = PARITAS_NORMSYS_CODE_6;
    if (nominal <= 0.0) return constant(1.0);
    if (m.code == PARITAS_NORMSYS_CODE_4) solve_polynomial(m.hi, m.lo, polynomial_of);
    return normsys(&none, &m, polynomial_of, x);
}

/* The logarithm of a factor of a bin, made of those at 1 and -1; 0 where they are not above 0. */
static struct jet log_shift(int code, double nominal, double hi, double lo, struct jet x)
{
    const bool some = nominal > 0.0;
    return shift(code, 0.0, some && hi > 0.0 ? log(hi / nominal) : 0.0,
                 some && lo > 0.0 ? log(lo / nominal) : 0.0, x);
}

static struct jet parameter(const double *point, size_t p, size_t i, size_t j)
{
    struct jet x = {.v = point[p], .a = p == i};
    EACH(k) x.b[k] = p == j + (size_t)k;
    return x;
}

/* A sample's rate in a bin before its factors; those of the bin join `factor`. */
static struct jet base_of(const struct reference *reference, const struct hf_sample *sample, uint32_t b,
                          const double *point, size_t i, size_t j, struct jet *factor)
{
    const bool logarithmic = sample->shape.logarithmic;
    struct jet base = constant(sample->data[b]);
    if (logarithmic) base = constant(sample->data[b] > 0.0 ? log(sample->data[b]) : -1e6);
    for (uint32_t k = 0; k < sample->n_modifiers; k++) {
        const struct hf_modifier *m = &sample->modifiers[k];
        const size_t first = reference->spec->sets[m->set].first;
        if (m->type == HF_HISTOSYS) {
            const int code = m->code ? m->code : reference->histosys_code;
            const double nominal = sample->data[b], hi = m->hi_data[b], lo = m->lo_data[b];
            const struct jet x = scaled(m->scale, parameter(point, first, i, j));
            if (logarithmic && !multiplies(code))
                base = add(base, log_shift(code, nominal, hi, lo, x));
            else if (multiplies(code))
                *factor = times(*factor, bin_factor(code, nominal, hi, lo, x));
            else
                base = add(base, shift(code, nominal, hi, lo, x));
        }
        if (m->type == HF_SHAPEFACTOR || m->type == HF_SHAPESYS || m->type == HF_STATERROR)
            *factor = times(*factor, parameter(point, first + m->first + b, i, j));
    }
    return logarithmic ? power(exp(1.0), base) : base;
}

static struct jet held(const struct hf_sample *sample, struct jet base)
{
    return sample->shape.given && base.v < sample->shape.minimum ? constant(sample->shape.minimum) : base;
}

/* The sum of a sample's bases. */
static struct jet sum_of(const struct reference *reference, const struct hf_sample *sample, uint32_t n_bins,
                         const double *point, size_t i, size_t j)
{
    struct jet sum = constant(sample->shape.padding), ignored = constant(1.0);
    for (uint32_t b = 0; b < n_bins; b++) {
        const struct jet base = base_of(reference, sample, b, point, i, j, &ignored);
        sum = add(sum, sample->shape.logarithmic ? base : held(sample, base));
    }
    return sum;
}

/* Its total over the sum of its bases. */
static struct jet shape_factor(const struct reference *reference, const struct hf_sample *sample,
                               uint32_t n_bins, const double *point, size_t i, size_t j)
{
    if (!sample->shape.given || sample->shape.total == 0.0) return constant(1.0);
    const struct jet sum = sum_of(reference, sample, n_bins, point, i, j);
    return scaled(sample->shape.total,
                  chain(sum, 1.0 / sum.v, -1.0 / (sum.v * sum.v), 2.0 / (sum.v * sum.v * sum.v)));
}

/* A base of a sample, held and scaled; exponentials are scaled before. */
static struct jet shaped(const struct hf_sample *sample, struct jet base, struct jet factor)
{
    if (!sample->shape.given) return base;
    return sample->shape.logarithmic ? held(sample, times(base, factor)) : times(held(sample, base), factor);
}

static struct jet root(struct jet x)
{
    const double r = sqrt(x.v);
    return r > 0.0 ? chain(x, r, 0.5 / r, -0.25 / (r * x.v)) : constant(0.0);
}

/* Adds a channel's mcstat to its rates. `common`: the samples' factors that all bins share; then those
 * without a factor `zero` that is 0. */
static void add_errors(const struct reference *reference, const struct hf_channel *channel,
                       const struct jet *common, struct jet zero, const double *point, size_t i, size_t j,
                       struct jet *rates)
{
    for (uint32_t b = 0; b < channel->n_bins; b++) {
        struct jet squares = constant(0.0), others = squares, gamma = constant(0.0),
                   *rate = &rates[channel->first_bin + b];
        bool any = false;
        for (uint32_t s = 0; s < channel->n_samples; s++)
            for (uint32_t k = 0; k < channel->samples[s].n_modifiers; k++) {
                const struct hf_modifier *m = &channel->samples[s].modifiers[k];
                if (m->type != HF_MCSTAT) continue;
                const struct jet error = scaled(m->uncertainty[b], common[s]);
                const struct jet other = scaled(m->uncertainty[b], common[channel->n_samples + s]);
                squares = add(squares, times(error, error));
                others = add(others, times(other, other));
                gamma = parameter(point, reference->spec->sets[m->set].first + b, i, j);
                any = true;
            }
        const struct jet error = squares.v > 0.0 ? root(squares) : times(zero, root(others));
        *rate = add(*rate, times(gamma, error));
        if (any && rate->v < 1e-9) *rate = constant(1e-9);
    }
}

void reference_rates(const struct reference *reference, const double *point, size_t i, size_t j,
                     struct jet *rates)
{
    const struct hf_spec *spec = reference->spec;
    size_t polynomial_at = 0;
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        const struct hf_channel *channel = &spec->channels[c];
        struct jet *factors = calloc(2 * channel->n_samples, sizeof *factors), zero = constant(0.0);
        if (!factors) abort();
        for (uint32_t b = 0; b < channel->n_bins; b++) rates[channel->first_bin + b] = constant(0.0);
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            const struct hf_sample *sample = &channel->samples[s];
            /* factors that all bins of the sample share */
            struct jet common = constant(1.0), others = common;
            for (uint32_t k = 0; k < sample->n_modifiers; k++) {
                const struct hf_modifier *m = &sample->modifiers[k];
                const struct jet x = parameter(point, spec->sets[m->set].first, i, j);
                struct jet last = constant(1.0);
                if (m->type == HF_NORMSYS) {
                    last = normsys(reference, m, reference->polynomials[polynomial_at++], x);
                    common = times(common, last);
                }
                if (m->type == HF_NORMSYS) others = times(others, last);
                if (m->type != HF_NORMFACTOR && m->type != HF_LUMI) continue;
                common = times(common, x);
                if (x.v != 0.0)
                    others = times(others, x);
                else
                    zero = x;
            }
            factors[s] = common;
            factors[channel->n_samples + s] = others;
            const struct jet scale = shape_factor(reference, sample, channel->n_bins, point, i, j);
            for (uint32_t b = 0; b < channel->n_bins; b++) {
                struct jet factor = common;
                const struct jet base = base_of(reference, sample, b, point, i, j, &factor);
                struct jet rate = times(shaped(sample, base, scale), factor);
                if (reference->clip_sample && rate.v < reference->clip_sample_at)
                    rate = constant(reference->clip_sample_at);
                rates[channel->first_bin + b] = add(rates[channel->first_bin + b], rate);
            }
        }
        add_errors(reference, channel, factors, zero, point, i, j, rates);
        free(factors);
        for (uint32_t b = 0; b < channel->n_bins; b++)
            if (reference->clip_bin && rates[channel->first_bin + b].v < reference->clip_bin_at)
                rates[channel->first_bin + b] = constant(reference->clip_bin_at);
    }
}

/* Minus the logarithm of a Poisson probability. The value goes by the distance from its minimum, in long
 * double: counts of 1e11 occur. */
static struct jet poisson(double n, struct jet rate)
{
    if (n == 0.0) return rate.v >= 0.0 ? rate : constant(NAN);
    if (!(rate.v > 0.0)) return constant(NAN);
    const long double d = ((long double)rate.v - n) / n;
    const long double distance = n * (d - log1pl(d));
    /* n - n ln n + ln n!: Stirling's series where the terms would cancel */
    const long double inverse = 1.0L / n;
    const long double peak =
        n < 40.0
            ? lgammal(n + 1.0L) + n - n * logl(n)
            : 0.5L * logl(6.283185307179586476925286766559L * n) +
                  inverse * (1.0L / 12 -
                             inverse * inverse *
                                 (1.0L / 360 - inverse * inverse * (1.0L / 1260 - inverse * inverse / 1680)));
    return chain(rate, (double)(distance + peak), 1.0 - n / rate.v, n / rate.v / rate.v);
}

struct jet reference_twice_nll(const struct reference *reference, const double *point, const double *data,
                               size_t i, size_t j, struct jet *rates)
{
    const struct hf_spec *spec = reference->spec;
    struct jet sum = constant(0.0);
    reference_rates(reference, point, i, j, rates);
    for (uint32_t b = 0; b < spec->n_main; b++) sum = add(sum, poisson(data[b], rates[b]));
    for (uint32_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        for (uint32_t e = 0; e < set->size; e++) {
            const struct jet own = parameter(point, set->first + e, i, j),
                             y = add(scaled(set->slope, own), constant(set->offset)),
                             x = set->constraint == HF_LOGNORMAL ? logarithm(y) : y;
            if (set->tau)
                sum = add(sum, poisson(data[spec->n_main + set->first_aux + e], scaled(set->tau[e], x)));
            if (set->sigma) {
                const struct jet off = add(x, constant(-data[spec->n_main + set->first_aux + e]));
                const double sigma = set->sigma[e], own = off.v >= 0.0 ? sigma * set->ratio : sigma;
                const struct jet pull = scaled(1.0 / own, off);
                sum = add(sum, add(scaled(0.5, times(pull, pull)),
                                   constant(log(0.5 * sigma * (1.0 + set->ratio)) + 0.91893853320467274178)));
            }
        }
    }
    return scaled(2.0, sum);
}
