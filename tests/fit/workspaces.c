/* workspaces.c: see workspaces.h. */
#include "fit/workspaces.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_uniform(struct random *random, double low, double high)
{
    return low + (high - low) * ((double)(random_next(random) >> 11) * 0x1p-53);
}

unsigned random_below(struct random *random, unsigned n)
{
    return (unsigned)(random_next(random) >> 33) % n;
}

/* Sum of twelve uniform numbers: no function of the C library, so the same on every machine. */
double random_normal(struct random *random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += random_uniform(random, 0.0, 1.0);
    return sum;
}

static bool chance(struct random *random, double probability)
{
    return random_uniform(random, 0.0, 1.0) < probability;
}

struct writer {
    char *text;
    size_t length, capacity;
    bool failed;
};

static void put(struct writer *w, const char *format, ...)
{
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (w->failed || length < 0 || (size_t)length >= sizeof piece) {
        w->failed = true;
        return;
    }
    if (w->length + (size_t)length + 1 > w->capacity) {
        const size_t capacity = 2 * w->capacity + 4096;
        char *grown = realloc(w->text, capacity);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->text = grown;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, piece, (size_t)length + 1);
    w->length += (size_t)length;
}

static void put_numbers(struct writer *w, const double *values, unsigned n)
{
    put(w, "[");
    for (unsigned i = 0; i < n; i++) put(w, i ? ", %.6g" : "%.6g", values[i]);
    put(w, "]");
}

enum { MAX_BINS = 24, MAX_CHANNELS = 4, MAX_ALPHAS = 7 };

struct draw {
    struct random random;
    struct writer out;
    unsigned traits;
    unsigned n_alphas, kinds[MAX_ALPHAS]; /* of each alpha: 1 normsys, 2 histosys, 3 both */
    unsigned serial;                      /* of shapesys names */
    unsigned n_codes;                     /* written so far */
    bool lumi, shape;                     /* was one written? */
    bool mcstat;                          /* has the channel one? */
};

static void put_shapesys(struct draw *d, const double *data, unsigned bins)
{
    double uncertainty[MAX_BINS];
    for (unsigned b = 0; b < bins; b++) uncertainty[b] = data[b] * random_uniform(&d->random, 0.02, 0.25);
    if ((d->traits & TRAIT_DEAD) && chance(&d->random, 0.3))
        uncertainty[random_below(&d->random, bins)] = 0.0;
    put(&d->out, ", {\"name\": \"gamma_%u\", \"type\": \"shapesys\", \"data\": ", d->serial++);
    put_numbers(&d->out, uncertainty, bins);
    put(&d->out, "}");
}

/* Not of all samples; with dead bins none in the last one. */
static void put_mcstat(struct draw *d, unsigned channel, unsigned sample, const double *data, unsigned bins)
{
    double errors[MAX_BINS];
    if (!d->mcstat || (sample != 1 && chance(&d->random, 0.2))) return;
    for (unsigned b = 0; b < bins; b++)
        errors[b] = 0.3 * sqrt(data[b]) * random_uniform(&d->random, 0.1, 1.0) + 0.05;
    if (d->traits & TRAIT_DEAD) {
        errors[bins - 1] = 0.0;
        if (sample > 0) errors[random_below(&d->random, bins)] = 0.0;
    }
    put(&d->out, ", {\"name\": \"prop_%u\", \"type\": \"mcstat\", \"data\": ", channel);
    put_numbers(&d->out, errors, bins);
    put(&d->out, "}");
}

/* A code of its own for every normsys or histosys but each `n + 1`-th. Not drawn: other traits stay as they
 * are. */
static void put_code(struct draw *d, const char *const *codes, unsigned n)
{
    const unsigned k = d->n_codes++ % (n + 1);
    if ((d->traits & TRAIT_CODES) && k < n) put(&d->out, "\"interpcode\": \"%s\", ", codes[k]);
}

