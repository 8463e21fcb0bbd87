/* quasi_newton.h: many fits of one model to similar data, without Hessians.
 *
 * All fits share M, the inverse Hessian expected where data were drawn, whole or a diagonal and columns. Each
 * corrects it by its last QN_PAIRS pairs (L-BFGS, Nocedal, Math. Comp. 35 (1980), M in place of a multiple of
 * the unit matrix). A step costs a gradient and a product. Task: a data row's free fit. Then, if asked, all
 * tasks' conditional fits, with an M of their own, begun along the free ones' response to the parameter of
 * interest. Or, with PROFILE_HOLDS, a fit that fixes slots of its own. Words: newton.h's, MODEL_DATA (size of
 * a data row), MODEL_MAIN (its place in the slab).
 *
 * Lanes are at their own stages. A free lane takes the team's next task:
 *
 *   task ─► evaluate ─► accept or shorten ─► pair, active set ─► direction ─► done? ─► next trial or task
 *
 * Parameters at active bounds, and the one of interest in free fits, leave M exactly:
 * M - M_A M_AA^-1 M_A^T. A changed active set drops the pairs. Converged: the EDM in the fit's metric at the
 * returned point is at most `tolerance`; or at most `near`, and it no longer falls by far, since slopes are
 * rounded. M comes from other data, and may have no room where a slope is left. So the EDM must also be at
 * most `doubt` if constraints alone measured their parameters. Too many active bounds or evaluations, or no
 * descent, end with a status, for Newton's method. */
#pragma once

#include "entry/entry_rows.h"
#include "minimise/fit_outcome.h"
#include "minimise/value_request.h"

#define QN_BACKTRACKS R(8.0)
#define QN_SNAP PK(1e-12)

#define QN_POINT (MODEL_WORK)
#define QN_SLOPE (MODEL_WORK + MODEL_SLOTS)
#define QN_STEP (MODEL_WORK + 2 * MODEL_SLOTS)
#define QN_PRODUCT (MODEL_WORK + 3 * MODEL_SLOTS)
#define QN_COMPACT (MODEL_WORK + 4 * MODEL_SLOTS)
#define QN_S(k) (MODEL_WORK + (5 + (k)) * MODEL_SLOTS)
#define QN_Y(k) (MODEL_WORK + (5 + QN_PAIRS + (k)) * MODEL_SLOTS)
#define QN_FREE (MODEL_WORK + (5 + 2 * QN_PAIRS) * MODEL_SLOTS) /* only with PROFILE_HOLDS: the task's own */

enum qn_scalar {
    QN_SUM = FIT_SCRATCH,
    QN_BOUND_COUNT,
    QN_FIRST_RHO, /* 1 / s.y of the pairs; 0: none */
    QN_FIRST_ALPHA = QN_FIRST_RHO + QN_PAIRS,
    QN_FIRST_BOUND = QN_FIRST_ALPHA + QN_PAIRS, /* slots at active bounds; -1: none */
    QN_FIRST_MULTIPLIER = QN_FIRST_BOUND + QN_BOUNDS,
    QN_FIRST_FACTOR = QN_FIRST_MULTIPLIER + QN_BOUNDS /* L D L^T of M_AA by rows */
};
#define QN_RHO(k) FIT_SCALAR(QN_FIRST_RHO + (k))
#define QN_ALPHA(k) FIT_SCALAR(QN_FIRST_ALPHA + (k))
#define QN_BOUND_SLOT(e) FIT_SCALAR(QN_FIRST_BOUND + (e))
#define QN_MULTIPLIER(e) FIT_SCALAR(QN_FIRST_MULTIPLIER + (e))
#define QN_FACTOR(e, f) FIT_SCALAR(QN_FIRST_FACTOR + (e) * ((e) + 1) / 2 + (f))

/* Shared by lanes and tasks: arguments, parts of `in`. */
typedef struct {
    u32 conditional;             /* 0: free fits */
    u32 tasks, first, end, none; /* the team's share; an unread row of answers */
    u32 poi, flags, free, rank, stride;
    u32 bound_poi; /* may be fixed; in conditional fits the matrix lacks it */
    real limit, tolerance, near, doubt;
    CONSTANT u32 *slots;
    GLOBAL const elem *matrix, *data, *starts; /* `matrix`: the shared numbers */
} qn_call;
#define QN_SHARED(call, k) ((call)->matrix + PROFILE_VECTOR(MODEL_SLOTS, k))

typedef struct {
    lane_rows rows;
    u32 next;
    mask idle; /* lanes without a task */
    mask begins;
    real value, slope, edm, evaluations, length, backtracks;
    mask running, accept, done;
    mask spent, stuck, lost; /* too many evaluations; no descent; no value at the start */
} qn_fit;

