/* quasi_newton.h: many fits of one model to similar data, none of which builds a Hessian. Knows no model.
 *
 * All fits share one matrix, the inverse Hessian that is expected where the data were drawn; each corrects it
 * by the last QN_PAIRS pairs of steps and changes of slope (L-BFGS: Nocedal, Math. Comp. 35 (1980), the
 * shared matrix in place of a multiple of the unit matrix), so that a step costs a gradient and a product. A
 * task is a data row: a free fit, then, if asked, the conditional fit with the parameter of interest at a
 * value, started from the first along its response.
 *
 *   MODEL_* as newton.h, and MODEL_LOAD(data, stride, rows, m): puts the data rows of the lanes of mask m
 *   into the slab
 *
 * The shared numbers are QN_HEAD elements: the matrix (row-major; rows of slots that are not free are 0),
 * then start, lower and upper bounds, free flags (0 for the parameter of interest, whose own flag is an
 * argument), largest steps (0: no limit), shift from the start to where the conditional fit to the start's
 * expected data ends, all of MODEL_SLOTS, then 8 more, the first of them the value of the conditional fit.
 * Behind them the matrix stands once more, the free slots alone.
 *
 * Each lane is at its own stage of its own task, all evaluate together, and a lane that is done takes the
 * next row of the team's
 * share at once:  row ─► evaluate ─► accept or shorten ─► pair ─► held set ─► direction ─► done? ─► next fit
 *     or next row.
 * Parameters held at a bound, and the parameter of interest in a conditional fit, leave the shared matrix M
 * exactly: the inverse of what remains is M - M_A M_AA^-1 M_A^T. Pairs are forgotten when the held set
 * changes. Converged: EDM in the fit's own metric at most `tolerance`, with the gradient of the returned
 * point. A task that needs more than there is here (more held parameters than places, no descent, too many
 * evaluations) ends with a status, for Newton's method to do.
 */
#ifndef PARITAS_MINIMISE_QUASI_NEWTON_H
#define PARITAS_MINIMISE_QUASI_NEWTON_H

#define QN_MATRIX 0
#define QN_START (MODEL_SLOTS * MODEL_SLOTS)
#define QN_LOWER (QN_START + MODEL_SLOTS)
#define QN_UPPER (QN_START + 2 * MODEL_SLOTS)
#define QN_FREE (QN_START + 3 * MODEL_SLOTS)
#define QN_CAP (QN_START + 4 * MODEL_SLOTS)
#define QN_SHIFT (QN_START + 5 * MODEL_SLOTS)
#define QN_VALUE (QN_START + 6 * MODEL_SLOTS)
#define QN_HEAD (QN_VALUE + 8)

#define QN_POINT (MODEL_WORK)
#define QN_SLOPE (MODEL_WORK + MODEL_SLOTS)
#define QN_STEP (MODEL_WORK + 2 * MODEL_SLOTS)
#define QN_PRODUCT (MODEL_WORK + 3 * MODEL_SLOTS)
#define QN_COMPACT (MODEL_WORK + 4 * MODEL_SLOTS)
#define QN_S(k) (MODEL_WORK + (5 + (k)) * MODEL_SLOTS)
#define QN_Y(k) (MODEL_WORK + (5 + QN_PAIRS + (k)) * MODEL_SLOTS)
/* scalars: results of reductions, 1 / s.y of the pairs, their coefficients, held slots (-1: none), their
 * multipliers, L D L^T of M_AA by rows */
#define QN_SCALAR(k) (MODEL_WORK + MINIMISER_VECTORS * MODEL_SLOTS)[k]
#define QN_RHO(k) QN_SCALAR(4 + (k))
#define QN_ALPHA(k) QN_SCALAR(4 + QN_PAIRS + (k))
#define QN_HELD_SLOT(e) QN_SCALAR(4 + 2 * QN_PAIRS + (e))
#define QN_MULTIPLIER(e) QN_SCALAR(4 + 2 * QN_PAIRS + QN_HELD + (e))
#define QN_FACTOR(e, f) QN_SCALAR(4 + 2 * QN_PAIRS + 2 * QN_HELD + (e) * ((e) + 1) / 2 + (f))