/* What datacards have: codes, scales of histosys, clipped shapes, of some samples in logarithms. */
static void put_card_code(struct draw *d, bool factor)
{
    static const double scales[] = {0.5, 1.0, 2.0};
    if (!(d->traits & TRAIT_CARDS)) return;
    if (factor)
        put(&d->out, "\"interpcode\": \"lnN\", ");
    else
        put(&d->out, "\"interpcode\": \"code4p\", \"scale\": %g, ", scales[d->n_codes % 3]);
}
static void put_card_shape(struct draw *d, unsigned sample, const double *data, unsigned bins)
{
    double sum = 0.0, least = data[0];
    for (unsigned b = 0; b < bins; b++) {
        sum += data[b];
        if (data[b] < least) least = data[b];
    }
    const bool logarithmic = sample == 2 || (sample == 1 && d->n_codes % 2 == 0);
    if (!(d->traits & TRAIT_CARDS)) return;
    put(&d->out, ", \"shape\": {\"minimum\": %.4g", (logarithmic ? 1.08 : 0.98) * least + 1e-9);
    if (logarithmic)
        put(&d->out, ", \"logarithmic\": true");
    else if (sample % 3 == 0 && !d->mcstat)
        put(&d->out, ", \"total\": %.4g, \"padding\": %.4g", 1.1 * sum + 1e-3, 0.05 * sum);
    if (sample == 2 && sum > 0.0) put(&d->out, ", \"total\": %.4g", 1.1 * sum);
    put(&d->out, "}");
}

/* One normsys; the draws come one after the other, since a call may evaluate its arguments in any order. */
static void put_normsys(struct draw *d, unsigned alpha, double hi_from, double hi_to, double lo_from,
                        double lo_to)
{
    const double hi = random_uniform(&d->random, hi_from, hi_to);
    const double lo = random_uniform(&d->random, lo_from, lo_to);
    static const char *const codes[] = {"code0", "code1", "code2c", "code4", "code6", "lnN"};
    put(&d->out, "{\"name\": \"alpha_%u\", \"type\": \"normsys\", \"data\": {", alpha);
    put_code(d, codes, 6);
    put_card_code(d, true);
    put(&d->out, "\"hi\": %.4f, \"lo\": %.4f}}", hi, lo);
}

/* The modifiers of one sample; every list begins with a normsys, so that commas are simple. */
static void put_modifiers(struct draw *d, unsigned channel, unsigned sample, const double *data,
                          unsigned bins, bool staterror, bool free_sample)
{
    struct random *r = &d->random;
    double values[MAX_BINS];
    put_normsys(d, 0, 0.85, 1.3, 0.75, 1.1);
    if (sample == 0)
        put(&d->out, ", {\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}");
    else if (free_sample)
        put(&d->out, ", {\"name\": \"norm_%u\", \"type\": \"normfactor\", \"data\": null}", sample);
    for (unsigned a = 1; a < d->n_alphas; a++) {
        if (!chance(r, 0.55)) continue;
        if (d->kinds[a] & 1) {
            put(&d->out, ", ");
            put_normsys(d, a, 0.8, 1.3, 0.75, 1.2);
        }
        if (d->kinds[a] & 2) {
            const double spread = chance(r, 0.2) ? 0.0 : 0.15;
            static const char *const codes[] = {"code0",  "code1", "code2", "code2c",
                                                "code4p", "code5", "code6"}; /* mcstat: 2, 2c, 4p */
            put(&d->out, ", {\"name\": \"alpha_%u\", \"type\": \"histosys\", \"data\": {", a);
            put_code(d, d->mcstat ? codes + 2 : codes, d->mcstat ? 3 : 7);
            put_card_code(d, false);
            put(&d->out, "\"hi_data\": ");
            for (unsigned b = 0; b < bins; b++)
                values[b] = data[b] * (1.0 + random_uniform(r, -spread, spread));
            put_numbers(&d->out, values, bins);
            put(&d->out, ", \"lo_data\": ");
            for (unsigned b = 0; b < bins; b++)
                values[b] = data[b] * (1.0 + random_uniform(r, -spread, spread));
            put_numbers(&d->out, values, bins);
            put(&d->out, "}}");
        }
    }
    if ((d->traits & TRAIT_LUMI) && chance(r, 0.7)) {
        put(&d->out, ", {\"name\": \"lumi\", \"type\": \"lumi\", \"data\": null}");
        d->lumi = true;
    }
    if (staterror) {
        for (unsigned b = 0; b < bins; b++) values[b] = data[b] * random_uniform(r, 0.02, 0.2);
        put(&d->out, ", {\"name\": \"stat_%u\", \"type\": \"staterror\", \"data\": ", channel);
        put_numbers(&d->out, values, bins);
        put(&d->out, "}");
    }
    put_mcstat(d, channel, sample, data, bins);
    if (chance(r, 0.25)) put_shapesys(d, data, bins);
    if (d->traits & TRAIT_SETS) {
        if (chance(r, 0.5)) put_shapesys(d, data, bins);
        if (chance(r, 0.3)) put_shapesys(d, data, bins);
    }
}