/* to[first ..] := start + the sum over k of the table's rows[k][first ..] x[k], for `chains` packs. One
 * ascending fma chain per element, several at once to hide latency. */
#define QN_CHAINS (LANES > 1 ? 16 : PACK == 8 ? 4 : 8)
FN void qn_sum_rows(GLOBAL const elem *table, u32 count, GLOBAL const real *x, u32 first,
                    PRIVATE const pack *start, u32 chains, GLOBAL real *to)
{
    pack acc[QN_CHAINS];
    const u32 within = first % PROFILE_TABLE_GROUP;
    GLOBAL const elem *rows = table + (first - within) * count;
    UNROLL for (u32 j = 0; j < QN_CHAINS; j++) acc[j] = start[j];
    for (u32 k = 0; k < count; k++) {
        const pack t = PACK_OF(x[k]);
        UNROLL for (u32 j = 0; j < QN_CHAINS; j++) if (j < chains) acc[j] =
            PFMA(LOADM(rows, PROFILE_TABLE_AT(count, k, within + j * PACK)), t, acc[j]);
    }
    UNROLL for (u32 j = 0; j < QN_CHAINS; j++) if (j < chains) STOREP(to, first + j * PACK, pflush(acc[j]));
}

/* to := diagonal x + the sum over k < count of the table's rows[k] y[k]; rows of `row`. */
FN void qn_products(GLOBAL const elem *table, u32 row, u32 count, GLOBAL const real *y, u32 has_diagonal,
                    GLOBAL const elem *diagonal, GLOBAL const real *x, GLOBAL real *to)
{
    const u32 width = QN_CHAINS * PACK;
    TEAM_FOR(group, (row + width - 1) / width) {
        const u32 first = group * width, left = (row - first) / PACK,
                  chains = left < QN_CHAINS ? left : QN_CHAINS;
        pack start[QN_CHAINS];
        UNROLL for (u32 j = 0; j < QN_CHAINS; j++)
        {
            start[j] = PK(0.0);
            if (has_diagonal && j < chains)
                start[j] = LOADM(diagonal, first + j * PACK) * LOADP(x, first + j * PACK);
        }
        if (chains == QN_CHAINS)
            qn_sum_rows(table, count, y, first, start, QN_CHAINS, to);
        else if (2 * chains == QN_CHAINS)
            qn_sum_rows(table, count, y, first, start, QN_CHAINS / 2, to);
        else
            qn_sum_rows(table, count, y, first, start, chains, to);
    }
    TEAM_BARRIER();
}

/* PRODUCT := M v of the ever-free slots; 0 elsewhere. v is scratch. */
FN_LARGE void qn_multiply(MODEL_PARAMETERS, PRIVATE const qn_call *c, GLOBAL real *v)
{
    const u32 n = MODEL_SLOTS, count = c->free, rank = c->rank, row = PROFILE_COMPACT_ROW(count);
    GLOBAL real *product = QN_PRODUCT, *compact = QN_COMPACT;
    GLOBAL const elem *diagonal = c->matrix + PROFILE_COMPACT(n);
    TEAM_FOR(k, row) compact[k] = k < count ? v[c->slots[k < count ? k : 0]] : R(0.0);
    TEAM_BARRIER();
    TEAM_IF(rank > 0) {
        GLOBAL const elem *sign = c->matrix + PROFILE_SIGNS(n, count, rank);
        qn_products(c->matrix + PROFILE_BY_SLOT(n, count, rank), PROFILE_COMPACT_ROW(rank), count, compact, 0,
                    diagonal, compact, product);
        TEAM_FOR_PACK(k, PROFILE_COMPACT_ROW(rank)) STOREP(product, k, LOADM(sign, k) * LOADP(product, k));
        TEAM_BARRIER();
        qn_products(c->matrix + PROFILE_COLUMNS(n, count), row, rank, product, 1, diagonal, compact, v);
    }
    TEAM_IF(rank == 0) qn_products(diagonal, row, count, compact, 0, diagonal, compact, v);
    TEAM_FOR_PACK(i, n) STOREP(product, i, PK(0.0));
    TEAM_BARRIER();
    TEAM_FOR(k, count) product[c->slots[k]] = v[k];
    TEAM_BARRIER();
}

/* Sets MODEL_ACTIVE at POINT, and BOUND_COUNT. Returns lanes whose set changed. PRODUCT, MODEL_GRADIENT:
 * scratch. */
