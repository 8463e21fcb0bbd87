/* nuts.h: chains of the No-U-Turn sampler, any number of steps at a time.
 *
 * Trajectories double until they turn back (Hoffman, Gelman, JMLR 15 (2014) 1593), draws are multinomial
 * (Betancourt, arXiv:1701.02434), and doublings are iterative: O(depth) momenta stand for the tree (Phan,
 * Pradhan, Jankowiak, arXiv:1912.11554, appendix). The mass is 1 in z (sample_space.h).
 *
 * A turn is one step of each lane's chain, a gradient each. Lanes do not wait for one another:
 *
 *   transition begins? ─► doubling begins? ─► step ─► density ─► judge: turned, diverged, doubled?
 *                      ─► transition ends? its row, the next step size
 *
 * A chain's state lies in the slab, so a launch may end after any turn. Random numbers are keyed by (seed,
 * chain, transition, what for) alone. */
#pragma once

#include "numeric/rng.h"
#include "sample/sample_space.h"

#if F64

/* Streams; toys have lower ones. */
#define NUTS_MOMENTA 32
#define NUTS_LEAVES 33
#define NUTS_TREES 34
#define NUTS_STARTS 35

#define NUTS_DIVERGED R(1000.0) /* energy error */
#define NUTS_NO_WEIGHT R(-1e30)
#define NUTS_NEARER PK(0.5) /* a start outside the domain moves towards the mode */
/* Dual averaging: gamma, t0, kappa, and mu as ln(10 first step) (Hoffman, Gelman, 3.2) */
#define NUTS_GAMMA R(0.05)
#define NUTS_DELAY R(10.0)
#define NUTS_FORGETS R(-0.75)
#define NUTS_LN_10 R(2.302585092994046)

#define NUTS_MEMBER(name) real name;
typedef struct {
    SAMPLE_STATE_SCALARS(NUTS_MEMBER)
} nuts_chain;
#define NUTS_SCALAR(name) (MODEL_MEMORY)[SAMPLE_STATE_AT(MODEL_SLOTS, STATE_##name)]

FN nuts_chain nuts_read(MODEL_PARAMETERS)
{
    nuts_chain chain;
#define NUTS_READ(name) chain.name = NUTS_SCALAR(name);
    SAMPLE_STATE_SCALARS(NUTS_READ)
#undef NUTS_READ
    return chain;
}
FN void nuts_write(MODEL_PARAMETERS, PRIVATE const nuts_chain *chain)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
#define NUTS_WRITE(name) NUTS_SCALAR(name) = chain->name;
        SAMPLE_STATE_SCALARS(NUTS_WRITE)
#undef NUTS_WRITE
    }
    TEAM_BARRIER();
}

FN real nuts_exp(real x)
{
    return FIRST(m_exp(PACK_OF(x)));
}
FN real nuts_log(real x)
{
    return FIRST(m_log(PACK_OF(x)));
}
/* ln(e^a + e^b) */
FN real nuts_log_add(real a, real b)
{
    const mask more = a > b;
    const real high = SELECT(more, a, b), low = SELECT(more, b, a);
    return high + FIRST(m_log1p(m_exp(PACK_OF(low - high))));
}

/* to := from in `lanes`. */
FN void nuts_take(MODEL_PARAMETERS, GLOBAL real *to, GLOBAL const real *from, u32 n, mask lanes)
{
    const pmask own = fit_packs(lanes);
    TEAM_FOR_PACK(i, n) STOREP(to, i, PSELECT(own, LOADP(from, i), LOADP(to, i)));
}
FN void nuts_copy(MODEL_PARAMETERS, u32 to, u32 from, u32 n, mask lanes)
{
    nuts_take(MODEL, SAMPLE_VECTOR(to), SAMPLE_VECTOR(from), n, lanes);
}

FN rng_stream nuts_stream(PRIVATE const sample_call *c, PRIVATE const nuts_chain *chain, u32 purpose)
{
    rng_stream stream;
    stream.toy = PLINT_OF(LINT_OF(chain->chain) | (LINT_OF(chain->transition) << 32));
    stream.item = PLI(0);
    stream.purpose = purpose;
    stream.key0 = c->key0;
    stream.key1 = c->key1;
    return stream;
}