/* Every law, for every kind of parameter. Names that the model lacks are left out when it is read. */
static void put_laws(struct draw *d, unsigned shape_bins)
{
    static const char *const of_alpha[] = {
        "\"constraint\": {\"type\": \"poisson\", \"offset\": 1, \"slope\": 0.3}, \"auxdata\": [9], "
        "\"factors\": [11]",
        "\"constraint\": {\"type\": \"lognormal\", \"offset\": 1, \"slope\": 0.2}, \"auxdata\": [0.1], "
        "\"sigmas\": [0.25]",
        "\"constraint\": {\"type\": \"gaussian\"}, \"auxdata\": [0.5], \"sigmas\": [2]",
        "\"constraint\": {\"type\": \"none\"}, \"inits\": [0.2]",
        "\"constraint\": {\"type\": \"bifurcated\", \"ratio\": 0.6, \"slope\": 1.5}, \"auxdata\": [0.25], "
        "\"sigmas\": [1.2]"};
    const char *separator = d->lumi ? ", " : "";
    for (unsigned a = 0; a < d->n_alphas; a++, separator = ", ")
        put(&d->out, "%s{\"name\": \"alpha_%u\", %s}", separator, a, of_alpha[a % 5]);
    for (unsigned k = 0; k < d->serial; k += 2)
        put(&d->out, ", {\"name\": \"gamma_%u\", \"constraint\": {\"type\": \"gaussian\"}}", k);
    for (unsigned c = 0; c < MAX_CHANNELS; c += 2)
        put(&d->out, ", {\"name\": \"stat_%u\", \"constraint\": {\"type\": \"poisson\"}}", c);
    put(&d->out, ", {\"name\": \"norm_2\", \"constraint\": {\"type\": \"poisson\"}, \"auxdata\": [40], "
                 "\"factors\": [42]}");
    const double widths[MAX_BINS] = {0.1, 0.2, 0.3, 0.15, 0.25}, zeros[MAX_BINS] = {0.0};
    double sigmas[MAX_BINS];
    for (unsigned b = 0; b < shape_bins; b++) sigmas[b] = widths[b % 5];
    put(&d->out, ", {\"name\": \"shape\", \"constraint\": {\"type\": \"lognormal\"}, \"auxdata\": ");
    put_numbers(&d->out, zeros, shape_bins);
    put(&d->out, ", \"sigmas\": ");
    put_numbers(&d->out, sigmas, shape_bins);
    put(&d->out, "}");
}