FN_LARGE mask qn_active_set(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    const u32 n = MODEL_SLOTS, poi = c->bound_poi;
    const real moves_poi = REAL_OF(c->flags & PROFILE_POI_FREE);
    GLOBAL const elem *lower = QN_SHARED(c, PROFILE_LOWER), *upper = QN_SHARED(c, PROFILE_UPPER);
    real poi_was = R(0.0);
    TEAM_IF(poi != PROFILE_NO_POI) {
        poi_was = (MODEL_ACTIVE)[poi];
        TEAM_BARRIER();
        ONE_WORKER
        {
            (MODEL_ACTIVE)[poi] = R(0.0);
        }
        TEAM_BARRIER();
    }
    TEAM_FOR_PACK(i, n) {
        const pack is_free = LOADM(QN_SHARED(c, PROFILE_FREE), i);
        pack moves = is_free;
        if (c->flags & PROFILE_HOLDS) moves = LOADP(QN_FREE, i);
        const pmask at_bound =
            fit_is_at_bound(LOADP(QN_POINT, i), LOADP(QN_SLOPE, i), LOADM(lower, i), LOADM(upper, i));
        const pack now = PSELECT(at_bound, PK(0.0), moves), change = now - LOADP(MODEL_ACTIVE, i);
        STOREP(QN_PRODUCT, i, change * change);
        STOREP(MODEL_GRADIENT, i, is_free - now);
        STOREP(MODEL_ACTIVE, i, now);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real changed = sum8(QN_PRODUCT, n);
        if (poi != PROFILE_NO_POI) {
            const real x = (QN_POINT)[poi], g = (QN_SLOPE)[poi];
            const mask at_bound =
                OR(AND(x <= LOADM1(lower, poi), g > R(0.0)), AND(x >= LOADM1(upper, poi), g < R(0.0)));
            const real now = SELECT(AND(moves_poi > R(0.0), NOT(at_bound)), R(1.0), R(0.0));
            changed = changed + (now - poi_was) * (now - poi_was);
            (MODEL_ACTIVE)[poi] = now;
        }
        FIT_SCALAR(QN_SUM) = changed;
        FIT_SCALAR(QN_BOUND_COUNT) = sum8(MODEL_GRADIENT, n);
    }
    TEAM_BARRIER();
    return FIT_SCALAR(QN_SUM) > R(0.0);
}

/* ---- slots at active bounds ---- */

/* Places of the parameter of interest, which is always the first of them. */
FN u32 qn_places_of_poi(PRIVATE const qn_call *c)
{
    return c->bound_poi != PROFILE_NO_POI ? 1 : 0;
}

/* Does a lane hold a parameter? */
FN u32 qn_has_bounds(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    mask any = FIT_SCALAR(QN_BOUND_COUNT) > R(0.0);
    if (c->bound_poi != PROFILE_NO_POI) any = OR(any, (MODEL_ACTIVE)[c->bound_poi] <= R(0.0));
    return ANY(any) != 0;
}

/* Parameter of interest first. One worker. */
FN void qn_list_at_bounds(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    const real none = R(-1.0), zero = R(0.0);
    GLOBAL const real *active = MODEL_ACTIVE;
    const u32 first = qn_places_of_poi(c);
    for (u32 e = 0; e < QN_BOUNDS; e++) QN_BOUND_SLOT(e) = none;
    if (first > 0) QN_BOUND_SLOT(0) = SELECT(active[c->bound_poi] > zero, none, REAL_OF(c->bound_poi));
    if (!ANY(FIT_SCALAR(QN_BOUND_COUNT) > zero)) return;
    real count = zero;
    for (u32 i = 0; i < MODEL_SLOTS; i++) {
        const mask at_bound = active[i] < LOADM1(QN_SHARED(c, PROFILE_FREE), i);
        for (u32 e = first; e < QN_BOUNDS; e++)
            QN_BOUND_SLOT(e) =
                SELECT(AND(at_bound, count == REAL_OF(e - first)), REAL_OF(i), QN_BOUND_SLOT(e));
        count = SELECT(at_bound, count + R(1.0), count);
    }
}

/* Places that any lane uses: they fill up in order. */
FN u32 qn_places(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    u32 places = qn_places_of_poi(c);
    while (places < QN_BOUNDS && ANY(QN_BOUND_SLOT(places) >= R(0.0))) places++;
    return places;
}

/* Factors the matrix' part of active bounds; unit matrix for empty places. */
FN_LARGE void qn_factor_at_bounds(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    ONE_WORKER
    {
        const real zero = R(0.0);
        qn_list_at_bounds(MODEL, c);
        const u32 places = qn_places(MODEL, c);
        for (u32 e = 0; e < places; e++)
            for (u32 f = 0; f <= e; f++) {
                const real a = QN_BOUND_SLOT(e), b = QN_BOUND_SLOT(f);
                const mask both = AND(a >= zero, b >= zero);
                const lint at =
                    LINT_OF(SELECT(both, a, zero)) * LI(MODEL_SLOTS) + LINT_OF(SELECT(both, b, zero));
                real v = SELECT(both, GATHER_ELEM(c->matrix, at), e == f ? R(1.0) : zero);
                for (u32 k = 0; k < f; k++)
                    v = FMA(-flush(QN_FACTOR(e, k) * QN_FACTOR(k, k)), QN_FACTOR(f, k), v);
                QN_FACTOR(e, f) = flush(e == f ? v : DIVIDE(v, QN_FACTOR(f, f)));
            }
    }
    TEAM_BARRIER();
}

