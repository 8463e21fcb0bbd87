/* plane.c: regions of two parameters, with all parts. */
#include "statistics/regions/plane.h"
#include "base/math/host_math.h"
#include "minima/landscape.h"
#include "minima/lowest_points.h"
#include "minima/minimum_search.h"
#include "minima/neighbours.h"
#include "statistics/regions/outline.h"
#include "statistics/regions/plane_lines.h"

#include <math.h>
#include <string.h>

#define GAPS 20       /* of the lines through a part */
#define GAPS_LARGE 10 /* the same of a large model */
#define GAPS_MOST 100
#define THIN 0.25       /* of a width: thinner regions need more lines */
#define ANCHORS 24      /* nodes of a small model that get further starts, where minima are several */
#define ANCHORS_FEW 8   /* the same, where they are not */
#define ANCHORS_LARGE 4 /* of a large model */
#define SAME_PART 1e-3  /* of an error: parts that lead to one minimum are one */
#define SWEEPS_MOST 40
#define NODES_ENOUGH 4000 /* of a grid: no finer one is fitted to compare with */
#define MARGIN 9.0        /* in q */
#define TOGETHER 256      /* fits: memory for their starts stays flat */

/* Nodes have a rim around them, which is outside: the numbers of outline.h. */
struct grid {
    struct plane *plane;
    struct profile_curve *curves; /* 2: the profiles of the parameters */
    struct plane_lines lines[2];
    size_t nx, ny;              /* with the rim */
    struct infer_point *points; /* of all numbers; the rim's are not used */
    unsigned char *inside;      /* of one level */
    unsigned char *joined;      /* of the cells */
    size_t *parts;              /* of nodes: the part's number from 1; 0: outside */
    size_t *lowest;             /* of parts: the node */
};

/* ---- lines ---- */

static paritas_status follow_profiles(struct grid *grid)
{
    struct plane *plane = grid->plane;
    struct infer *infer = plane->infer;
    const size_t poi = infer->poi;
    grid->curves = infer_array(infer, 2, sizeof *grid->curves);
    TRY(infer_memory(infer));
    for (size_t j = 0; j < 2; j++) {
        infer->poi = plane->parameters[j];
        if (plane->profile->landscape) plane->profile->landscape->n_searched = 0; /* values of another one */
        profile_curve_open(&grid->curves[j], infer, plane->profile, plane->n_levels, plane->levels);
        TRY(profile_curve_follow(&grid->curves[j], 0, NULL));
    }
    infer->poi = poi;
    return PARITAS_OK;
}

/* Minima that either profile has met are nodes. */
static void add_minima(struct grid *grid)
{
    const struct plane *plane = grid->plane;
    const struct profile_curve *curves = grid->curves;
    for (size_t k = 0; k < 2; k++)
        for (size_t m = 0; m < curves[k].n_minima; m++) {
            const struct curve_minimum *at = &curves[k].minima[m];
            const double left = curves[k].top - (at->twice_nll - plane->profile->result.twice_nll);
            for (size_t j = 0; j < 2 && left > 0.0; j++)
                plane_lines_add(&grid->lines[j], curves[j].lower, curves[j].upper,
                                at->parameters[plane->parameters[j]], k == j ? at->error * sqrt(left) : 0.0);
        }
}

static paritas_status lay_lines(struct grid *grid, size_t gaps)
{
    struct infer *infer = grid->plane->infer;
    for (size_t j = 0; j < 2; j++) plane_lines_find(&grid->curves[j], gaps, &grid->lines[j]);
    add_minima(grid);
    grid->nx = grid->lines[0].n + 2;
    grid->ny = grid->lines[1].n + 2;
    const size_t n = grid->nx * grid->ny;
    grid->points = infer_array(infer, n, sizeof *grid->points);
    grid->inside = infer_array(infer, n, 1);
    grid->joined = infer_array(infer, n, 1);
    grid->parts = infer_array(infer, n, sizeof *grid->parts);
    grid->lowest = infer_array(infer, n + 1, sizeof *grid->lowest);
    return infer_memory(infer);
}

/* Correlated parameters have thin regions. */
static size_t first_gaps(const struct plane *plane)
{
    const size_t n = plane->infer->n_parameters, a = plane->parameters[0], b = plane->parameters[1],
                 gaps = search_model_is_small(plane->infer) ? GAPS : GAPS_LARGE;
    const double *c = plane->profile->covariance, both = c[a * n + a] * c[b * n + b],
                 left = 1.0 - c[a * n + b] * c[a * n + b] / both, thin = left > 0.0 ? sqrt(left) : 0.0;
    if (!(both > 0.0) || thin >= THIN) return gaps;
    return (size_t)fmin((double)gaps * THIN / fmax(thin, 1e-3), GAPS_MOST);
}