/* Unit normal numbers into vector `to` of `lanes`. */
FN_LARGE void nuts_draw_normal(MODEL_PARAMETERS, PRIVATE const sample_call *c,
                               PRIVATE const nuts_chain *chain, u32 purpose, u32 to, mask lanes)
{
    const pmask own = fit_packs(lanes);
    rng_stream stream = nuts_stream(c, chain, purpose);
    TEAM_FOR_PACK(i, c->row) {
        stream.item = LOADI(c->slots, i);
        STOREP(SAMPLE_VECTOR(to), i, PSELECT(own, rng_normal(stream), LOADP(SAMPLE_VECTOR(to), i)));
    }
    TEAM_BARRIER();
    TEAM_FOR(i, c->row)
        if (i >= c->free) (SAMPLE_VECTOR(to))[i] = R(0.0);
    TEAM_BARRIER();
}

/* ---- beginnings ---- */

FN_LARGE void nuts_begin_transition(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE nuts_chain *chain,
                                    mask lanes)
{
    const u32 n = c->row;
    const real zero = R(0.0), one = R(1.0);
    nuts_draw_normal(MODEL, c, chain, NUTS_MOMENTA, STATE_LEFT_P, lanes);
    nuts_copy(MODEL, STATE_LEFT_Z, STATE_DRAW_Z, n, lanes);
    nuts_copy(MODEL, STATE_LEFT_G, STATE_DRAW_G, n, lanes);
    nuts_copy(MODEL, STATE_RIGHT_Z, STATE_DRAW_Z, n, lanes);
    nuts_copy(MODEL, STATE_RIGHT_G, STATE_DRAW_G, n, lanes);
    nuts_copy(MODEL, STATE_RIGHT_P, STATE_LEFT_P, n, lanes);
    nuts_copy(MODEL, STATE_SUM, STATE_LEFT_P, n, lanes);
    const real kinetic = R(0.5) * fit_dot(MODEL, SAMPLE_VECTOR(STATE_LEFT_P), SAMPLE_VECTOR(STATE_LEFT_P));
    chain->energy = SELECT(lanes, chain->potential + kinetic, chain->energy);
    chain->depth = SELECT(lanes, zero, chain->depth);
    chain->size = SELECT(lanes, one, chain->size);
    chain->weight = SELECT(lanes, zero, chain->weight);
    chain->acceptance = SELECT(lanes, zero, chain->acceptance);
    chain->steps = SELECT(lanes, zero, chain->steps);
    chain->begins = SELECT(lanes, zero, chain->begins);
    chain->grows = SELECT(lanes, one, chain->grows);
}

/* The doubling's numbers: which way, and whether its draw is taken. */
typedef struct {
    real way, taken;
} nuts_choice;
FN_LARGE nuts_choice nuts_choose(PRIVATE const sample_call *c, PRIVATE const nuts_chain *chain)
{
    rng_stream stream = nuts_stream(c, chain, NUTS_TREES);
    stream.item = PLINT_OF(LINT_OF(chain->depth));
    const rng_block block = rng_draw(stream, 0);
    nuts_choice choice;
    choice.way = FIRST(rng_uniform(block.word[0], block.word[1]));
    choice.taken = FIRST(rng_uniform(block.word[2], block.word[3]));
    return choice;
}

FN_LARGE void nuts_begin_doubling(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE nuts_chain *chain,
                                  mask lanes)
{
    const real zero = R(0.0), sign = SELECT(nuts_choose(c, chain).way < R(0.5), R(-1.0), R(1.0));
    const pmask own = fit_packs(lanes), forward = fit_packs(sign > zero);
    chain->way = SELECT(lanes, sign, chain->way);
    for (u32 k = 0; k < 3; k++)
        TEAM_FOR_PACK(i, c->row) {
            const pack end = PSELECT(forward, LOADP(SAMPLE_VECTOR(STATE_RIGHT_Z + k), i),
                                     LOADP(SAMPLE_VECTOR(STATE_LEFT_Z + k), i));
            STOREP(SAMPLE_VECTOR(STATE_Z + k), i, PSELECT(own, end, LOADP(SAMPLE_VECTOR(STATE_Z + k), i)));
        }
    TEAM_FOR_PACK(i, c->row)
        STOREP(SAMPLE_VECTOR(STATE_SUB_SUM), i,
               PSELECT(own, PK(0.0), LOADP(SAMPLE_VECTOR(STATE_SUB_SUM), i)));
    chain->leaf = SELECT(lanes, zero, chain->leaf);
    chain->sub_weight = SELECT(lanes, NUTS_NO_WEIGHT, chain->sub_weight);
    chain->grows = SELECT(lanes, zero, chain->grows);
    TEAM_BARRIER();
}