/* MULTIPLIER := M_AA^-1 PRODUCT_A. One worker. */
FN void qn_multipliers(MODEL_PARAMETERS, u32 places)
{
    const real zero = R(0.0);
    for (u32 e = 0; e < places; e++) {
        const real slot = QN_BOUND_SLOT(e), place = SELECT(slot >= zero, slot, zero);
        real v = SELECT(slot >= zero, GATHER_REAL(QN_PRODUCT, LINT_OF(place)), zero);
        for (u32 k = 0; k < e; k++) v = FMA(-QN_FACTOR(e, k), QN_MULTIPLIER(k), v);
        QN_MULTIPLIER(e) = flush(v);
    }
    for (u32 e = places; e-- > 0;) {
        real v = flush(DIVIDE(QN_MULTIPLIER(e), QN_FACTOR(e, e)));
        for (u32 k = e + 1; k < places; k++) v = FMA(-QN_FACTOR(k, e), QN_MULTIPLIER(k), v);
        QN_MULTIPLIER(e) = flush(v);
    }
}

/* Removes slots at active bounds from the matrix: PRODUCT - M_A M_AA^-1 PRODUCT_A. */
FN_LARGE void qn_leave_bounds(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    const u32 n = MODEL_SLOTS, places = qn_places(MODEL, c);
    const real zero = R(0.0);
    ONE_WORKER
    {
        qn_multipliers(MODEL, places);
    }
    TEAM_BARRIER();
    TEAM_IF(c->bound_poi != PROFILE_NO_POI) {
        const pack t = PACK_OF(-QN_MULTIPLIER(0));
        GLOBAL const elem *row = c->matrix + c->bound_poi * n;
        TEAM_FOR_PACK(i, n) STOREP(QN_PRODUCT, i, pflush(PFMA(t, LOADM(row, i), LOADP(QN_PRODUCT, i))));
        TEAM_BARRIER();
    }
    for (u32 e = qn_places_of_poi(c); e < places; e++) {
        const real slot = QN_BOUND_SLOT(e), t = -QN_MULTIPLIER(e);
        const lint row = LINT_OF(SELECT(slot >= zero, slot, zero)) * LI(n);
        GLOBAL real *product = QN_PRODUCT;
        TEAM_FOR(i, n) product[i] = flush(FMA(t, GATHER_ELEM(c->matrix, row + LI(i)), product[i]));
        TEAM_BARRIER();
    }
}

FN void qn_add(MODEL_PARAMETERS, GLOBAL real *v, real t, GLOBAL const real *other, mask there)
{
    const pmask own = fit_packs(there);
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(v, i, PSELECT(own, pflush(PFMA(PACK_OF(t), LOADP(other, i), LOADP(v, i))), LOADP(v, i)));
}

/* PRODUCT := descent direction; `newest`: place of the last pair. MODEL_GRADIENT: scratch. */
FN_LARGE void qn_direction(MODEL_PARAMETERS, PRIVATE const qn_call *c, u32 newest)
{
    GLOBAL real *q = MODEL_GRADIENT, *product = QN_PRODUCT;
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(q, i, -LOADP(QN_SLOPE, i) * LOADP(MODEL_ACTIVE, i));
    for (u32 k = 0; k < QN_PAIRS; k++) {
        const u32 j = (newest + QN_PAIRS - k) % QN_PAIRS;
        const mask there = QN_RHO(j) > R(0.0);
        TEAM_IF(ANY(there)) {
            const real alpha = flush(QN_RHO(j) * fit_dot(MODEL, QN_S(j), q));
            qn_add(MODEL, q, -alpha, QN_Y(j), there);
            ONE_WORKER
            {
                QN_ALPHA(j) = alpha;
            }
        }
    }
    TEAM_BARRIER();
    qn_multiply(MODEL, c, q);
    TEAM_IF(qn_has_bounds(MODEL, c)) qn_leave_bounds(MODEL, c);
    for (u32 k = QN_PAIRS; k-- > 0;) {
        const u32 j = (newest + QN_PAIRS - k) % QN_PAIRS;
        const mask there = QN_RHO(j) > R(0.0);
        TEAM_IF(ANY(there)) {
            const real beta = flush(QN_RHO(j) * fit_dot(MODEL, QN_Y(j), product));
            qn_add(MODEL, product, flush(QN_ALPHA(j) - beta), QN_S(j), there);
        }
    }
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(product, i, LOADP(product, i) * LOADP(MODEL_ACTIVE, i));
    TEAM_BARRIER();
}

