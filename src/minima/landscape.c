/* landscape.c: the minima of one data set. They move continuously with the parameter of interest. */
#include "minima/landscape.h"

#include <math.h>
#include <string.h>

paritas_status landscape_open(struct infer *infer, struct infer_profile *profile)
{
    if (!profile->landscape) profile->landscape = infer_array(infer, 1, sizeof *profile->landscape);
    return infer_memory(infer);
}

/* Where a target stands. NaN: not on the line. */
static double value_of(const struct search *search, const struct target *s)
{
    const size_t poi = search->infer->poi;
    if (!s->point) return poi < search->infer->n_parameters ? s->parameters[poi] : (double)NAN;
    return s->point->k == 1 && s->point->parameter[0] == poi ? s->point->value[0] : (double)NAN;
}

/* Finds the station or makes one. NULL: there is no room. */
static struct station *station_at(struct landscape *landscape, double value)
{
    size_t at = 0;
    while (at < landscape->n && landscape->stations[at].value < value) at++;
    struct station *station = &landscape->stations[at];
    if (at < landscape->n && station->value == value) return station;
    if (landscape->n == STATIONS_MOST) return NULL;
    memmove(station + 1, station, (landscape->n++ - at) * sizeof *station);
    *station = (struct station){.value = value};
    return station;
}

void landscape_take(struct search *search)
{
    struct landscape *landscape = search->profile->landscape;
    for (size_t i = 0; i < search->n; i++) {
        const struct target *s = &search->targets[i];
        const size_t within = search_minima_within(s);
        const double value = value_of(search, s);
        landscape->several = landscape->several || within > 1;
        if (isnan(value) || within == 0) continue;
        struct station *station = station_at(landscape, value);
        if (!station) continue;
        station->n = within < STATION_ENDS ? within : STATION_ENDS;
        memcpy(station->ends, s->ends, station->n * sizeof *station->ends);
    }
}

size_t landscape_starts(const struct landscape *landscape, double value, const double **starts)
{
    size_t after = 0, n = 0;
    while (after < landscape->n && landscape->stations[after].value < value) after++;
    for (size_t side = 0; side < 2; side++) {
        const size_t at = after - 1 + side; /* before the first: beyond the last */
        for (size_t k = 0; at < landscape->n && k < landscape->stations[at].n; k++)
            starts[n++] = landscape->stations[at].ends[k].parameters;
    }
    return n;
}