/* ---- a step ---- */

/* What a step met. */
typedef struct {
    mask running, fresh, finite;
    mask diverged, turned, whole, ends; /* whole: the doubling has all its points */
    real potential, nll;
} nuts_step;

/* Leapfrog; `fresh` lanes stay where they are. */
FN void nuts_move(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE const nuts_chain *chain,
                  PRIVATE nuts_step *step)
{
    const real zero = R(0.0), length = SELECT(step->running, chain->way * nuts_exp(chain->log_step), zero);
    const pack whole = PACK_OF(length), one_half = PACK_OF(R(0.5) * length);
    const pmask moves = fit_packs(step->running);
    TEAM_FOR_PACK(i, c->row) {
        const pack z = LOADP(SAMPLE_VECTOR(STATE_Z), i),
                   p = PFMA(-one_half, LOADP(SAMPLE_VECTOR(STATE_G), i), LOADP(SAMPLE_VECTOR(STATE_P), i));
        STOREP(SAMPLE_VECTOR(STATE_P), i, p);
        STOREP(SAMPLE_VECTOR(STATE_Z), i, PSELECT(moves, PFMA(whole, p, z), z));
    }
    TEAM_BARRIER();
    step->potential = sample_density(MODEL, c, &step->nll);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, c->row) {
        const pack g = LOADP(SAMPLE_OWN(WORK_GRADIENT), i),
                   p = PFMA(-one_half, g, LOADP(SAMPLE_VECTOR(STATE_P), i)),
                   sum = LOADP(SAMPLE_VECTOR(STATE_SUB_SUM), i);
        STOREP(SAMPLE_VECTOR(STATE_G), i, g);
        STOREP(SAMPLE_VECTOR(STATE_P), i, p);
        STOREP(SAMPLE_VECTOR(STATE_SUB_SUM), i, PSELECT(moves, sum + p, sum));
    }
}

/* Does a path turn back, by its first and last momentum and the sum of all? */
FN mask nuts_turns(MODEL_PARAMETERS, PRIVATE const sample_call *c, u32 first, u32 last, u32 sum,
                   u32 before /* a level whose sum is left out, or STATE_VECTORS */)
{
    GLOBAL real *inner = SAMPLE_OWN(WORK_CHECK);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, c->row) {
        const pack a = LOADP(SAMPLE_VECTOR(first), i), b = LOADP(SAMPLE_VECTOR(last), i);
        pack v = LOADP(SAMPLE_VECTOR(sum), i);
        if (before < STATE_VECTORS) v = (v - LOADP(SAMPLE_VECTOR(before), i)) + a;
        STOREP(inner, i, PFMA(PK(-0.5), a + b, v));
    }
    const real at_first = fit_dot(MODEL, SAMPLE_VECTOR(first), inner),
               at_last = fit_dot(MODEL, SAMPLE_VECTOR(last), inner);
    return OR(NOT(at_first > R(0.0)), NOT(at_last > R(0.0)));
}

/* Subtrees that end at this point. A point's level is the number of ones in its number's bits above the
 * last; a subtree ends for each one at the number's end. */
FN_LARGE mask nuts_check_subtrees(MODEL_PARAMETERS, PRIVATE const sample_call *c,
                                  PRIVATE const nuts_chain *chain, mask running)
{
    real rest = chain->leaf, level = R(0.0), ones = R(0.0), power = R(512.0);
    mask odd = rest >= R(512.0), turned = rest < R(0.0);
    for (u32 bit = SAMPLE_DEPTH_MOST; bit-- > 0;) {
        odd = rest >= power;
        rest = SELECT(odd, rest - power, rest);
        ones = SELECT(odd, ones + R(1.0), R(0.0));
        if (bit > 0) level = SELECT(odd, level + R(1.0), level);
        power = R(0.5) * power;
    }
    for (u32 k = 0; k < c->depth; k++) {
        const real here = REAL_OF(k);
        const mask keeps = AND(running, AND(NOT(odd), level == here)),
                   asks = AND(running, AND(odd, AND(here <= level, here > level - ones)));
        TEAM_IF(ANY(keeps)) {
            nuts_copy(MODEL, STATE_CHECK_P + k, STATE_P, c->row, keeps);
            nuts_copy(MODEL, STATE_CHECK_SUM + k, STATE_SUB_SUM, c->row, keeps);
        }
        TEAM_IF(ANY(asks)) {
            const mask turns =
                nuts_turns(MODEL, c, STATE_CHECK_P + k, STATE_P, STATE_SUB_SUM, STATE_CHECK_SUM + k);
            turned = OR(turned, AND(asks, turns));
        }
    }
    return turned;
}