/* ---- the stages of a turn ---- */

FN qn_call qn_read_call(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, u32 team,
                        u32 conditional, real tolerance, real near, real doubt)
{
    const u32 n = MODEL_SLOTS, share = args[PROFILE_ARG_SHARE] * LANES, free = args[PROFILE_ARG_FREE],
              of_free = PROFILE_SHARED(n, free, args[PROFILE_ARG_RANK]),
              of_conditional = PROFILE_SHARED(n, free, args[PROFILE_ARG_RANK_CONDITIONAL]);
    qn_call c;
    c.conditional = conditional;
    c.tasks = args[PROFILE_ARG_TASKS];
    c.first = team * share;
    c.end = c.first + share < c.tasks ? c.first + share : c.tasks;
    c.none = c.tasks + team;
    c.poi = args[PROFILE_ARG_POI];
    c.flags = args[PROFILE_ARG_FLAGS];
    c.bound_poi = conditional ? PROFILE_NO_POI : c.poi;
    c.free = free;
    c.rank = args[conditional ? PROFILE_ARG_RANK_CONDITIONAL : PROFILE_ARG_RANK];
    c.stride = PROFILE_ANSWER_SIZE(n, c.flags);
    c.limit = REAL_OF(args[PROFILE_ARG_EVALUATIONS]);
    c.tolerance = tolerance;
    c.near = near;
    c.doubt = doubt;
    c.slots = args + PROFILE_ARGS;
    c.matrix = in + (conditional ? of_free : 0);
    c.data = in + of_free + (c.flags & PROFILE_CONDITIONAL ? of_conditional : 0);
    c.starts = c.data + c.tasks * MODEL_DATA;
    return c;
}

/* All lanes idle, with finite data. */
FN qn_fit qn_begin(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    const real zero = R(0.0), one = R(1.0);
    qn_fit f;
    f.rows = rows_where(rows_of_team(0, 1), zero > one, c->none);
    f.next = c->first;
    f.idle = one > zero;
    f.begins = zero > one;
    f.value = f.slope = f.edm = f.evaluations = f.backtracks = zero;
    f.length = one;
    TEAM_FOR(i, MODEL_DATA) (MODEL_MAIN)[i] = one;
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack start = LOADM(QN_SHARED(c, PROFILE_START), i);
        STOREP(MODEL_X, i, start);
        STOREP(QN_POINT, i, start);
        STOREP(QN_SLOPE, i, PK(0.0));
        STOREP(QN_STEP, i, PK(0.0));
        STOREP(QN_FREE, i, PK(0.0));
        STOREP(MODEL_ACTIVE, i, PK(0.0));
    }
    TEAM_FOR(k, QN_PAIRS) QN_RHO(k) = zero;
    TEAM_BARRIER();
    return f;
}

/* Moves x within bounds, and exactly to those that it nearly reaches. */
FN pack qn_snap(pack x, pack lower, pack upper)
{
    const pack to = PSELECT(x < lower + QN_SNAP, lower, x);
    return PSELECT(to > upper - QN_SNAP, upper, to);
}

/* Starts of conditional fits: on the free fits' response line, from their ends in `out`. */
FN void qn_respond(MODEL_PARAMETERS, PRIVATE const qn_call *c, lane_rows rows, mask m, GLOBAL const elem *out)
{
    const pmask own = fit_packs(m);
    GLOBAL const elem *shift = QN_SHARED(c, PROFILE_SHIFT), *response = QN_SHARED(c, PROFILE_RESPONSE),
                      *lower = QN_SHARED(c, PROFILE_LOWER), *upper = QN_SHARED(c, PROFILE_UPPER);
    rows_load(MODEL_X, m, out, rows, c->stride, PROFILE_POINT(MODEL_SLOTS, 0), MODEL_SLOTS);
    TEAM_BARRIER();
    const real away = LOADM1(c->matrix, PROFILE_SCALAR(MODEL_SLOTS, PROFILE_POI_START)) - (MODEL_X)[c->poi];
    TEAM_BARRIER(); /* all have read it */
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack from = LOADP(MODEL_X, i),
                   to = qn_snap(pflush(PFMA(PACK_OF(away), LOADM(response, i), from + LOADM(shift, i))),
                                LOADM(lower, i), LOADM(upper, i));
        STOREP(MODEL_X, i, PSELECT(own, to, from));
    }
}

/* Tasks' own starts. */
FN void qn_own_starts(MODEL_PARAMETERS, PRIVATE const qn_call *c, lane_rows rows, mask m)
{
    const u32 n = MODEL_SLOTS, second = c->conditional ? n : 0;
    rows_load(MODEL_X, m, c->starts, rows, PROFILE_STARTS_SIZE(n), second, n);
    TEAM_IF(c->flags & PROFILE_HOLDS) rows_load(QN_FREE, m, c->starts, rows, PROFILE_STARTS_SIZE(n), n, n);
}