#define QN_NO_PARAMETER 0xffffffffu
#define QN_BACKTRACKS R(8.0)

/* PRODUCT := M v, of the slots that are ever free (`slot` names `count` of them) in the matrix's compact
 * form, whose rows have `stride` elements; 0 elsewhere. Each element is one ascending chain of fma, several
 * side by side to cover its latency. v is scratch. */
#define QN_CHAINS (PACK == 8 ? 4 : 8)
FN_LARGE void qn_multiply(MODEL_PARAMETERS, CONSTANT u32 *slot, u32 count, GLOBAL const elem *matrix,
                          GLOBAL real *v)
{
    const u32 n = MODEL_SLOTS, stride = (count + 7) / 8 * 8, width = QN_CHAINS * PACK;
    GLOBAL real *product = QN_PRODUCT, *compact = QN_COMPACT;
    TEAM_FOR(k, count) compact[k] = v[slot[k]];
    TEAM_BARRIER();
    TEAM_FOR(group, (stride + width - 1) / width) {
        const u32 first = group * width;
        if (first + width <= stride) {
            pack acc[QN_CHAINS];
            UNROLL for (u32 j = 0; j < QN_CHAINS; j++) acc[j] = PK(0.0);
            for (u32 k = 0; k < count; k++) {
                const pack x = PACK_OF(compact[k]);
                UNROLL for (u32 j = 0; j < QN_CHAINS; j++) acc[j] =
                    PFMA(LOADM(matrix, k * stride + first + j * PACK), x, acc[j]);
            }
            UNROLL for (u32 j = 0; j < QN_CHAINS; j++) STOREP(v, first + j * PACK, pflush(acc[j]));
        } else {
            for (u32 i = first; i < stride; i += PACK) {
                pack acc = PK(0.0);
                for (u32 k = 0; k < count; k++)
                    acc = PFMA(LOADM(matrix, k * stride + i), PACK_OF(compact[k]), acc);
                STOREP(v, i, pflush(acc));
            }
        }
    }
    TEAM_FOR_PACK(i, n) STOREP(product, i, PK(0.0));
    TEAM_BARRIER();
    TEAM_FOR(k, count) product[slot[k]] = v[k];
    TEAM_BARRIER();
}

FN real qn_dot(MODEL_PARAMETERS, GLOBAL const real *a, GLOBAL const real *b)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        QN_SCALAR(0) = dot8(a, b, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    return QN_SCALAR(0);
}

/* MODEL_ACTIVE, 1 where a parameter may move, at POINT with SLOPE; scalar 0: lanes whose set changed, or that
 * begin, have not 0 there; scalar 1: how many slots other than the parameter of interest are held. PRODUCT
 * and MODEL_GRADIENT are scratch. */
