/* losscone_quality.c: does a loss cone describe the sweep? Flags of fits. */
#include "base/math/host_math.h"
#include "moon/losscone/losscone_counted.h"

#include <math.h>
#include <string.h>

/* The plateau of r is 0.008 wide in the median: nearer the bound, the data cannot tell r from it. */
#define RATIO_ROOM 0.01
#define RATIO_ROOM_PART 0.1 /* of the distance between the bounds, at most */
#define PINNED 5.0          /* rooms between the upper bound and the centre, at most */
#define HAIR 1e-6           /* of the distance: f32 rounds bounds */
#define MODEL_ERROR 0.1     /* of the flux: no model of two levels is better */
#define MISFIT_TIMES 2.0
#define SIGNIFICANT 4.0 /* s^2, the step of confidence sets */
/* One standard error of r, in excesses. It takes 0.3 % of the true cones in the solar wind at -300 V, and
 * 77 % of the sweeps with r below its bound that nothing else names. */
#define RATIO_ERRORS 1.0
/* Root mean square of levels, of counts. With the wrong response, five single energies a channel, 0.08 at the
 * edge. With fields off by 10 degrees 0.17, and of all cells for the hard edge 0.1. */
#define EDGE_ERROR 0.12
#define HARD_ERROR 0.05

static unsigned flags_of_bounds(const paritas_losscone_options *o, const paritas_losscone_result *r)
{
    unsigned flags = 0;
    const double span = o->potential_upper - o->potential_lower, hair = HAIR * (1.0 + span),
                 width = o->ratio_upper - o->ratio_lower,
                 room = RATIO_ROOM < RATIO_ROOM_PART * width ? RATIO_ROOM : RATIO_ROOM_PART * width;
    if (span > 0.0 &&
        (r->potential_lower <= o->potential_lower + hair || r->potential_upper >= o->potential_upper - hair))
        flags |= PARITAS_QUALITY_POTENTIAL_AT_BOUND;
    /* a wide plateau reaches the upper bound by nature: where x passes 1 no cell is left to tell r */
    if (width > 0.0 &&
        (r->ratio_lower <= o->ratio_lower + room ||
         (r->ratio_upper >= o->ratio_upper - room && r->ratio_centre >= o->ratio_upper - PINNED * room)))
        flags |= PARITAS_QUALITY_RATIO_AT_BOUND;
    return flags;
}

/* (N ln(other / own) - penalty ln N) / 2; noise-free misfits are 0. */
static double odds(unsigned cells, double other, double own, double penalty)
{
    const double least = 1e-12 * cells;
    return 0.5 * (cells * host_log((other + least) / (own + least)) - penalty * host_log(cells));
}

void losscone_judge(const paritas_losscone_options *options, const double *quality, double scale,
                    paritas_losscone_result *r)
{
    const bool logarithms = options->method != PARITAS_LOSSCONE_METHOD_LILLIS,
               beam = options->response == PARITAS_LOSSCONE_RESPONSE_HARD && options->beam_width > 0.0 &&
                      options->amplitude_upper > options->amplitude_lower;
    const double cells = r->cells, misfit = r->misfit * scale,
                 noise = quality[QUALITY_PAIRS] > 0.0 ? 0.5 * quality[QUALITY_STEPS] / quality[QUALITY_PAIRS]
                                                      : NAN,
                 level =
                     quality[QUALITY_COUNT] > 0.0 ? quality[QUALITY_INSIDE] / quality[QUALITY_COUNT] : NAN,
                 middle =
                     logarithms ? 0.5 * host_log(options->background) : 0.5 * (1.0 + options->background);
    r->noise = host_sqrt(noise);
    r->edge_evidence = odds(r->cells, quality[QUALITY_LEVELS], misfit, 2.0 + beam);
    r->cone_level = logarithms && level == level ? host_exp(level) : level;
    r->flags = flags_of_bounds(options, r);
    if (r->status == PARITAS_SWEEP_AT_LIMIT) r->flags |= PARITAS_QUALITY_AT_LIMIT;
    /* beside a row of energy the beam is all tail, and any amplitude will do */
    if (quality[QUALITY_HALF] - misfit > SIGNIFICANT * misfit / cells)
        r->flags |= PARITAS_QUALITY_AMPLITUDE_AT_BOUND;
    if (r->status == PARITAS_SWEEP_MISFIT ||
        !(misfit <= MISFIT_TIMES * cells * (noise + MODEL_ERROR * MODEL_ERROR)))
        r->flags |= PARITAS_QUALITY_MISFIT;
    if (!(r->edge_evidence > 0.0)) r->flags |= PARITAS_QUALITY_NO_EDGE;
    if (level > middle) r->flags |= PARITAS_QUALITY_FILLED_CONE;
}

static bool is_off(double deviance, double cells, double room, double error)
{
    return deviance - cells > error * error * room;
}