/* Takes idle lanes' next tasks. Returns lanes that have one. A failed free fit has no conditional one. */
FN mask qn_take_rows(PRIVATE const qn_call *c, PRIVATE qn_fit *f, GLOBAL const elem *out)
{
    mask left = f->idle;
    for (u32 go = 1; go;) {
        f->rows = rows_take(f->rows, left, &f->next, c->end, c->none);
        const mask found = rows_are_not(f->rows, c->none);
        left = AND(left, AND(found, REAL_OF(c->conditional) > R(0.0)));
        if (ANY(left)) left = AND(left, LOAD_ROWS(out, f->rows, c->stride, PROFILE_STATUS) != FIT_CONVERGED);
        f->rows = rows_where(f->rows, NOT(left), c->none);
        go = ANY(left) && f->next < c->end;
    }
    return AND(f->idle, rows_are_not(f->rows, c->none));
}

/* Gives idle lanes their next tasks: data, starts. */
FN void qn_take_tasks(MODEL_PARAMETERS, PRIVATE const qn_call *c, PRIVATE qn_fit *f, GLOBAL const elem *out)
{
    const u32 own = c->flags & PROFILE_STARTS,
              responds = c->conditional && (!own || c->flags & PROFILE_KNOWN);
    const mask taken = qn_take_rows(c, f, out);
    const pmask moves = fit_packs(taken);
    rows_load(MODEL_MAIN, taken, c->data, f->rows, MODEL_DATA, 0, MODEL_DATA);
    TEAM_IF(responds) qn_respond(MODEL, c, f->rows, taken, out);
    TEAM_IF(own && !responds) qn_own_starts(MODEL, c, f->rows, taken);
    TEAM_IF(!own && !responds) {
        GLOBAL const elem *start = QN_SHARED(c, PROFILE_START);
        TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(MODEL_X, i, PSELECT(moves, LOADM(start, i), LOADP(MODEL_X, i)));
    }
    f->begins = taken;
    f->evaluations = SELECT(taken, R(0.0), f->evaluations);
    f->slope = SELECT(taken, R(-1.0), f->slope); /* not that of the task before */
    TEAM_BARRIER();
}

/* Stores the pair in place `ring`; POINT, SLOPE of accepting lanes. Returns s.y. */
FN real qn_take_pair(MODEL_PARAMETERS, PRIVATE const qn_fit *f, u32 ring)
{
    const pmask own = fit_packs(f->accept);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack to = LOADP(MODEL_X, i), from = LOADP(QN_POINT, i), g = LOADP(MODEL_GRADIENT, i),
                   before = LOADP(QN_SLOPE, i);
        STOREP(QN_S(ring), i, pflush(to - from));
        STOREP(QN_Y(ring), i, pflush(g - before) * LOADP(MODEL_ACTIVE, i));
        STOREP(QN_POINT, i, PSELECT(own, to, from));
        STOREP(QN_SLOPE, i, PSELECT(own, g, before));
    }
    return fit_dot(MODEL, QN_S(ring), QN_Y(ring));
}

/* Evaluates at MODEL_X: accepts or shortens the step, updates pair, active set and factor. */
FN void qn_evaluate(MODEL_PARAMETERS, PRIVATE const qn_call *c, PRIVATE qn_fit *f, u32 ring)
{
    const real zero = R(0.0), one = R(1.0), found = model_value(MODEL, MODEL_SLOPE);
    f->evaluations = SELECT(f->running, f->evaluations + one, f->evaluations);
    f->accept =
        AND(f->running, AND(found < MODEL_HUGE, OR(f->begins, fit_enough(found, f->value, f->slope))));
    const real along = qn_take_pair(MODEL, f, ring);
    const mask changed = OR(f->begins, qn_active_set(MODEL, c));
    TEAM_BARRIER(); /* all have read the scalars */
    ONE_WORKER
    {
        for (u32 k = 0; k < QN_PAIRS; k++) QN_RHO(k) = SELECT(changed, zero, QN_RHO(k));
        /* between nearly equal points a pair is rounding */
        const mask good = AND(AND(f->accept, NOT(changed)), along > R(-0.01) * f->slope);
        QN_RHO(ring) = SELECT(good, DIVIDE(one, SELECT(good, along, one)), zero);
    }
    TEAM_BARRIER();
    TEAM_IF(ANY(changed) && qn_has_bounds(MODEL, c)) qn_factor_at_bounds(MODEL, c);
    f->length = SELECT(f->accept, one, f->length * fit_shorter(found, f->value, f->slope));
    f->backtracks = SELECT(f->accept, zero, f->backtracks + one);
    f->value = SELECT(f->accept, found, f->value);
}