/* ---- nodes ---- */

static bool is_rim(const struct grid *grid, size_t node)
{
    const size_t i = node % grid->nx, j = node / grid->nx;
    return i == 0 || j == 0 || i + 1 == grid->nx || j + 1 == grid->ny;
}

/* The node next to one that is no rim: k is 0 to 3. */
static size_t beside(const struct grid *grid, size_t node, size_t k)
{
    const size_t step = k % 2 ? grid->nx : 1;
    return k < 2 ? node + step : node - step;
}

static struct infer_point point_at(const struct plane *plane, double x, double y)
{
    return (struct infer_point){.profile = plane->profile,
                                .k = 2,
                                .parameter = {plane->parameters[0], plane->parameters[1]},
                                .value = {x, y}};
}

static double q_of(const struct plane *plane, const struct infer_point *point)
{
    return point->status == PARITAS_FIT_CONVERGED ? point->twice_nll - plane->profile->result.twice_nll
                                                  : HUGE_VAL;
}

static paritas_status fit_pairs(struct infer *infer, size_t n, struct neighbour_pair *pairs)
{
    for (size_t i = 0; i < n; i += TOGETHER)
        TRY(neighbours_fit(infer, n - i < TOGETHER ? n - i : TOGETHER, pairs + i));
    return PARITAS_OK;
}

/* Nodes from the ends of neighbours that are not far outside, until none goes lower. */
static paritas_status sweep(struct grid *grid)
{
    struct infer *infer = grid->plane->infer;
    const size_t n = grid->nx * grid->ny;
    struct neighbour_pair *pairs = infer_array(infer, 4 * n, sizeof *pairs);
    unsigned char *fresh = infer_array(infer, n, 1);
    TRY(infer_memory(infer));
    const double near = grid->curves[0].top + MARGIN; /* beyond, a minimum does not go on below the level */
    if (!minimum_search_is_suspicious(infer)) return PARITAS_OK;
    memset(fresh, 1, n);
    for (int round = 0; round < SWEEPS_MOST; round++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 4 && fresh[i] && !is_rim(grid, i); k++) {
                const size_t to = beside(grid, i, k);
                if (is_rim(grid, to) || !(q_of(grid->plane, &grid->points[i]) <= near)) continue;
                pairs[m++] =
                    (struct neighbour_pair){&grid->points[i], &grid->points[i], &grid->points[to], false};
            }
        if (m == 0) break;
        memset(fresh, 0, n);
        TRY(fit_pairs(infer, m, pairs));
        for (size_t k = 0; k < m; k++)
            if (pairs[k].lowered) fresh[pairs[k].to - grid->points] = 1;
    }
    return PARITAS_OK;
}

/* Was the minimum met before, by this profile or the other? */
static bool is_repeated(const struct grid *grid, size_t k, size_t m)
{
    const struct curve_minimum *at = &grid->curves[k].minima[m];
    for (size_t i = 0; i <= k; i++)
        for (size_t j = 0; j < (i == k ? m : grid->curves[i].n_minima); j++) {
            bool same = true;
            for (size_t c = 0; c < 2; c++) {
                const size_t parameter = grid->plane->parameters[c];
                const double apart =
                    at->parameters[parameter] - grid->curves[i].minima[j].parameters[parameter];
                same = same && fabs(apart) <= SAME_PART * grid->curves[c].unit;
            }
            if (same && fabs(at->twice_nll - grid->curves[i].minima[j].twice_nll) <= SAME_PART) return true;
        }
    return false;
}

/* Each node of a small model from all known minima below the highest level: others are outside all over. */
static paritas_status start_at_minima(struct grid *grid)
{
    struct infer *infer = grid->plane->infer;
    const size_t n = grid->nx * grid->ny;
    if (!minimum_search_is_suspicious(infer) || !search_model_is_small(infer)) return PARITAS_OK;
    for (size_t k = 0; k < 2; k++)
        for (size_t m = 0; m < grid->curves[k].n_minima; m++) {
            const struct curve_minimum *at = &grid->curves[k].minima[m];
            const double q = at->twice_nll - grid->plane->profile->result.twice_nll;
            if (q > grid->curves[k].top || is_repeated(grid, k, m)) continue;
            struct infer_point from = {.twice_nll = 0.0, .parameters = at->parameters};
            struct neighbour_pair *pairs = infer_array(infer, n, sizeof *pairs);
            size_t n_pairs = 0;
            TRY(infer_memory(infer));
            for (size_t i = 0; i < n; i++)
                if (!is_rim(grid, i))
                    pairs[n_pairs++] =
                        (struct neighbour_pair){.from = &from, .other = &from, .to = &grid->points[i]};
            TRY(fit_pairs(infer, n_pairs, pairs));
        }
    return PARITAS_OK;
}