FN_LARGE void qn_active_set(MODEL_PARAMETERS, GLOBAL const elem *head, u32 poi, mask poi_moves)
{
    const u32 n = MODEL_SLOTS;
    real poi_was = R(0.0);
    TEAM_IF(poi != QN_NO_PARAMETER) {
        poi_was = (MODEL_ACTIVE)[poi];
        TEAM_BARRIER();
        ONE_WORKER
        {
            (MODEL_ACTIVE)[poi] = R(0.0);
        }
        TEAM_BARRIER();
    }
    TEAM_FOR_PACK(i, n) {
        const pack x = LOADP(QN_POINT, i), g = LOADP(QN_SLOPE, i), zero = PK(0.0),
                   free = LOADM(head + QN_FREE, i);
        const pmask held =
            OR(AND(x <= LOADM(head + QN_LOWER, i), g > zero), AND(x >= LOADM(head + QN_UPPER, i), g < zero));
        const pack now = PSELECT(held, zero, free), change = now - LOADP(MODEL_ACTIVE, i);
        STOREP(QN_PRODUCT, i, change * change);
        STOREP(MODEL_GRADIENT, i, free - now);
        STOREP(MODEL_ACTIVE, i, now);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real changed = sum8(QN_PRODUCT, n);
        if (poi != QN_NO_PARAMETER) {
            const real x = (QN_POINT)[poi], g = (QN_SLOPE)[poi];
            const mask held = OR(AND(x <= LOADM1(head + QN_LOWER, poi), g > R(0.0)),
                                 AND(x >= LOADM1(head + QN_UPPER, poi), g < R(0.0)));
            const real now = SELECT(AND(poi_moves, NOT(held)), R(1.0), R(0.0));
            changed = changed + (now - poi_was) * (now - poi_was);
            (MODEL_ACTIVE)[poi] = now;
        }
        QN_SCALAR(0) = changed;
        QN_SCALAR(1) = sum8(MODEL_GRADIENT, n);
    }
    TEAM_BARRIER();
}

/* The list of held slots, the parameter of interest in place 0, and the factor of their part of the
 * matrix. */
FN_LARGE void qn_held_list(MODEL_PARAMETERS, GLOBAL const elem *head, u32 poi)
{
    const u32 n = MODEL_SLOTS;
    ONE_WORKER
    {
        const real none = R(-1.0), one = R(1.0), zero = R(0.0);
        GLOBAL const real *active = MODEL_ACTIVE;
        for (u32 e = 0; e < QN_HELD; e++) QN_HELD_SLOT(e) = none;
        if (poi != QN_NO_PARAMETER) QN_HELD_SLOT(0) = SELECT(active[poi] > zero, none, REAL_OF(poi));
        if (ANY(QN_SCALAR(1) > zero)) {
            real count = zero;
            for (u32 i = 0; i < n; i++) {
                const mask held = active[i] < LOADM1(head + QN_FREE, i);
                for (u32 e = 1; e < QN_HELD; e++)
                    QN_HELD_SLOT(e) = SELECT(AND(held, count == REAL_OF(e - 1)), REAL_OF(i), QN_HELD_SLOT(e));
                count = SELECT(held, count + one, count);
            }
        }
        for (u32 e = 0; e < QN_HELD; e++)
            for (u32 f = 0; f <= e; f++) {
                const real a = QN_HELD_SLOT(e), b = QN_HELD_SLOT(f);
                const mask both = AND(a >= zero, b >= zero);
                const lint at = LINT_OF(SELECT(both, a, zero)) * LI(n) + LINT_OF(SELECT(both, b, zero));
                real v = SELECT(both, GATHER_ELEM(head + QN_MATRIX, at), e == f ? one : zero);
                for (u32 k = 0; k < f; k++)
                    v = FMA(-flush(QN_FACTOR(e, k) * QN_FACTOR(k, k)), QN_FACTOR(f, k), v);
                QN_FACTOR(e, f) = flush(e == f ? v : DIVIDE(v, QN_FACTOR(f, f)));
            }
    }
    TEAM_BARRIER();
}