/* Weighs the point, perhaps takes it for the half's draw. */
FN void nuts_judge(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE nuts_chain *chain,
                   PRIVATE nuts_step *step)
{
    const real zero = R(0.0), one = R(1.0);
    const real kinetic = R(0.5) * fit_dot(MODEL, SAMPLE_VECTOR(STATE_P), SAMPLE_VECTOR(STATE_P));
    const real gain = chain->energy - (step->potential + kinetic);
    step->finite = AND(step->potential<MODEL_HUGE, step->potential> - MODEL_HUGE);
    const mask good = AND(step->running, AND(step->finite, gain > -NUTS_DIVERGED));
    step->diverged = AND(step->running, NOT(good));
    const real weight = SELECT(good, gain, NUTS_NO_WEIGHT),
               accepted = nuts_exp(SELECT(weight < zero, weight, zero)),
               sum = nuts_log_add(chain->sub_weight, weight);
    rng_stream stream = nuts_stream(c, chain, NUTS_LEAVES);
    stream.item = PLINT_OF(LINT_OF(chain->steps));
    const rng_block block = rng_draw(stream, 0);
    const mask taken = AND(good, FIRST(rng_uniform(block.word[0], block.word[1])) < nuts_exp(weight - sum));
    chain->sub_weight = SELECT(good, sum, chain->sub_weight);
    chain->acceptance = SELECT(step->running, chain->acceptance + accepted, chain->acceptance);
    chain->steps = SELECT(step->running, chain->steps + one, chain->steps);
    chain->gradients = SELECT(OR(step->running, step->fresh), chain->gradients + one, chain->gradients);
    chain->sub_potential = SELECT(taken, step->potential, chain->sub_potential);
    chain->sub_nll = SELECT(taken, step->nll, chain->sub_nll);
    nuts_copy(MODEL, STATE_SUB_Z, STATE_Z, c->row, taken);
    nuts_copy(MODEL, STATE_SUB_G, STATE_G, c->row, taken);
    nuts_take(MODEL, SAMPLE_VECTOR(STATE_SUB_X), MODEL_X, MODEL_SLOTS, taken);
    const mask turned = nuts_check_subtrees(MODEL, c, chain, good);
    step->turned = AND(good, turned);
    step->whole = AND(AND(good, NOT(turned)), chain->leaf + one >= chain->size);
    chain->leaf = SELECT(good, chain->leaf + one, chain->leaf);
}

/* First points: known, or nearer to the mode. */
FN_LARGE void nuts_settle_fresh(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE nuts_chain *chain,
                                PRIVATE const nuts_step *step)
{
    const mask known = AND(step->fresh, step->finite);
    const pmask nearer = fit_packs(AND(step->fresh, NOT(step->finite)));
    nuts_copy(MODEL, STATE_DRAW_Z, STATE_Z, c->row, known);
    nuts_copy(MODEL, STATE_DRAW_G, STATE_G, c->row, known);
    nuts_take(MODEL, SAMPLE_VECTOR(STATE_DRAW_X), MODEL_X, MODEL_SLOTS, known);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, c->row) {
        const pack z = LOADP(SAMPLE_VECTOR(STATE_Z), i);
        STOREP(SAMPLE_VECTOR(STATE_Z), i, PSELECT(nearer, NUTS_NEARER * z, z));
    }
    TEAM_BARRIER();
    chain->potential = SELECT(known, step->potential, chain->potential);
    chain->nll = SELECT(known, step->nll, chain->nll);
    chain->fresh = SELECT(known, R(0.0), chain->fresh);
    chain->begins = SELECT(known, R(1.0), chain->begins);
}