static paritas_status fit_nodes(struct grid *grid)
{
    struct plane *plane = grid->plane;
    struct infer *infer = plane->infer;
    const size_t n = grid->nx * grid->ny;
    struct infer_point *fits = infer_array(infer, n, sizeof *fits), *anchors[ANCHORS];
    size_t *places = infer_array(infer, n, sizeof *places), m = 0;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        if (is_rim(grid, i)) continue;
        places[m] = i;
        fits[m++] = point_at(plane, grid->lines[0].at[i % grid->nx - 1], grid->lines[1].at[i / grid->nx - 1]);
    }
    if (m == 0) return PARITAS_OK;
    for (size_t k = 0; k < m; k += TOGETHER)
        TRY(infer_points_once(infer, m - k < TOGETHER ? m - k : TOGETHER, fits + k));
    for (size_t k = 0; k < m; k++) grid->points[places[k]] = fits[k];
    const bool several = minimum_search_is_suspicious(infer);
    const size_t some = !search_model_is_small(infer) ? ANCHORS_LARGE : several ? ANCHORS : ANCHORS_FEW;
    for (size_t k = 0; k < some; k++) anchors[k] = &grid->points[places[k * (m - 1) / (some - 1)]];
    if (m >= some) TRY(minimum_search_run(infer, plane->profile, some, anchors));
    TRY(start_at_minima(grid));
    return sweep(grid);
}

/* A node below the best fit leads to a lower one. */
static paritas_status leave_best(struct grid *grid)
{
    struct plane *plane = grid->plane;
    const double same = same_minimum(plane->infer->context);
    const struct infer_point *lowest = NULL;
    double level = plane->profile->result.twice_nll - same;
    for (size_t i = 0; i < grid->nx * grid->ny; i++) {
        const struct infer_point *point = &grid->points[i];
        if (is_rim(grid, i) || point->status != PARITAS_FIT_CONVERGED || !(point->twice_nll < level))
            continue;
        level = point->twice_nll;
        lowest = point;
    }
    if (!lowest) return PARITAS_OK;
    struct infer_profile fit;
    TRY(infer_free_fit_from(plane->infer, plane->profile, lowest->parameters, &fit));
    if (fit.result.twice_nll <= level + same) *plane->profile = fit;
    return PARITAS_OK;
}

/* ---- edges ---- */

static struct outline outline_of(const struct grid *grid)
{
    return (struct outline){grid->nx, grid->ny, grid->inside, grid->joined};
}

static void mark_inside(struct grid *grid, double level)
{
    for (size_t i = 0; i < grid->nx * grid->ny; i++)
        grid->inside[i] = !is_rim(grid, i) && q_of(grid->plane, &grid->points[i]) <= level;
}

/* Cells with two parts at opposite corners: their middles say whether it is one. */
static paritas_status fit_saddles(struct grid *grid, double level)
{
    struct plane *plane = grid->plane;
    const struct outline outline = outline_of(grid);
    const size_t n = (grid->nx - 1) * (grid->ny - 1);
    struct infer_point *middles = infer_array(plane->infer, n, sizeof *middles);
    size_t *cells = infer_array(plane->infer, n, sizeof *cells), m = 0;
    TRY(infer_memory(plane->infer));
    memset(grid->joined, 0, n);
    for (size_t c = 0; c < n; c++) {
        if (!outline_is_saddle(&outline, c)) continue;
        const struct infer_point *low = &grid->points[c / (grid->nx - 1) * grid->nx + c % (grid->nx - 1)],
                                 *high = low + grid->nx + 1;
        cells[m] = c;
        middles[m++] =
            point_at(plane, 0.5 * (low->value[0] + high->value[0]), 0.5 * (low->value[1] + high->value[1]));
    }
    if (m == 0) return PARITAS_OK;
    TRY(infer_points_nearby(plane->infer, m, middles));
    for (size_t k = 0; k < m; k++) grid->joined[cells[k]] = q_of(plane, &middles[k]) <= level;
    return PARITAS_OK;
}