char *random_workspace(uint64_t seed, unsigned traits)
{
    struct draw d = {.random = {seed * 977 + 5}, .traits = traits & (TRAIT_CODES | TRAIT_CARDS)};
    struct random *r = &d.random;
    for (unsigned bit = 1; bit < TRAIT_ALL; bit *= 2)
        if ((traits & bit) && (bit == TRAIT_NO_POI ? chance(r, 0.1) : chance(r, 0.5))) d.traits |= bit;
    d.n_alphas = 1 + random_below(r, MAX_ALPHAS);
    for (unsigned a = 0; a < d.n_alphas; a++) d.kinds[a] = 1 + random_below(r, 3);
    const unsigned channels = 1 + random_below(r, MAX_CHANNELS);
    double observed[MAX_CHANNELS][MAX_BINS];
    unsigned bins[MAX_CHANNELS];
    const bool free_norm = chance(r, 0.3) && channels > 1;
    put(&d.out, "{\"channels\": [");
    for (unsigned c = 0; c < channels; c++) {
        static const unsigned narrow[] = {1, 2, 3, 5, 8}, wide[] = {7, 9, 16, 17, 24};
        bins[c] = (d.traits & TRAIT_WIDE) ? wide[random_below(r, 5)] : narrow[random_below(r, 5)];
        const unsigned samples = 2 + random_below(r, 3);
        const bool staterror = chance(r, 0.6);
        d.mcstat = (traits & TRAIT_MCSTAT) && chance(r, 0.7);
        const double scale = chance(r, 0.3) ? 3.0 : chance(r, 0.3) ? 2000.0 : 60.0;
        for (unsigned b = 0; b < bins[c]; b++) observed[c][b] = 0.0;
        put(&d.out, "%s{\"name\": \"channel_%u\", \"samples\": [", c ? ", " : "", (c * 5 + 3) % 7);
        for (unsigned s = 0; s < samples; s++) {
            double data[MAX_BINS];
            for (unsigned b = 0; b < bins[c]; b++)
                data[b] = scale * random_uniform(r, 0.2, 1.0) * (s == 0 ? 0.3 : 1.0);
            if ((d.traits & TRAIT_DEAD) && s != 1 && chance(r, 0.5)) data[random_below(r, bins[c])] = 0.0;
            for (unsigned b = 0; b < bins[c]; b++) observed[c][b] += data[b];
            put(&d.out, "%s{\"name\": \"sample_%u\", \"data\": ", s ? ", " : "", (s * 3 + 1) % 5);
            put_numbers(&d.out, data, bins[c]);
            put_card_shape(&d, s, data, bins[c]);
            put(&d.out, ", \"modifiers\": [");
            put_modifiers(&d, c, s, data, bins[c], staterror && (s != 1 || chance(r, 0.5)),
                          s == 2 && free_norm);
            /* a free shape on the one sample that nothing else scales freely; in two channels it is one
             * set */
            if ((d.traits & TRAIT_FREE_SHAPE) && s == 1 && c < 2)
                put(&d.out, ", {\"name\": \"shape%s\", \"type\": \"shapefactor\", \"data\": null}",
                    bins[c] == bins[0] && (c == 0 || !(traits & TRAIT_MCSTAT)) ? "" : "_1");
            put(&d.out, "]}");
        }
        put(&d.out, "]}");
    }
    put(&d.out, "], \"observations\": [");
    for (unsigned c = 0; c < channels; c++) {
        for (unsigned b = 0; b < bins[c]; b++) {
            const double n = observed[c][b] + sqrt(observed[c][b]) * random_normal(r);
            observed[c][b] =
                n > 0.0 ? ((d.traits & TRAIT_ZEROS) && chance(r, 0.3) ? n : floor(n + 0.5)) : 0.0;
            /* a zero where thousands are expected would be no analysis */
            const bool zero = (d.traits & TRAIT_ZEROS) && chance(r, 0.1);
            if (zero && observed[c][b] < 15.0) observed[c][b] = 0.0;
        }
        put(&d.out, "%s{\"name\": \"channel_%u\", \"data\": ", c ? ", " : "", (c * 5 + 3) % 7);
        put_numbers(&d.out, observed[c], bins[c]);
        put(&d.out, "}");
    }
    put(&d.out, "], \"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"%s\", \"parameters\": [",
        (d.traits & TRAIT_NO_POI) ? "" : "mu");
    if (d.lumi)
        put(&d.out, "{\"name\": \"lumi\", \"auxdata\": [1.0], \"bounds\": [[0.5, 1.5]], \"inits\": [1.0], "
                    "\"sigmas\": [0.03]}");
    if (traits & TRAIT_LAWS) put_laws(&d, bins[0]);
    put(&d.out, "]}}], \"version\": \"1.0.0\"}");
    if (!d.out.failed) return d.out.text;
    free(d.out.text);
    return NULL;
}