/* Joins whole halves to their trajectories. */
FN_LARGE void nuts_join(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE nuts_chain *chain,
                        PRIVATE nuts_step *step)
{
    const mask whole = step->whole, forward = chain->way > R(0.0);
    const mask taken =
        AND(whole, nuts_choose(c, chain).taken < nuts_exp(SELECT(chain->sub_weight < chain->weight,
                                                                 chain->sub_weight - chain->weight, R(0.0))));
    for (u32 k = 0; k < 3; k++) {
        nuts_copy(MODEL, STATE_LEFT_Z + k, STATE_Z + k, c->row, AND(whole, NOT(forward)));
        nuts_copy(MODEL, STATE_RIGHT_Z + k, STATE_Z + k, c->row, AND(whole, forward));
    }
    nuts_copy(MODEL, STATE_DRAW_Z, STATE_SUB_Z, c->row, taken);
    nuts_copy(MODEL, STATE_DRAW_G, STATE_SUB_G, c->row, taken);
    nuts_copy(MODEL, STATE_DRAW_X, STATE_SUB_X, MODEL_SLOTS, taken);
    const pmask own = fit_packs(whole);
    TEAM_FOR_PACK(i, c->row) {
        const pack sum = LOADP(SAMPLE_VECTOR(STATE_SUM), i);
        STOREP(SAMPLE_VECTOR(STATE_SUM), i, PSELECT(own, sum + LOADP(SAMPLE_VECTOR(STATE_SUB_SUM), i), sum));
    }
    chain->potential = SELECT(taken, chain->sub_potential, chain->potential);
    chain->nll = SELECT(taken, chain->sub_nll, chain->nll);
    chain->weight = SELECT(whole, nuts_log_add(chain->weight, chain->sub_weight), chain->weight);
    chain->depth = SELECT(whole, chain->depth + R(1.0), chain->depth);
    chain->size = SELECT(whole, R(2.0) * chain->size, chain->size);
    chain->grows = SELECT(whole, R(1.0), chain->grows);
    const mask turned = nuts_turns(MODEL, c, STATE_LEFT_P, STATE_RIGHT_P, STATE_SUM, STATE_VECTORS);
    step->ends = OR(step->ends, AND(whole, OR(turned, chain->depth >= REAL_OF(c->depth))));
}

/* ---- ends of transitions ---- */

/* The next step size, and at the warm-up's end the mean one. */
FN void nuts_adapt(PRIVATE const sample_call *c, PRIVATE nuts_chain *chain, mask ends)
{
    const real one = R(1.0), m = chain->transition + one, warmup = REAL_OF(c->warmup);
    const mask adapts = AND(ends, m <= warmup);
    const real part = DIVIDE(one, m + NUTS_DELAY), mu = nuts_log(c->first_step) + NUTS_LN_10;
    const real lack = FMA(part, c->target - DIVIDE(chain->acceptance, SELECT(adapts, chain->steps, one)),
                          (one - part) * chain->lack);
    const real step = mu - DIVIDE(SQRT(m), NUTS_GAMMA) * lack, eta = nuts_exp(NUTS_FORGETS * nuts_log(m)),
               mean = FMA(eta, step, (one - eta) * chain->step_mean);
    chain->lack = SELECT(adapts, lack, chain->lack);
    chain->step_mean = SELECT(adapts, mean, chain->step_mean);
    chain->log_step = SELECT(adapts, SELECT(m < warmup, step, mean), chain->log_step);
}

/* Rows of this turn. */
FN_LARGE void nuts_store(MODEL_PARAMETERS, PRIVATE const nuts_chain *chain, mask draws, mask diverged,
                         GLOBAL elem *out, lane_rows rows)
{
    const u32 stride = SAMPLE_DRAW(MODEL_SLOTS);
    const real zero = R(0.0), one = R(1.0);
    TEAM_BARRIER();
    ONE_WORKER
    {
        STORE_ROWS(out, rows, stride, DRAW_IS_DRAW, SELECT(draws, one, zero));
    }
    TEAM_IF(ANY(draws)) {
        rows_store(out, draws, rows, stride, DRAW_SCALARS, SAMPLE_VECTOR(STATE_DRAW_X), MODEL_SLOTS);
        ONE_WORKER
        {
            STORE_ROWS(out, rows, stride, DRAW_NLL, chain->nll);
            STORE_ROWS(out, rows, stride, DRAW_POTENTIAL, chain->potential);
            STORE_ROWS(out, rows, stride, DRAW_ENERGY, chain->energy);
            STORE_ROWS(out, rows, stride, DRAW_DEPTH, chain->depth);
            STORE_ROWS(out, rows, stride, DRAW_STEPS, chain->steps);
            STORE_ROWS(out, rows, stride, DRAW_ACCEPTANCE,
                       DIVIDE(chain->acceptance, SELECT(chain->steps > zero, chain->steps, one)));
            STORE_ROWS(out, rows, stride, DRAW_DIVERGENT, SELECT(diverged, one, zero));
        }
    }
    TEAM_BARRIER();
}