/* The ray on a line from an inner node to an outer one; a bound ends the part at an inner node. */
static struct ray ray_on(const struct grid *grid, double level, size_t inner, size_t outer)
{
    const struct infer_point *in = &grid->points[inner], *out = &grid->points[outer];
    const double q = fmax(q_of(grid->plane, in), 0.0);
    struct ray ray = {.from = {in->value[0], in->value[1]},
                      .wanted = host_sqrt(level),
                      .root_inner = host_sqrt(q),
                      .outer = 1.0,
                      .bound = 1.0,
                      .farthest = 1.0,
                      .searched = true,
                      .q = q,
                      .point = *in,
                      .beside = {in, out}};
    if (is_rim(grid, outer)) {
        ray.settled = ray.at_bound = true;
        return ray;
    }
    const double above = q_of(grid->plane, out);
    ray.root_outer = isfinite(above) ? host_sqrt(above) : HUGE_VAL;
    ray.failed = !isfinite(above);
    for (size_t j = 0; j < 2; j++) ray.along[j] = out->value[j] - in->value[j];
    return ray;
}

/* ---- curves ---- */

/* Numbers the parts of one level, and finds the lowest node of each. */
static paritas_status number_parts(struct grid *grid)
{
    const size_t n = grid->nx * grid->ny;
    size_t *stack = infer_array(grid->plane->infer, n, sizeof *stack), parts = 0;
    TRY(infer_memory(grid->plane->infer));
    memset(grid->parts, 0, n * sizeof *grid->parts);
    for (size_t first = 0; first < n; first++) {
        if (!grid->inside[first] || grid->parts[first]) continue;
        size_t left = 1;
        stack[0] = grid->lowest[++parts] = first;
        grid->parts[first] = parts;
        while (left > 0) {
            const size_t node = stack[--left];
            if (grid->points[node].twice_nll < grid->points[grid->lowest[parts]].twice_nll)
                grid->lowest[parts] = node;
            for (size_t k = 0; k < 4; k++) {
                const size_t next = beside(grid, node, k);
                if (!grid->inside[next] || grid->parts[next]) continue;
                grid->parts[next] = parts;
                stack[left++] = next;
            }
        }
    }
    return PARITAS_OK;
}

/* Twice the area to the left of the curve. */
static double area_of(const struct plane *plane, const struct plane_curve *curve)
{
    const struct ray *edges = plane->edges + curve->first;
    double area = 0.0;
    for (size_t i = 0; i < curve->n; i++) {
        const double *a = edges[i].point.value, *b = edges[(i + 1) % curve->n].point.value;
        const double *o = edges[0].point.value;
        area += (a[0] - o[0]) * (b[1] - o[1]) - (b[0] - o[0]) * (a[1] - o[1]);
    }
    return area;
}

/* The minimum to which a free fit leads from the lowest node of a part. */
static paritas_status find_minimum(const struct grid *grid, size_t part, struct plane_curve *curve)
{
    struct plane *plane = grid->plane;
    const struct infer_point *node = &grid->points[grid->lowest[part]];
    struct infer_profile fit;
    TRY(infer_free_fit_from(plane->infer, plane->profile, node->parameters, &fit));
    const bool lower = fit.result.status == PARITAS_FIT_CONVERGED && fit.result.twice_nll <= node->twice_nll;
    for (size_t j = 0; j < 2; j++)
        curve->minimum[j] = lower ? fit.parameters[plane->parameters[j]] : node->value[j];
    curve->q = fmax((lower ? fit.result.twice_nll : node->twice_nll) - plane->profile->result.twice_nll, 0.0);
    return PARITAS_OK;
}

/* Follows the lines of one level to closed curves. `rays`: of its lines, by `places` from 1. */
static paritas_status close_curves(struct grid *grid, size_t level, const struct ray *rays,
                                   const size_t *places)
{
    struct plane *plane = grid->plane;
    const struct outline outline = outline_of(grid);
    const size_t n = outline_lines(&outline);
    unsigned char *done = infer_array(plane->infer, n, 1);
    TRY(infer_memory(plane->infer));
    TRY(number_parts(grid));
    for (size_t line = 0; line < n; line++) {
        size_t inner, outer;
        if (!places[line] || done[line]) continue;
        struct plane_curve *curve = &plane->curves[plane->n_curves++];
        *curve = (struct plane_curve){.level = level, .first = plane->n_edges};
        outline_crossed(&outline, line, &inner, &outer);
        for (size_t at = line; !done[at]; at = outline_next(&outline, at), curve->n++) {
            done[at] = 1;
            plane->edges[plane->n_edges++] = rays[places[at] - 1];
        }
        curve->hole = area_of(plane, curve) < 0.0;
        TRY(find_minimum(grid, grid->parts[inner], curve));
    }
    return PARITAS_OK;
}