char *costly_workspace(uint64_t seed)
{
    enum { ALPHAS = 130, SAMPLES = 3 };
    static const double scales[SAMPLES] = {5.0, 60.0, 400.0};
    struct draw d = {.random = {seed * 977 + 5}};
    struct random *r = &d.random;
    double data[MAX_BINS], observed[MAX_BINS] = {0};
    put(&d.out, "{\"channels\": [{\"name\": \"A\", \"samples\": [");
    for (unsigned s = 0; s < SAMPLES; s++) {
        for (unsigned b = 0; b < MAX_BINS; b++) {
            data[b] = scales[s] * random_uniform(r, 0.2, 1.0);
            observed[b] += data[b];
        }
        put(&d.out, "%s{\"name\": \"sample_%u\", \"data\": ", s ? ", " : "", s);
        put_numbers(&d.out, data, MAX_BINS);
        put(&d.out, ", \"modifiers\": [");
        for (unsigned a = 0; a < ALPHAS; a++) {
            if (a > 0) put(&d.out, ", ");
            put_normsys(&d, a, 0.9, 1.2, 0.8, 1.1);
        }
        if (s == 0) put(&d.out, ", {\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}");
        if (s == 1) put_shapesys(&d, data, MAX_BINS);
        put(&d.out, "]}");
    }
    for (unsigned b = 0; b < MAX_BINS; b++)
        observed[b] = floor(observed[b] + 2.0 * sqrt(observed[b]) * random_normal(r) + 0.5);
    put(&d.out, "]}], \"observations\": [{\"name\": \"A\", \"data\": ");
    put_numbers(&d.out, observed, MAX_BINS);
    put(&d.out, "}], \"version\": \"1.0.0\", \"measurements\": [{\"name\": \"m\", \"config\": "
                "{\"poi\": \"mu\", \"parameters\": []}}]}");
    if (!d.out.failed) return d.out.text;
    free(d.out.text);
    return NULL;
}

/* ---- nasty ---- */

/* exp(x), |x| at most about 3, by its series: no function of the C library. */
static double random_factor(struct random *random, double spread)
{
    const double x = spread * random_normal(random) / 64.0;
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 12; k++) sum += term *= x / k;
    for (int k = 0; k < 6; k++) sum *= sum;
    return sum;
}

static void put_nasty_normsys(struct draw *d, unsigned alpha, bool kinks)
{
    struct random *r = &d->random;
    const double hi = random_factor(r, 0.35), lo = chance(r, 0.3) ? random_factor(r, 0.35) : 1.0 / hi;
    static const char *const codes[] = {"code0", "code1", "code4"};
    put(&d->out, ", {\"name\": \"np_%u\", \"type\": \"normsys\", \"data\": {", alpha);
    if (kinks) put(&d->out, "\"interpcode\": \"%s\", ", codes[random_below(r, 3)]);
    put(&d->out, "\"hi\": %.4f, \"lo\": %.4f}}", hi, lo);
}

static void put_nasty_histosys(struct draw *d, unsigned alpha, const double *data, unsigned bins, bool kinks)
{
    struct random *r = &d->random;
    double values[MAX_BINS];
    put(&d->out, ", {\"name\": \"hs_%u\", \"type\": \"histosys\", \"data\": {", alpha);
    if (kinks) put(&d->out, "\"interpcode\": \"%s\", ", chance(r, 0.5) ? "code0" : "code2");
    for (int side = 0; side < 2; side++) {
        for (unsigned b = 0; b < bins; b++) values[b] = data[b] * random_factor(r, 0.7);
        put(&d->out, side ? ", \"lo_data\": " : "\"hi_data\": ");
        put_numbers(&d->out, values, bins);
    }
    put(&d->out, "}}");
}