/* ---- launches ---- */

/* States as they lie in memory; new chains start around the mode. */
FN nuts_chain nuts_open(MODEL_PARAMETERS, PRIVATE const sample_call *c, GLOBAL const elem *states,
                        lane_rows rows)
{
    const u32 n = MODEL_SLOTS;
    TEAM_FOR(i, SAMPLE_STATE(n)) (MODEL_MEMORY)[i] = LOAD_ROWS(states, rows, SAMPLE_STATE(n), i);
    TEAM_FOR(i, WORK_VECTORS * n) (SAMPLE_OWN(0))[i] = R(0.0);
    TEAM_FOR(i, n) (MODEL_X)[i] = LOADM1(SAMPLE_GIVEN(c, SAMPLE_START), i);
    TEAM_BARRIER();
    nuts_chain chain = nuts_read(MODEL);
    const mask starts = AND(chain.fresh > R(0.0), chain.gradients == R(0.0));
    TEAM_IF(ANY(starts)) {
        const pmask own = fit_packs(starts);
        nuts_draw_normal(MODEL, c, &chain, NUTS_STARTS, STATE_Z, starts);
        TEAM_FOR_PACK(i, c->row) {
            const pack z = LOADP(SAMPLE_VECTOR(STATE_Z), i);
            STOREP(SAMPLE_VECTOR(STATE_Z), i, PSELECT(own, PACK_OF(c->spread) * z, z));
        }
        TEAM_BARRIER();
    }
    chain.log_step = SELECT(starts, nuts_log(c->first_step), chain.log_step);
    return chain;
}

FN void nuts_turn(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE nuts_chain *chain, mask alive,
                  GLOBAL elem *out, lane_rows rows)
{
    const real zero = R(0.0), one = R(1.0);
    const mask begins = AND(alive, chain->begins > zero);
    nuts_step step;
    TEAM_IF(ANY(begins)) nuts_begin_transition(MODEL, c, chain, begins);
    const mask grows = AND(alive, chain->grows > zero);
    TEAM_IF(ANY(grows)) nuts_begin_doubling(MODEL, c, chain, grows);
    step.fresh = AND(alive, chain->fresh > zero);
    step.running = AND(alive, NOT(step.fresh));
    nuts_move(MODEL, c, chain, &step);
    nuts_judge(MODEL, c, chain, &step);
    TEAM_IF(ANY(step.fresh)) nuts_settle_fresh(MODEL, c, chain, &step);
    step.ends = OR(step.diverged, step.turned);
    TEAM_IF(ANY(step.whole)) nuts_join(MODEL, c, chain, &step);
    nuts_store(MODEL, chain, AND(step.ends, chain->transition >= REAL_OF(c->warmup)), step.diverged, out,
               rows);
    TEAM_IF(ANY(step.ends)) nuts_adapt(c, chain, step.ends);
    chain->transition = SELECT(step.ends, chain->transition + one, chain->transition);
    chain->begins = SELECT(step.ends, one, chain->begins);
    chain->grows = SELECT(step.ends, zero, chain->grows);
}

/* `rows`: the chains'. Rows of turn k follow those of turn k - 1. A chain at its end has no further draws. */
FN void nuts_run(MODEL_PARAMETERS, PRIVATE const sample_call *c, u32 turns, u32 chains,
                 GLOBAL const elem *states, GLOBAL elem *out, lane_rows rows)
{
    const u32 n = MODEL_SLOTS;
    nuts_chain chain = nuts_open(MODEL, c, states, rows);
    GLOBAL elem *to = out + chains * SAMPLE_STATE(n);
    for (u32 turn = 0; turn < turns; turn++) {
        const mask alive = chain.transition < c->end, none = chain.transition < R(0.0);
        TEAM_IF(ANY(alive)) nuts_turn(MODEL, c, &chain, alive, to, rows);
        TEAM_IF(!ANY(alive)) nuts_store(MODEL, &chain, none, none, to, rows);
        to += chains * SAMPLE_DRAW(n);
    }
    nuts_write(MODEL, &chain);
    TEAM_FOR(i, SAMPLE_STATE(n)) STORE_ROWS(out, rows, SAMPLE_STATE(n), i, (MODEL_MEMORY)[i]);
}

#endif