void losscone_counted_judge_hard(double room, paritas_losscone_result *r)
{
    if (is_off(r->deviance, r->cells, room, HARD_ERROR)) r->flags |= PARITAS_QUALITY_SMEARED_EDGE;
}

void losscone_counted_judge(const paritas_losscone_options *options, const double *answer,
                            paritas_losscone_result *r)
{
    const double *judged = answer + FOUND_JUDGED;
    const double cells = r->cells, flat = judged[JUDGED_FLAT],
                 level = judged[JUDGED_SCALE] > 0.0 ? judged[JUDGED_INSIDE] / judged[JUDGED_SCALE] : NAN;
    r->edge_evidence = 0.5 * (flat - r->misfit) / r->excess - host_log(cells);
    r->cone_level = level;
    r->flags = flags_of_bounds(options, r);
    if (options->ratio_upper > options->ratio_lower &&
        answer[FOUND_AT_BOUND] - r->misfit <= RATIO_ERRORS * r->excess)
        r->flags |= PARITAS_QUALITY_RATIO_AT_BOUND;
    if (is_off(judged[JUDGED_EDGE], judged[JUDGED_EDGES], judged[JUDGED_EDGE_ROOM], EDGE_ERROR))
        r->flags |= PARITAS_QUALITY_SMEARED_EDGE;
    if (r->status == PARITAS_SWEEP_AT_LIMIT) r->flags |= PARITAS_QUALITY_AT_LIMIT;
    if (!(r->misfit <= MISFIT_TIMES * (cells + MODEL_ERROR * MODEL_ERROR * judged[JUDGED_ROOM])))
        r->flags |= PARITAS_QUALITY_MISFIT;
    if (!(r->edge_evidence > 0.0)) r->flags |= PARITAS_QUALITY_NO_EDGE;
    if (level > host_sqrt(options->background)) r->flags |= PARITAS_QUALITY_FILLED_CONE;
}

/* Has the sweep reflected cells of more than `most` rows? */
static bool has_more_rows(const paritas_sweeps *sweeps, size_t k, unsigned most)
{
    unsigned rows = 0;
    for (size_t row = k * sweeps->rows; row < (k + 1) * sweeps->rows && rows <= most; row++) {
        const double *cosine = sweeps->cosine + row * sweeps->cells,
                     *flux = sweeps->flux + row * sweeps->cells;
        bool has = false;
        for (size_t j = 0; j < sweeps->cells && !has && losscone_row_is_usable(sweeps, row); j++)
            has = cosine[j] < 0.0 && flux[j] > 0.0 && flux[j] <= LOSSCONE_FLUX_MOST;
        rows += has;
    }
    return rows > most;
}

void losscone_judge_rows(const struct losscone_call *call, paritas_losscone_result *results)
{
    const paritas_losscone_options *o = &call->options;
    const unsigned free = (o->potential_upper > o->potential_lower) + (o->ratio_upper > o->ratio_lower);
    for (size_t k = 0; k < call->sweeps.n; k++)
        if (paritas_losscone_fitted(&results[k]) && !has_more_rows(&call->sweeps, k, free))
            results[k].flags |= PARITAS_QUALITY_FEW_ROWS;
}

unsigned paritas_quality_flags(const paritas_losscone_result *result, const paritas_losscone_result *other)
{
    GIVEN(PARITAS_QUALITY_NO_FIT, result);
    const bool counted = other && result->deviance >= 0.0 && other->deviance >= 0.0,
               both = other && !((result->flags | other->flags) & PARITAS_QUALITY_NO_FIT);
    const double cells = result->cells;
    if (counted && both) {
        const double each = other->deviance / cells, excess = each > 1.0 ? each : 1.0,
                     gain = 0.5 * (result->deviance - other->deviance) / excess;
        return result->flags | (gain > host_log(cells) ? PARITAS_QUALITY_OTHER_MODEL : 0u);
    }
    const bool better = both && other->misfit < result->misfit &&
                        odds(result->cells, result->misfit, other->misfit, 0.0) > host_log(result->cells);
    return result->flags | (better ? PARITAS_QUALITY_OTHER_MODEL : 0u);
}

void paritas_quality_words(unsigned flags, char text[PARITAS_QUALITY_TEXT])
{
    GIVEN(, text);
    const paritas_enumeration *words = paritas_enumeration_find("paritas_quality_flag");
    size_t length = 0;
    for (size_t i = 0; i < words->n; i++) {
        if (!(flags & (unsigned)words->words[i].value)) continue;
        const size_t more = strlen(words->words[i].word);
        if (length + more + 2 > PARITAS_QUALITY_TEXT) break;
        if (length > 0) text[length++] = '+';
        memcpy(text + length, words->words[i].word, more);
        length += more;
    }
    text[length] = '\0';
    if (length == 0) memcpy(text, "good", sizeof "good");
}