/* Of one sample: a normsys of its own comes first, so that commas are simple. */
static void put_nasty_modifiers(struct draw *d, unsigned channel, unsigned sample, const double *data,
                                unsigned bins, bool staterror, bool kinks)
{
    struct random *r = &d->random;
    double values[MAX_BINS];
    put(&d->out, "{\"name\": \"own_%u\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}",
        sample);
    if (sample == 0) put(&d->out, ", {\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}");
    if (sample == 2 && d->lumi)
        put(&d->out, ", {\"name\": \"norm\", \"type\": \"normfactor\", \"data\": null}");
    for (unsigned a = 0; a < d->n_alphas; a++) {
        if (!chance(r, 0.6)) continue;
        if (d->kinds[a] & 1) put_nasty_normsys(d, a, kinks);
        if (d->kinds[a] & 2) put_nasty_histosys(d, a, data, bins, kinks);
    }
    for (unsigned b = 0; b < bins; b++) values[b] = data[b] * random_uniform(r, 0.05, 0.4);
    if (staterror || (sample == 1 && chance(r, 0.4))) {
        if (staterror)
            put(&d->out, ", {\"name\": \"stat_%u\", \"type\": \"staterror\", \"data\": ", channel);
        else
            put(&d->out, ", {\"name\": \"shape_%u\", \"type\": \"shapesys\", \"data\": ", channel);
        put_numbers(&d->out, values, bins);
        put(&d->out, "}");
    }
    if (sample == 2 && chance(r, 0.1))
        put(&d->out, ", {\"name\": \"free_%u\", \"type\": \"shapefactor\", \"data\": null}", channel);
}

static unsigned put_nasty_channel(struct draw *d, unsigned channel, double *observed)
{
    struct random *r = &d->random;
    const unsigned bins = 1 + random_below(r, 5), samples = 2 + random_below(r, 2);
    const bool staterror = chance(r, 0.4), kinks = (d->traits & TRAIT_CODES) && chance(r, 0.5);
    double data[MAX_BINS];
    for (unsigned b = 0; b < bins; b++) observed[b] = 0.0;
    put(&d->out, "%s{\"name\": \"channel_%u\", \"samples\": [", channel ? ", " : "", channel);
    for (unsigned s = 0; s < samples; s++) {
        const double scale = 3.0 * random_factor(r, 0.8) * (s == 0 ? 0.5 : 1.0);
        for (unsigned b = 0; b < bins; b++) {
            data[b] = chance(r, 0.07) ? 0.0 : scale * random_factor(r, 0.5);
            observed[b] += s == 0 && chance(r, 0.5) ? 0.0 : data[b];
        }
        put(&d->out, "%s{\"name\": \"sample_%u\", \"data\": ", s ? ", " : "", s);
        put_numbers(&d->out, data, bins);
        put(&d->out, ", \"modifiers\": [");
        put_nasty_modifiers(d, channel, s, data, bins, staterror, kinks);
        put(&d->out, "]}");
    }
    put(&d->out, "]}");
    for (unsigned b = 0; b < bins; b++) {
        const double mean = observed[b] * random_factor(r, 0.3), n = mean + sqrt(mean) * random_normal(r);
        observed[b] = n > 0.0 && !chance(r, 0.15) ? floor(n + 0.5) : 0.0;
    }
    return bins;
}