/* PRODUCT := PRODUCT - M_A M_AA^-1 PRODUCT_A: what the matrix is without the held slots. */
FN_LARGE void qn_leave_held(MODEL_PARAMETERS, GLOBAL const elem *head, u32 poi)
{
    const u32 n = MODEL_SLOTS;
    const real zero = R(0.0);
    ONE_WORKER
    {
        for (u32 e = 0; e < QN_HELD; e++) {
            const real slot = QN_HELD_SLOT(e);
            real v = SELECT(slot >= zero, GATHER_REAL(QN_PRODUCT, LINT_OF(SELECT(slot >= zero, slot, zero))),
                            zero);
            for (u32 k = 0; k < e; k++) v = FMA(-QN_FACTOR(e, k), QN_MULTIPLIER(k), v);
            QN_MULTIPLIER(e) = flush(v);
        }
        for (u32 e = QN_HELD; e-- > 0;) {
            real v = flush(DIVIDE(QN_MULTIPLIER(e), QN_FACTOR(e, e)));
            for (u32 k = e + 1; k < QN_HELD; k++) v = FMA(-QN_FACTOR(k, e), QN_MULTIPLIER(k), v);
            QN_MULTIPLIER(e) = flush(v);
        }
    }
    TEAM_BARRIER();
    TEAM_IF(poi != QN_NO_PARAMETER) {
        const pack t = PACK_OF(-QN_MULTIPLIER(0));
        TEAM_FOR_PACK(i, n)
            STOREP(QN_PRODUCT, i,
                   pflush(PFMA(t, LOADM(head + QN_MATRIX + poi * n, i), LOADP(QN_PRODUCT, i))));
        TEAM_BARRIER();
    }
    for (u32 e = 1; e < QN_HELD; e++) {
        const real slot = QN_HELD_SLOT(e), t = -QN_MULTIPLIER(e);
        TEAM_IF(ANY(slot >= zero)) {
            const lint row = LINT_OF(SELECT(slot >= zero, slot, zero)) * LI(n);
            GLOBAL real *product = QN_PRODUCT;
            TEAM_FOR(i, n) product[i] = flush(FMA(t, GATHER_ELEM(head + QN_MATRIX, row + LI(i)), product[i]));
            TEAM_BARRIER();
        }
    }
}

/* PRODUCT := direction of descent from SLOPE, by the pairs around the matrix; `newest` is the place of the
 * last pair. MODEL_GRADIENT is scratch. */
FN_LARGE void qn_direction(MODEL_PARAMETERS, CONSTANT u32 *slot, u32 count, GLOBAL const elem *head, u32 poi,
                           u32 newest)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL real *q = MODEL_GRADIENT, *product = QN_PRODUCT;
    TEAM_FOR_PACK(i, n) STOREP(q, i, -LOADP(QN_SLOPE, i) * LOADP(MODEL_ACTIVE, i));
    for (u32 k = 0; k < QN_PAIRS; k++) {
        const u32 j = (newest + QN_PAIRS - k) % QN_PAIRS;
        const mask there = QN_RHO(j) > R(0.0);
        TEAM_IF(ANY(there)) {
            const real alpha = flush(QN_RHO(j) * qn_dot(MODEL, QN_S(j), q));
            const pmask own = PACK_OF(SELECT(there, R(1.0), R(0.0))) > PK(0.0);
            TEAM_FOR_PACK(i, n)
                STOREP(
                    q, i,
                    PSELECT(own, pflush(PFMA(PACK_OF(-alpha), LOADP(QN_Y(j), i), LOADP(q, i))), LOADP(q, i)));
            ONE_WORKER
            {
                QN_ALPHA(j) = alpha;
            }
        }
    }
    TEAM_BARRIER();
    qn_multiply(MODEL, slot, count, head + QN_HEAD, q);
    qn_leave_held(MODEL, head, poi);
    for (u32 k = QN_PAIRS; k-- > 0;) {
        const u32 j = (newest + QN_PAIRS - k) % QN_PAIRS;
        const mask there = QN_RHO(j) > R(0.0);
        TEAM_IF(ANY(there)) {
            const real beta = flush(QN_RHO(j) * qn_dot(MODEL, QN_Y(j), product)),
                       more = flush(QN_ALPHA(j) - beta);
            const pmask own = PACK_OF(SELECT(there, R(1.0), R(0.0))) > PK(0.0);
            TEAM_FOR_PACK(i, n)
                STOREP(product, i,
                       PSELECT(own, pflush(PFMA(PACK_OF(more), LOADP(QN_S(j), i), LOADP(product, i))),
                               LOADP(product, i)));
        }
    }
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, n) STOREP(product, i, LOADP(product, i) * LOADP(MODEL_ACTIVE, i));
    TEAM_BARRIER();
}

