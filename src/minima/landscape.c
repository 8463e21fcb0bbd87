/* landscape.c: the minima of one data set. They move continuously with the parameters that are held. */
#include "minima/landscape.h"

#include <math.h>
#include <string.h>

paritas_status landscape_open(struct infer *infer, struct infer_profile *profile)
{
    if (!profile->landscape) profile->landscape = infer_array(infer, 1, sizeof *profile->landscape);
    return infer_memory(infer);
}

/* ---- taking ---- */

static bool is_at(const struct station *station, const struct infer_point *point)
{
    if (station->k != (point ? point->k : 0)) return false;
    for (size_t j = 0; j < station->k; j++)
        if (station->parameter[j] != point->parameter[j] || station->value[j] != point->value[j])
            return false;
    return true;
}

/* Finds the station or makes one. NULL: there is no room. */
static struct station *station_of(struct landscape *landscape, const struct infer_point *point)
{
    for (size_t i = 0; i < landscape->n; i++)
        if (is_at(&landscape->stations[i], point)) return &landscape->stations[i];
    if (landscape->n == STATIONS_MOST) return NULL;
    struct station *station = &landscape->stations[landscape->n++];
    *station = (struct station){.k = point ? point->k : 0};
    for (size_t j = 0; j < station->k; j++) {
        station->parameter[j] = point->parameter[j];
        station->value[j] = point->value[j];
    }
    return station;
}

void landscape_take(struct search *search)
{
    struct landscape *landscape = search->profile->landscape;
    landscape->free_tried += search->targets[0].n_tried;
    landscape->free_ended += search->targets[0].n_ended;
    for (size_t i = 0; i < search->n; i++) {
        const struct target *s = &search->targets[i];
        const size_t within = search_minima_within(s);
        landscape->several = landscape->several || within > 1 || (s->lower && s->had_end);
        if (!s->point && within > landscape->n_free) {
            landscape->n_free = within;
            memcpy(landscape->free, s->ends, within * sizeof *s->ends);
        }
        if (within == 0 || (s->point && s->point->k > STATION_HELD)) continue;
        struct station *station = station_of(landscape, s->point);
        if (!station) continue;
        station->n = within < STATION_ENDS ? within : STATION_ENDS;
        memcpy(station->ends, s->ends, station->n * sizeof *station->ends);
    }
}

/* ---- giving ---- */

/* Does it hold what the point holds? The free fit stands where it ended. */
static bool is_alike(const struct station *station, const struct infer_point *point)
{
    if (station->k == 0) return true;
    if (station->k != point->k) return false;
    for (size_t j = 0; j < station->k; j++)
        if (station->parameter[j] != point->parameter[j]) return false;
    return true;
}

static double value_at(const struct station *station, const struct infer_point *point, size_t j)
{
    return station->k == 0 ? station->ends[0].parameters[point->parameter[j]] : station->value[j];
}

/* The squared distance of two values in errors of the free fit. */
static double distance(const struct infer_profile *profile, const struct station *station,
                       const struct infer_point *point)
{
    double sum = 0.0;
    for (size_t j = 0; j < point->k; j++) {
        const double error = profile->errors[point->parameter[j]],
                     apart = (value_at(station, point, j) - point->value[j]) / (error > 0.0 ? error : 1.0);
        sum += apart * apart;
    }
    return sum;
}

/* The nearest station; of a line, on one side of the point (-1, 1; 0: on any). NULL: there is none. */
static const struct station *nearest(const struct infer_profile *profile, const struct infer_point *point,
                                     int side, const struct station *other)
{
    const struct landscape *landscape = profile->landscape;
    const struct station *found = NULL;
    double least = HUGE_VAL;
    for (size_t i = 0; i < landscape->n; i++) {
        const struct station *station = &landscape->stations[i];
        if (station == other || !is_alike(station, point) || is_at(station, point)) continue;
        if (side && (value_at(station, point, 0) < point->value[0] ? -1 : 1) != side) continue;
        const double apart = distance(profile, station, point);
        if (!(apart < least)) continue;
        least = apart;
        found = station;
    }
    return found;
}

const struct station *landscape_free_fit(const struct landscape *landscape)
{
    for (size_t i = 0; i < landscape->n; i++)
        if (landscape->stations[i].k == 0) return &landscape->stations[i];
    return NULL;
}

size_t landscape_starts(const struct infer *infer, const struct infer_profile *profile,
                        const struct infer_point *point, const double **starts)
{
    const struct landscape *landscape = profile->landscape;
    const bool line = point->k == 1;
    const struct station *from[3] = {nearest(profile, point, line ? -1 : 0, NULL), NULL, NULL};
    size_t n = 0;
    from[1] = nearest(profile, point, line ? 1 : 0, line ? NULL : from[0]);
    if (!(line && point->parameter[0] == infer->poi)) from[2] = landscape_free_fit(landscape);
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0;
             from[j] && k < from[j]->n && !(j == 2 && (from[0] == from[2] || from[1] == from[2])); k++)
            starts[n++] = from[j]->ends[k].parameters;
    return n;
}