/* The crossed lines of all levels, in one list of rays. */
static paritas_status find_edges(struct grid *grid, struct rays *rays, size_t **places)
{
    struct plane *plane = grid->plane;
    const struct outline outline = outline_of(grid);
    const size_t n = outline_lines(&outline);
    rays->n = 0;
    rays->rays = infer_array(plane->infer, n * plane->n_levels, sizeof *rays->rays);
    *places = infer_array(plane->infer, n * plane->n_levels, sizeof **places);
    TRY(infer_memory(plane->infer));
    for (size_t k = 0; k < plane->n_levels; k++) {
        mark_inside(grid, plane->levels[k]);
        for (size_t line = 0; line < n; line++) {
            size_t inner, outer;
            if (!outline_crossed(&outline, line, &inner, &outer)) continue;
            rays->rays[rays->n++] = ray_on(grid, plane->levels[k], inner, outer);
            (*places)[k * n + line] = rays->n;
        }
    }
    return PARITAS_OK;
}

/* Each part has a minimum of its own. Two that lead to the same one are joined where no node is. */
static bool has_torn_part(const struct plane *plane)
{
    for (size_t i = 0; i < plane->n_curves; i++)
        for (size_t k = 0; k < i; k++) {
            const struct plane_curve *a = &plane->curves[i], *b = &plane->curves[k];
            bool same = a->level == b->level && !a->hole && !b->hole;
            for (size_t j = 0; j < 2 && same; j++) {
                const double error = plane->profile->errors[plane->parameters[j]];
                same = fabs(a->minimum[j] - b->minimum[j]) <= (error > 0.0 ? SAME_PART * error : 0.0);
            }
            if (same) return true;
        }
    return false;
}

/* All curves on lines with so many gaps through each part. */
static paritas_status trace(struct grid *grid, size_t gaps, bool *lowered)
{
    struct plane *plane = grid->plane;
    struct rays rays = {.infer = plane->infer, .profile = plane->profile, .parameters = plane->parameters};
    size_t *places;
    const double best = plane->profile->result.twice_nll - same_minimum(plane->infer->context);
    plane->n_curves = plane->n_edges = 0;
    TRY(lay_lines(grid, gaps));
    TRY(fit_nodes(grid));
    TRY(leave_best(grid));
    *lowered = plane->profile->result.twice_nll < best;
    if (*lowered) return PARITAS_OK;
    TRY(find_edges(grid, &rays, &places));
    TRY(rays_follow(&rays, lowered));
    if (*lowered) return PARITAS_OK;
    plane->edges = infer_array(plane->infer, rays.n + 1, sizeof *plane->edges);
    plane->curves = infer_array(plane->infer, rays.n + 1, sizeof *plane->curves);
    TRY(infer_memory(plane->infer));
    const struct outline outline = outline_of(grid);
    for (size_t k = 0; k < plane->n_levels; k++) {
        mark_inside(grid, plane->levels[k]);
        TRY(fit_saddles(grid, plane->levels[k]));
        TRY(close_curves(grid, k, rays.rays, places + k * outline_lines(&outline)));
    }
    return PARITAS_OK;
}

/* How many curves of each kind a level has: parts, then holes. */
static void count_curves(const struct plane *plane, size_t *counts)
{
    memset(counts, 0, 2 * plane->n_levels * sizeof *counts);
    for (size_t i = 0; i < plane->n_curves; i++) counts[2 * plane->curves[i].level + plane->curves[i].hole]++;
}

/* A small model is traced on finer lines until two traces have as many curves. */
paritas_status plane_follow(struct plane *plane, bool *lowered)
{
    struct grid grid = {.plane = plane};
    const double best = plane->profile->result.twice_nll - same_minimum(plane->infer->context);
    const size_t n = 2 * plane->n_levels;
    size_t *now = infer_array(plane->infer, n, sizeof *now),
           *before = infer_array(plane->infer, n, sizeof *now);
    TRY(infer_memory(plane->infer));
    TRY(follow_profiles(&grid));
    *lowered = plane->profile->result.twice_nll < best;
    bool sure = false;
    for (size_t gaps = first_gaps(plane); gaps <= GAPS_MOST && !sure && !*lowered; gaps *= 2) {
        TRY(trace(&grid, gaps, lowered));
        count_curves(plane, now);
        sure = !has_torn_part(plane) &&
               (memcmp(now, before, n * sizeof *now) == 0 || grid.nx * grid.ny > NODES_ENOUGH ||
                !search_model_is_small(plane->infer));
        memcpy(before, now, n * sizeof *now);
    }
    return PARITAS_OK;
}