/* Runs the team's share of the tasks. args: tasks, tasks a lane, slot of the parameter of interest, flags (1:
 * conditional fits too, 2: points too, 4: the parameter of interest is free, 8: tasks have starts of their
 * own), limit of evaluations a fit, number of free slots, 2 unused, the free slots; in: the shared numbers,
 * data rows, with flag 8 a row a task of the starts of its two fits (slots each, within the bounds); out, a
 * row a task: value of the free fit, of the conditional one, parameter of interest, evaluations of the two,
 * status, how many of the fits are done, EDM, then, if asked, the points of the two fits. Behind the tasks'
 * rows there is one more for each team. */
FN_LARGE void qn_run(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team,
                     u32 data_stride, real tolerance)
{
    const real zero = R(0.0), one = R(1.0);
    const u32 n = MODEL_SLOTS, tasks = args[0], share = args[1] * LANES, first = team * share, poi = args[2],
              flags = args[3], none = tasks + team;
    const u32 end = first + share < tasks ? first + share : tasks, stride = 8 + (flags & 2 ? 2 * n : 0);
    const real limit = REAL_OF(args[4]), wanted = LOADM1(in, QN_VALUE);
    GLOBAL const elem *head = in, *data = in + QN_HEAD + args[5] * ((args[5] + 7) / 8 * 8);
    GLOBAL const elem *starts = data + tasks * data_stride;
    GLOBAL real *x = MODEL_X, *point = QN_POINT;
    lane_rows rows = rows_where(rows_of_team(0, 1), zero > one, none);
    mask idle = one > zero, begins = zero > one;
    real phase = zero, value = zero, slope = zero, length = one, evaluations = zero, backtracks = zero,
         value_free = zero, poi_free = zero, evaluations_free = zero;
    u32 next = first;
    TEAM_FOR_PACK(i, n) {
        STOREP(MODEL_X, i, LOADM(head + QN_START, i));
        STOREP(QN_POINT, i, LOADM(head + QN_START, i));
        STOREP(QN_SLOPE, i, PK(0.0));
        STOREP(QN_STEP, i, PK(0.0));
        STOREP(MODEL_ACTIVE, i, PK(0.0));
    }
    TEAM_FOR(k, QN_PAIRS) QN_RHO(k) = zero;
    TEAM_BARRIER();
    u32 go = 1;
    for (u32 turn = 0; go; turn++) {
        TEAM_IF(ANY(idle)) {
            rows = rows_take(rows, idle, &next, end, none);
            const mask taken = AND(idle, rows_are_not(rows, none));
            const pmask own = PACK_OF(SELECT(taken, one, zero)) > PK(0.0);
            MODEL_LOAD(data, data_stride, rows_where(rows, taken, first), taken);
            TEAM_FOR_PACK(i, n)
                STOREP(MODEL_X, i, PSELECT(own, LOADM(head + QN_START, i), LOADP(MODEL_X, i)));
            TEAM_IF(flags & 8) {
                const lane_rows from = rows_where(rows, taken, first);
                TEAM_BARRIER();
                TEAM_FOR(i, n) x[i] = SELECT(taken, LOAD_ROWS(starts, from, 2 * n, i), x[i]);
            }
            begins = OR(begins, taken);
            phase = SELECT(taken, zero, phase);
            evaluations = SELECT(taken, zero, evaluations);
            TEAM_BARRIER();
        }
        const mask running = rows_are_not(rows, none);
        go = ANY(running) != 0;
        TEAM_IF(go) {
            const real found = model_value(MODEL, 1);
            evaluations = SELECT(running, evaluations + one, evaluations);
            /* accept: Armijo's rule, or no worse than rounding where rounding is all that is left */
            const real magnitude = SELECT(value < zero, -value, value), noise = FIT_NOISE * (one + magnitude);
            const mask inside = found < MODEL_HUGE;
            const mask enough = OR(found <= FMA(R(1e-4), slope, value),
                                   AND(found <= value + noise, -slope <= R(1e3) * noise));
            const mask accept = AND(running, AND(inside, OR(begins, enough)));
            const mask shorten = AND(running, NOT(accept));
            const u32 ring = turn % QN_PAIRS;
            const pmask own = PACK_OF(SELECT(accept, one, zero)) > PK(0.0);
            TEAM_FOR_PACK(i, n) {
                const pack to = LOADP(MODEL_X, i), from = LOADP(QN_POINT, i), g = LOADP(MODEL_GRADIENT, i),
                           before = LOADP(QN_SLOPE, i);
                STOREP(QN_S(ring), i, pflush(to - from));
                STOREP(QN_Y(ring), i, pflush(g - before) * LOADP(MODEL_ACTIVE, i));
                STOREP(QN_POINT, i, PSELECT(own, to, from));
                STOREP(QN_SLOPE, i, PSELECT(own, g, before));
            }
            const real along = qn_dot(MODEL, QN_S(ring), QN_Y(ring));
            qn_active_set(MODEL, head, poi, AND(phase <= zero, REAL_OF(flags & 4) > zero));
            const mask changed = OR(begins, QN_SCALAR(0) > zero), many = QN_SCALAR(1) > REAL_OF(QN_HELD - 1);
            TEAM_BARRIER(); /* all have read the scalars */
            ONE_WORKER
            {
                for (u32 k = 0; k < QN_PAIRS; k++) QN_RHO(k) = SELECT(changed, zero, QN_RHO(k));
                /* what rounding leaves of a pair between two points that nearly agree is no curvature */
                const mask good = AND(AND(accept, NOT(changed)), along > R(-0.01) * slope);
                QN_RHO(ring) = SELECT(good, DIVIDE(one, SELECT(good, along, one)), zero);
            }
            TEAM_BARRIER();
            TEAM_IF(ANY(changed)) qn_held_list(MODEL, head, poi);
            const real rise = found - value - slope;
            real factor = SELECT(AND(inside, rise > zero),
                                 DIVIDE(R(-0.5) * slope, SELECT(rise > zero, rise, one)), R(0.25));
            factor = SELECT(factor > R(0.1), factor, R(0.1));
            factor = SELECT(factor < R(0.5), factor, R(0.5));
            length = SELECT(accept, one, length * factor);
            backtracks = SELECT(accept, zero, backtracks + one);
            value = SELECT(accept, found, value);
            qn_direction(MODEL, args + 8, args[5], head, poi, ring);
            const real edm = -qn_dot(MODEL, QN_SLOPE, QN_PRODUCT);
            const mask done = AND(accept, AND(NOT(many), AND(edm <= tolerance, edm >= -tolerance)));
            const mask spent = AND(AND(running, NOT(done)), evaluations >= limit);
            const mask stuck = OR(AND(shorten, OR(begins, backtracks > QN_BACKTRACKS)),
                                  AND(accept, AND(NOT(done), OR(many, NOT(edm > zero)))));
            const mask lost = AND(begins, shorten); /* no value where the fit begins */
            const mask first_done = AND(done, phase <= zero),
                       second = AND(first_done, REAL_OF(flags & 1) > zero);
            real at_poi = zero;
            TEAM_IF(poi != QN_NO_PARAMETER) at_poi = point[poi];
            value_free = SELECT(first_done, value, value_free);
            poi_free = SELECT(first_done, at_poi, poi_free);
            evaluations_free = SELECT(first_done, evaluations, evaluations_free);
            TEAM_IF(flags & 2) {
                const lane_rows to = rows_where(rows, first_done, none),
                                also = rows_where(rows, AND(done, phase > zero), none);
                TEAM_FOR(i, n) STORE_ROWS(out, to, stride, 8 + i, point[i]);
                TEAM_FOR(i, n) STORE_ROWS(out, also, stride, 8 + n + i, point[i]);
            }
            /* the next trial; a conditional fit begins on the line along which the free fit responds to its
             * parameter */
            const mask going = AND(running, AND(NOT(done), NOT(OR(spent, stuck))));
            const pmask takes_step = PACK_OF(SELECT(accept, one, zero)) > PK(0.0),
                        responds = PACK_OF(SELECT(second, one, zero)) > PK(0.0);
            const pmask moves = PACK_OF(SELECT(OR(going, second), one, zero)) > PK(0.0);
            real response = zero;
            TEAM_IF(poi != QN_NO_PARAMETER) {
                const real own_variance = LOADM1(head + QN_MATRIX, poi * n + poi);
                response = flush(DIVIDE(LOADM1(head + QN_START, poi) - at_poi,
                                        SELECT(own_variance > zero, own_variance, one)));
            }
            TEAM_FOR_PACK(i, n) {
                const pack lower = LOADM(head + QN_LOWER, i), upper = LOADM(head + QN_UPPER, i),
                           cap = LOADM(head + QN_CAP, i), from = LOADP(QN_POINT, i);
                pack d = LOADP(QN_PRODUCT, i);
                d = PSELECT(AND(cap > PK(0.0), d > cap), cap, d);
                d = PSELECT(AND(cap > PK(0.0), d < -cap), -cap, d);
                d = PSELECT(takes_step, d, LOADP(QN_STEP, i));
                STOREP(QN_STEP, i, d);
                pack to = PFMA(PACK_OF(length), d, from);
                if (poi != QN_NO_PARAMETER)
                    to = PSELECT(responds,
                                 PFMA(PACK_OF(response), LOADM(head + QN_MATRIX + poi * n, i),
                                      from + LOADM(head + QN_SHIFT, i)),
                                 to);
                to = pflush(to);
                to = PSELECT(to < lower + NEWTON_SNAP, lower, to);
                to = PSELECT(to > upper - NEWTON_SNAP, upper, to);
                to = PSELECT(AND(moves, LOADP(MODEL_ACTIVE, i) > PK(0.0)), to, from);
                STOREP(MODEL_X, i, to);
                STOREP(QN_PRODUCT, i, pflush(to - from));
            }
            TEAM_IF(flags & 8) {
                const lane_rows from = rows_where(rows, second, first);
                TEAM_BARRIER();
                TEAM_FOR(i, n) x[i] = SELECT(second, LOAD_ROWS(starts, from, 2 * n, n + i), x[i]);
            }
            slope = qn_dot(MODEL, QN_PRODUCT, QN_SLOPE);
            TEAM_IF(poi != QN_NO_PARAMETER) {
                ONE_WORKER
                {
                    x[poi] = SELECT(second, wanted, x[poi]);
                }
                TEAM_BARRIER();
            }
            const mask uphill = AND(going, NOT(slope < zero));
            const real ended =
                SELECT(lost, FIT_NON_FINITE,
                       SELECT(spent, FIT_AT_LIMIT, SELECT(done, FIT_CONVERGED, FIT_NO_PROGRESS)));
            idle = OR(OR(AND(done, NOT(second)), uphill), OR(spent, stuck));
            TEAM_IF(ANY(idle)) {
                const lane_rows to = rows_where(rows, idle, none);
                const real fits = phase + SELECT(done, one, zero);
                ONE_WORKER
                {
                    STORE_ROWS(out, to, stride, 0, value_free);
                    STORE_ROWS(out, to, stride, 1, value);
                    STORE_ROWS(out, to, stride, 2, poi_free);
                    STORE_ROWS(out, to, stride, 3, SELECT(fits > zero, evaluations_free, evaluations));
                    STORE_ROWS(out, to, stride, 4, SELECT(phase > zero, evaluations, zero));
                    STORE_ROWS(out, to, stride, 5, ended);
                    STORE_ROWS(out, to, stride, 6, fits);
                    STORE_ROWS(out, to, stride, 7, edm);
                }
            }
            begins = second;
            phase = SELECT(second, one, phase);
            evaluations = SELECT(second, zero, evaluations);
        }
    }
}

#endif