char *nasty_workspace(uint64_t seed)
{
    static const double lower[] = {0.0, -5.0, -10.0};
    struct draw d = {.random = {seed * 977 + 5}};
    struct random *r = &d.random;
    double observed[MAX_CHANNELS][MAX_BINS];
    unsigned bins[MAX_CHANNELS];
    const unsigned channels = 1 + random_below(r, 3);
    d.n_alphas = 1 + random_below(r, 5);
    for (unsigned a = 0; a < d.n_alphas; a++) d.kinds[a] = 1 + random_below(r, 3);
    d.lumi = chance(r, 0.3); /* here: a free factor */
    if (chance(r, 0.15)) d.traits = TRAIT_CODES;
    put(&d.out, "{\"channels\": [");
    for (unsigned c = 0; c < channels; c++) bins[c] = put_nasty_channel(&d, c, observed[c]);
    put(&d.out, "], \"observations\": [");
    for (unsigned c = 0; c < channels; c++) {
        put(&d.out, "%s{\"name\": \"channel_%u\", \"data\": ", c ? ", " : "", c);
        put_numbers(&d.out, observed[c], bins[c]);
        put(&d.out, "}");
    }
    put(&d.out, "], \"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": [");
    put(&d.out, "{\"name\": \"mu\", \"bounds\": [[%g, 10]], \"inits\": [1]}", lower[random_below(r, 3)]);
    put(&d.out, "]}}], \"version\": \"1.0.0\"}");
    if (!d.out.failed) return d.out.text;
    free(d.out.text);
    return NULL;
}

char *tiny_workspace(double scale)
{
    char *text = calloc(8192, 1);
    if (!text) return NULL;
    snprintf(
        text, 8192,
        "{\"channels\": [{\"name\": \"A\", \"samples\": ["
        "{\"name\": \"signal\", \"data\": [%g, %g, %g], \"modifiers\": ["
        "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"k\", \"type\": "
        "\"normfactor\", \"data\": null}, "
        "{\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": 1.5, \"lo\": 0.02}}, "
        "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [%g, %g, %g], \"lo_data\": [%g, "
        "%g, %g]}}, "
        "{\"name\": \"stat_s\", \"type\": \"shapesys\", \"data\": [%g, %g, %g]}]}, "
        "{\"name\": \"top\", \"data\": [30.0, 4.0, 0.5], \"modifiers\": ["
        "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [31.0, 4.0, 0.5], \"lo_data\": "
        "[29.5, 4.0, 0.5]}}, "
        "{\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": 0.5, \"lo\": 1.7}}, "
        "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [1.5, 0.4, 0.2]}]}]}, "
        "{\"name\": \"B\", \"samples\": [{\"name\": \"signal\", \"data\": [%g, %g], \"modifiers\": ["
        "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, "
        "{\"name\": \"free\", \"type\": \"shapefactor\", \"data\": null}, "
        "{\"name\": \"jes\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}]}]}], "
        "\"observations\": [{\"name\": \"A\", \"data\": [33, 0, 1]}, {\"name\": \"B\", \"data\": [%g, 0]}], "
        "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": []}}], "
        "\"version\": \"1.0.0\"}",
        scale, 2 * scale, 0.5 * scale, 1.1 * scale, 2.2 * scale, 0.4 * scale, 0.95 * scale, 1.8 * scale,
        0.6 * scale, 0.3 * scale, 0.2 * scale, 0.1 * scale, 3 * scale, 7 * scale, 2 * scale);
    return text;
}

#define SHARED PARITAS_SOURCE_DIR "/../shared/workspaces/"
#define SBOTTOM PARITAS_SOURCE_DIR "/examples/sbottom_A/"

const struct published published[] = {
    {"two_bins", PARITAS_SOURCE_DIR "/examples/two_bins.json", NULL, false},
    {"sbottom_A", SBOTTOM "BkgOnly.json", NULL, false},
    {"sbottom_A 1000_131_1", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1000_131_1.json", false},
    {"sbottom_A 1000_205_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1000_205_60.json", false},
    {"sbottom_A 1000_250_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1000_250_60.json", false},
    {"sbottom_A 1100_550_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1100_550_60.json", false},
    {"sbottom_A 1200_650_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1200_650_60.json", false},
    {"sbottom_A 1300_205_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1300_205_60.json", false},
    {"sbottom_A 1400_950_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1400_950_60.json", false},
    {"sbottom_A 1500_850_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_1500_850_60.json", false},
    {"sbottom_A 800_205_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_800_205_60.json", false},
    {"sbottom_A 900_250_60", SBOTTOM "BkgOnly.json", SBOTTOM "patch.sbottom_900_250_60.json", false},
    {"displaced_leptons", SHARED "displaced_leptons_signal.json", NULL, false},
    {"staus", SHARED "SUSY-2018-04_staus.json", NULL, true},
    {"ttZ_4l", SHARED "ttZ_4l.json", NULL, true},
    {"tHu_FCNC", SHARED "tHu_FCNC.json", NULL, true},
};
const size_t n_published = sizeof published / sizeof *published;