/* The EDM if constraints alone measured their parameters, and M's diagonal those without one: about the most
 * that it can be. MODEL_GRADIENT: scratch. */
FN real qn_farthest(MODEL_PARAMETERS, PRIVATE const qn_call *c)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL real *part = MODEL_GRADIENT;
    TEAM_FOR(i, n) {
        const real width = DIVIDE(LOADM1(QN_SHARED(c, PROFILE_CAP), i), R(STEP_WIDTHS)),
                   variance = SELECT(width > R(0.0), width * width, LOADM1(c->matrix, i * n + i));
        part[i] = flush(variance * (QN_SLOPE)[i]) * (MODEL_ACTIVE)[i];
    }
    TEAM_BARRIER();
    return fit_dot(MODEL, QN_SLOPE, part);
}

FN void qn_judge(MODEL_PARAMETERS, PRIVATE const qn_call *c, PRIVATE qn_fit *f)
{
    const u32 is_known = !c->conditional && c->flags & PROFILE_KNOWN;
    const mask shorten = AND(f->running, NOT(f->accept)),
               many = FIT_SCALAR(QN_BOUND_COUNT) > REAL_OF(QN_BOUNDS - qn_places_of_poi(c));
    const real least = R(0.25) * f->edm;
    f->edm = -fit_dot(MODEL, QN_SLOPE, QN_PRODUCT);
    const mask known = AND(f->accept, REAL_OF(is_known) > R(0.0)),
               closed = AND(f->accept, AND(f->edm <= c->tolerance, f->edm >= -c->tolerance)),
               fell = AND(f->accept, OR(f->begins, f->edm < least)), spent = f->evaluations >= c->limit,
               rounding = AND(AND(f->running, NOT(AND(f->begins, shorten))),
                              AND(OR(NOT(fell), spent), AND(f->edm <= c->near, f->edm >= -c->near)));
    mask ends = AND(NOT(many), OR(closed, rounding));
    TEAM_IF(ANY(ends)) ends = AND(ends, qn_farthest(MODEL, c) <= c->doubt);
    f->done = OR(AND(NOT(many), known), ends);
    f->spent = AND(AND(f->running, NOT(f->done)), spent);
    f->stuck = OR(AND(AND(shorten, NOT(f->done)), OR(f->begins, f->backtracks > QN_BACKTRACKS)),
                  AND(f->accept, AND(NOT(f->done), OR(many, NOT(f->edm > R(0.0))))));
    f->lost = AND(f->begins, shorten);
}

/* MODEL_X := next trial within bounds, PRODUCT := its offset from POINT. */
FN void qn_aim(MODEL_PARAMETERS, PRIVATE const qn_call *c, PRIVATE const qn_fit *f, mask going)
{
    const pmask steps = fit_packs(f->accept), moves = fit_packs(going);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack lower = LOADM(QN_SHARED(c, PROFILE_LOWER), i),
                   upper = LOADM(QN_SHARED(c, PROFILE_UPPER), i), from = LOADP(QN_POINT, i);
        const pack d = PSELECT(steps, fit_capped(LOADP(QN_PRODUCT, i), LOADM(QN_SHARED(c, PROFILE_CAP), i)),
                               LOADP(QN_STEP, i));
        STOREP(QN_STEP, i, d);
        pack to = qn_snap(pflush(PFMA(PACK_OF(f->length), d, from)), lower, upper);
        to = PSELECT(AND(moves, LOADP(MODEL_ACTIVE, i) > PK(0.0)), to, from);
        STOREP(MODEL_X, i, to);
        STOREP(QN_PRODUCT, i, pflush(to - from));
    }
}

/* STEP, MODEL_X, PRODUCT of `lanes` anew, along the slopes and M's diagonal: each parameter goes down. Caps
 * and bounds may turn a direction uphill that corrects them together. */
FN_LARGE void qn_aim_downhill(MODEL_PARAMETERS, PRIVATE const qn_call *c, mask lanes)
{
    const u32 n = MODEL_SLOTS;
    const pmask own = fit_packs(lanes);
    TEAM_BARRIER();
    TEAM_FOR(i, n) {
        (MODEL_GRADIENT)[i] = -LOADM1(c->matrix, i * n + i) * (QN_SLOPE)[i] * (MODEL_ACTIVE)[i];
    }
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, n) {
        const pack from = LOADP(QN_POINT, i),
                   d = pflush(fit_capped(LOADP(MODEL_GRADIENT, i), LOADM(QN_SHARED(c, PROFILE_CAP), i))),
                   to = fit_within(from + d, LOADM(QN_SHARED(c, PROFILE_LOWER), i),
                                   LOADM(QN_SHARED(c, PROFILE_UPPER), i));
        STOREP(QN_STEP, i, PSELECT(own, d, LOADP(QN_STEP, i)));
        STOREP(MODEL_X, i, PSELECT(own, to, LOADP(MODEL_X, i)));
        STOREP(QN_PRODUCT, i, PSELECT(own, pflush(to - from), LOADP(QN_PRODUCT, i)));
    }
    TEAM_BARRIER();
}

