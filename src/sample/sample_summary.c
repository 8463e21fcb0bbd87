/* sample_summary.c: do chains agree, and how many draws are they worth? Vehtari, Gelman, Simpson, Carpenter,
 * Buerkner, arXiv:1903.08008; sums over lags end as in Geyer, Statist. Sci. 7 (1992) 473. */
#include "base/context.h"
#include "base/math/host_math.h"
#include "base/math/probability.h"
#include "base/sized.h"
#include "paritas_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAIL 0.05
#define LN_10 2.302585092994046

/* One column. Halves: each chain in two, without its middle draw if their number is odd. */
struct column {
    size_t chains, draws; /* of halves */
    size_t n;             /* chains * draws */
    double *values, *other, *folded, *means;
    struct ranked *ranked;
    double *sorted; /* all draws */
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Linear between neighbours. */
static double quantile(const double *sorted, size_t n, double part)
{
    const double at = part * (double)(n - 1), whole = floor(at);
    const size_t i = (size_t)whole;
    return i + 1 < n ? sorted[i] + (at - whole) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static double mean_of(const double *v, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += v[i];
    return sum / (double)n;
}

/* Sum over i of (v[i] - mean) (v[i + lag] - mean), over n. */
static double autocovariance(const double *v, size_t n, double mean, size_t lag)
{
    double sum[4] = {0.0};
    size_t i = 0;
    for (; i + 4 + lag <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += (v[i + k] - mean) * (v[i + k + lag] - mean);
    for (; i + lag < n; i++) sum[0] += (v[i] - mean) * (v[i + lag] - mean);
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) / (double)n;
}

/* Of the chains' means, and the mean variance within chains. */
struct spread {
    double between, within;
};
static struct spread spread_of(const struct column *c, const double *v)
{
    struct spread s = {0.0, 0.0};
    for (size_t k = 0; k < c->chains; k++) {
        c->means[k] = mean_of(v + k * c->draws, c->draws);
        s.within += autocovariance(v + k * c->draws, c->draws, c->means[k], 0);
    }
    s.within *= (double)c->draws / (double)(c->draws - 1) / (double)c->chains;
    const double mean = mean_of(c->means, c->chains);
    for (size_t k = 0; k < c->chains; k++) s.between += (c->means[k] - mean) * (c->means[k] - mean);
    s.between /= (double)(c->chains - 1);
    return s;
}

static double rhat_of(const struct column *c, const double *v)
{
    const struct spread s = spread_of(c, v);
    const double n = (double)c->draws;
    return host_sqrt((n * s.between / s.within + n - 1.0) / n);
}

/* Correlation at a lag, of all chains together. */
static double correlation(const struct column *c, const double *v, struct spread s, size_t lag)
{
    double sum = 0.0;
    for (size_t k = 0; k < c->chains; k++)
        sum += autocovariance(v + k * c->draws, c->draws, c->means[k], lag);
    const double n = (double)c->draws, all = s.within * (n - 1.0) / n + s.between;
    return 1.0 - (s.within - sum / (double)c->chains) / all;
}

/* Sums correlations by pairs of lags, while pairs are positive; each pair counts at most as the one before.
 * Of the first pair that is not, the even lag counts once. */
static double ess_of(const struct column *c, const double *v)
{
    const struct spread s = spread_of(c, v);
    const double n = (double)c->n;
    if (!(s.within + s.between > 0.0)) return n;
    double sum = 0.0, last = INFINITY, even = 1.0, odd = correlation(c, v, s, 1);
    for (size_t lag = 0; even + odd > 0.0 && lag + 4 < c->draws; lag += 2) {
        last = even + odd < last ? even + odd : last;
        sum += last;
        even = correlation(c, v, s, lag + 2);
        odd = correlation(c, v, s, lag + 3);
    }
    const double tau = 2.0 * sum - 1.0 + (even > 0.0 ? even : 0.0), least = LN_10 / host_log(n);
    return n / (tau > least ? tau : least);
}

/* ---- ranks ---- */

struct ranked {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* scores := normal scores of the ranks of v; equal values share their mean rank. Returns the median of v. */
static double score(const struct column *c, const double *v, double *scores)
{
    const size_t n = c->n;
    for (size_t i = 0; i < n; i++) c->ranked[i] = (struct ranked){v[i], i};
    qsort(c->ranked, n, sizeof *c->ranked, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && c->ranked[end].value == c->ranked[i].value;) end++;
        const double rank = 0.5 * (double)(i + 1 + end),
                     z = normal_quantile((rank - 0.375) / ((double)n + 0.25));
        for (size_t k = i; k < end; k++) scores[c->ranked[k].at] = z;
    }
    return 0.5 * (c->ranked[(n - 1) / 2].value + c->ranked[n / 2].value);
}

/* Effective size for the share of values up to `edge`. */
static double ess_below(const struct column *c, double edge)
{
    for (size_t i = 0; i < c->n; i++) c->other[i] = c->values[i] <= edge ? 1.0 : 0.0;
    return ess_of(c, c->other);
}

static void judge_chains(const struct column *c, const double *sorted, size_t n, paritas_posterior *p)
{
    const double median = score(c, c->values, c->other), bulk = rhat_of(c, c->other);
    p->ess_bulk = ess_of(c, c->other);
    for (size_t i = 0; i < c->n; i++) c->folded[i] = fabs(c->values[i] - median);
    score(c, c->folded, c->other);
    const double tail = rhat_of(c, c->other);
    p->rhat = tail > bulk ? tail : bulk;
    const double low = ess_below(c, quantile(sorted, n, TAIL)),
                 high = ess_below(c, quantile(sorted, n, 1.0 - TAIL));
    p->ess_tail = low < high ? low : high;
    p->mcse_mean = p->sd / host_sqrt(ess_of(c, c->values));
}

/* ---- a column ---- */

/* Mean, spread and intervals of n sorted values. */
static void describe(const double *sorted, size_t n, double level, paritas_posterior *p)
{
    const double mean = mean_of(sorted, n);
    const size_t within = (size_t)(level * (double)n);
    *p =
        (paritas_posterior){.size = sizeof *p,
                            .mean = mean,
                            .sd = host_sqrt(autocovariance(sorted, n, mean, 0) * (double)n / (double)(n - 1)),
                            .lower = quantile(sorted, n, 0.5 * (1.0 - level)),
                            .median = quantile(sorted, n, 0.5),
                            .upper = quantile(sorted, n, 0.5 * (1.0 + level)),
                            .rhat = (double)NAN,
                            .ess_bulk = (double)n,
                            .ess_tail = (double)n};
    size_t best = 0;
    for (size_t i = 1; i + within < n; i++)
        if (sorted[i + within] - sorted[i] < sorted[best + within] - sorted[best]) best = i;
    p->hdi[0] = sorted[best];
    p->hdi[1] = sorted[best + within];
}

/* The column's place in `values` is every n-th number. */
static void summarise(const struct column *c, size_t chains, size_t draws, size_t n, const double *values,
                      double level, paritas_posterior *p)
{
    const size_t all = chains * draws;
    for (size_t i = 0; i < all; i++) c->sorted[i] = values[i * n];
    qsort(c->sorted, all, sizeof *c->sorted, ascending);
    describe(c->sorted, all, level, p);
    if (c->sorted[0] == c->sorted[all - 1]) {
        p->mean = c->sorted[0];
        p->sd = 0.0;
        return;
    }
    for (size_t k = 0; k < c->chains; k++) {
        const size_t first = k / 2 * draws + (k % 2 ? draws - c->draws : 0);
        for (size_t i = 0; i < c->draws; i++) c->values[k * c->draws + i] = values[(first + i) * n];
    }
    judge_chains(c, c->sorted, all, p);
}

static paritas_status check_values(paritas_context *context, size_t n, size_t total, const double *values)
{
    for (size_t i = 0; i < total; i++)
        if (!isfinite(values[i]))
            return paritas_refuse(context, "values: draw %zu of column %zu is not finite", i / n, i % n);
    return PARITAS_OK;
}

paritas_status paritas_summarise_draws(paritas_context *context, size_t chains, size_t draws, size_t n,
                                       const double *values, double level, paritas_posterior *posteriors)
{
    REQUIRE(context, values);
    TRY(SIZED_CHECK(context, paritas_posterior, "posteriors", n, posteriors));
    if (chains < 1 || draws < 4)
        return paritas_refuse(context, "a summary needs 1 chain and 4 draws of each; given are %zu and %zu",
                              chains, draws);
    if (!(level > 0.0 && level < 1.0))
        return paritas_refuse(context, "level: %.10g is not between 0 and 1", level);
    TRY(check_values(context, n, chains * draws * n, values));
    struct arena arena;
    arena_open(&arena, &context->allocator);
    struct column c = {.chains = 2 * chains, .draws = draws / 2, .n = 2 * chains * (draws / 2)};
    c.values = arena_array(&arena, c.n, sizeof *c.values);
    c.other = arena_array(&arena, c.n, sizeof *c.other);
    c.folded = arena_array(&arena, c.n, sizeof *c.folded);
    c.ranked = arena_array(&arena, c.n, sizeof *c.ranked);
    c.means = arena_array(&arena, c.chains, sizeof *c.means);
    c.sorted = arena_array(&arena, chains * draws, sizeof *c.sorted);
    const bool ok = c.values && c.other && c.folded && c.ranked && c.means && c.sorted;
    for (size_t k = 0; k < n && ok; k++) summarise(&c, chains, draws, n, values + k, level, &posteriors[k]);
    arena_free(&arena);
    return ok ? PARITAS_OK : paritas_fail_memory(context);
}

/* ---- verdict ---- */

paritas_status paritas_judge_draws(paritas_context *context, size_t n, const paritas_posterior *posteriors,
                                   size_t n_chains, const paritas_chain *chains,
                                   paritas_sample_verdict *verdict)
{
    REQUIRE(context, verdict);
    TRY(SIZED_CHECK(context, paritas_posterior, "posteriors", n, posteriors));
    TRY(SIZED_CHECK(context, paritas_chain, "chains", n_chains, chains));
    TRY(SIZED_CHECK(context, paritas_sample_verdict, "verdict", 1, verdict));
    *verdict = (paritas_sample_verdict){.size = sizeof *verdict, .rhat = 1.0, .ess = INFINITY};
    for (size_t i = 0; i < n; i++) {
        const paritas_posterior *p = &posteriors[i];
        const double ess = p->ess_bulk < p->ess_tail ? p->ess_bulk : p->ess_tail;
        if (!(p->sd > 0.0)) continue;
        if (!(p->rhat <= verdict->rhat)) {
            verdict->rhat = p->rhat;
            verdict->rhat_of = i;
        }
        if (!(ess >= verdict->ess)) {
            verdict->ess = ess;
            verdict->ess_of = i;
        }
    }
    for (size_t c = 0; c < n_chains; c++) {
        verdict->divergent += chains[c].divergent;
        verdict->gradients += chains[c].gradients;
    }
    verdict->converged =
        verdict->rhat <= PARITAS_RHAT_MOST && verdict->ess >= PARITAS_ESS_LEAST && verdict->divergent == 0;
    return PARITAS_OK;
}
