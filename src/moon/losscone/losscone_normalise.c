/* losscone_normalise.c: normalised fluxes and masks, on the host. */
#include "base/math/host_math.h"
#include "moon/losscone/losscone.h"

#include <math.h>

#define LILLIS_LEAST 0.07 /* of the largest incident flux */
#define LILLIS_MOST 0.79

static bool is_flux(double x)
{
    return x > 0.0 && isfinite(x);
}

/* 0 without valid incident cells. */
static double norm_of(paritas_normalisation normalisation, size_t cells, const double *cosine,
                      const double *flux)
{
    double sum = 0.0, most = 0.0;
    unsigned n = 0;
    for (size_t j = 0; j < cells; j++) {
        if (!(cosine[j] > 0.0 && is_flux(flux[j]))) continue;
        sum += flux[j];
        most = flux[j] > most ? flux[j] : most;
        n++;
    }
    if (n == 0) return 0.0;
    return normalisation == PARITAS_NORMALISATION_MAX ? most : sum / n;
}

static void divide(size_t cells, const double *flux, double norm, double *normalised)
{
    for (size_t j = 0; j < cells; j++) normalised[j] = norm > 0.0 ? flux[j] / norm : NAN;
}

/* Reflected cells by the incident one at the mirrored pitch angle, the first of equals. Incident cells and
 * the one next to 90 degrees become 1. */
static void divide_pairs(size_t cells, const double *cosine, const double *flux, double *normalised)
{
    double angle[PARITAS_SWEEP_CELLS_MOST], found[PARITAS_SWEEP_CELLS_MOST];
    size_t incident[PARITAS_SWEEP_CELLS_MOST], n = 0, middle = cells;
    for (size_t j = 0; j < cells; j++) {
        found[j] = NAN;
        angle[j] = host_acos_degrees(losscone_cosine(cosine[j]));
        if (!isfinite(angle[j])) continue;
        if (middle == cells || fabs(angle[j] - 90.0) < fabs(angle[middle] - 90.0)) middle = j;
        if (cosine[j] > 0.0 && is_flux(flux[j])) incident[n++] = j;
    }
    unsigned reflected = 0;
    for (size_t j = 0; j < cells && n > 0; j++) {
        if (!isfinite(angle[j])) continue;
        if (cosine[j] > 0.0) {
            if (is_flux(flux[j])) found[j] = 1.0;
            continue;
        }
        reflected++;
        if (!is_flux(flux[j])) continue;
        size_t nearest = incident[0];
        for (size_t k = 1; k < n; k++)
            if (fabs(angle[incident[k]] - (180.0 - angle[j])) < fabs(angle[nearest] - (180.0 - angle[j])))
                nearest = incident[k];
        found[j] = flux[j] / flux[nearest];
    }
    if (reflected > 0 && n > 0) found[middle] = 1.0;
    for (size_t j = 0; j < cells; j++) normalised[j] = reflected > 0 ? found[j] : NAN;
}

paritas_status paritas_losscone_normalise(paritas_context *context, size_t n, const paritas_sweep_grid *given,
                                          paritas_normalisation normalisation, const double *cosine,
                                          const double *flux, double *normalised)
{
    const struct losscone_grid *grid;
    size_t rows, cells;
    TRY(losscone_grid_given(context, given, &rows, &cells, &grid));
    if (n > 0) REQUIRE(context, cosine, flux, normalised);
    if ((unsigned)normalisation > PARITAS_NORMALISATION_PAIRS)
        return paritas_refuse(context, "normalisation %d: there is none of this number", (int)normalisation);
    for (size_t cell = 0; cell < n * rows * cells; cell += cells) {
        if (normalisation == PARITAS_NORMALISATION_PAIRS)
            divide_pairs(cells, cosine + cell, flux + cell, normalised + cell);
        else
            divide(cells, flux + cell, norm_of(normalisation, cells, cosine + cell, flux + cell),
                   normalised + cell);
    }
    return PARITAS_OK;
}

paritas_status paritas_losscone_mask(paritas_context *context, size_t n, const paritas_sweep_grid *given,
                                     paritas_losscone_method method, const double *cosine, const double *flux,
                                     double *normalised)
{
    const struct losscone_grid *grid;
    size_t rows, cells;
    TRY(losscone_grid_given(context, given, &rows, &cells, &grid));
    if (n > 0) REQUIRE(context, cosine, flux, normalised);
    if ((unsigned)method > PARITAS_LOSSCONE_METHOD_AUTO)
        return paritas_refuse(context, "method %d: there is none of this number", (int)method);
    for (size_t cell = 0; cell < n * rows * cells; cell += cells) {
        double most = 0.0;
        for (size_t j = cell; j < cell + cells; j++)
            if (cosine[j] > 0.0 && is_flux(flux[j]) && flux[j] > most) most = flux[j];
        for (size_t j = cell; j < cell + cells; j++) {
            bool taken = is_flux(normalised[j]);
            if (method == PARITAS_LOSSCONE_METHOD_LILLIS)
                taken = taken && most > 0.0 && is_flux(flux[j]) && flux[j] / most > LILLIS_LEAST &&
                        flux[j] / most < LILLIS_MOST;
            if (!taken) normalised[j] = NAN;
        }
    }
    return PARITAS_OK;
}