/* The trial's slope; idle lanes. */
FN void qn_go_on(MODEL_PARAMETERS, PRIVATE const qn_call *c, PRIVATE qn_fit *f)
{
    const mask going = AND(f->running, AND(NOT(f->done), NOT(OR(f->spent, f->stuck))));
    qn_aim(MODEL, c, f, going);
    f->slope = fit_dot(MODEL, QN_PRODUCT, QN_SLOPE);
    const mask turned = AND(AND(going, f->accept), NOT(f->slope < R(0.0)));
    TEAM_IF(ANY(turned)) {
        qn_aim_downhill(MODEL, c, turned);
        f->slope = fit_dot(MODEL, QN_PRODUCT, QN_SLOPE);
    }
    const mask uphill = AND(going, NOT(f->slope < R(0.0)));
    f->idle = OR(OR(f->done, uphill), OR(f->spent, f->stuck));
}

FN void qn_store_answers(MODEL_PARAMETERS, PRIVATE const qn_call *c, PRIVATE const qn_fit *f,
                         GLOBAL elem *out)
{
    const real zero = R(0.0), done = SELECT(f->done, R(1.0), zero);
    const lane_rows to = rows_where(f->rows, f->idle, c->none);
    if (PROFILE_KEPT(c->flags) > c->conditional)
        rows_store(out, f->done, f->rows, c->stride, PROFILE_POINT(MODEL_SLOTS, c->conditional), QN_POINT,
                   MODEL_SLOTS);
    ONE_WORKER
    {
        const u32 stride = c->stride, second = c->conditional;
        real at_poi = zero, slope_poi = zero;
        if (c->poi != PROFILE_NO_POI) {
            at_poi = (QN_POINT)[c->poi];
            slope_poi = (QN_SLOPE)[c->poi];
        }
        STORE_ROWS(out, to, stride, second ? PROFILE_VALUE_FIXED : PROFILE_VALUE_FREE, f->value);
        STORE_ROWS(out, to, stride, second ? PROFILE_EVALUATIONS_FIXED : PROFILE_EVALUATIONS_FREE,
                   f->evaluations);
        STORE_ROWS(out, to, stride, PROFILE_STATUS,
                   SELECT(f->lost, FIT_NON_FINITE,
                          SELECT(f->spent, FIT_AT_LIMIT, SELECT(f->done, FIT_CONVERGED, FIT_NO_PROGRESS))));
        STORE_ROWS(out, to, stride, PROFILE_FITS, REAL_OF(second) + done);
        STORE_ROWS(out, to, stride, PROFILE_EDM, f->edm);
        STORE_ROWS(out, to, stride, PROFILE_SLOPE_POI, slope_poi);
        if (!second) {
            STORE_ROWS(out, to, stride, PROFILE_VALUE_FIXED, f->value);
            STORE_ROWS(out, to, stride, PROFILE_EVALUATIONS_FIXED, zero);
            STORE_ROWS(out, to, stride, PROFILE_POI, at_poi);
        }
    }
}

/* The team's share of free or of conditional fits. */
FN void qn_run_fits(MODEL_PARAMETERS, PRIVATE const qn_call *c, GLOBAL elem *out)
{
    qn_fit f = qn_begin(MODEL, c);
    u32 go = 1;
    for (u32 turn = 0; go; turn++) {
        const u32 ring = turn % QN_PAIRS;
        f.begins = R(0.0) > R(1.0);
        TEAM_IF(ANY(f.idle)) qn_take_tasks(MODEL, c, &f, out);
        f.running = rows_are_not(f.rows, c->none);
        go = ANY(f.running) != 0;
        TEAM_IF(go) {
            qn_evaluate(MODEL, c, &f, ring);
            qn_direction(MODEL, c, ring);
            qn_judge(MODEL, c, &f);
            qn_go_on(MODEL, c, &f);
            TEAM_IF(ANY(f.idle)) qn_store_answers(MODEL, c, &f, out);
        }
    }
}

/* Runs the team's share of tasks; rows: entry/entry_rows.h. */
FN_LARGE void qn_run(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team,
                     real tolerance, real near, real doubt)
{
    const u32 fits = args[PROFILE_ARG_FLAGS] & PROFILE_CONDITIONAL ? 2 : 1;
    for (u32 conditional = 0; conditional < fits; conditional++) {
        const qn_call c = qn_read_call(MODEL, args, in, team, conditional, tolerance, near, doubt);
        TEAM_BARRIER(); /* ends of free fits are seen */
        qn_run_fits(MODEL, &c, out);
    }
}
