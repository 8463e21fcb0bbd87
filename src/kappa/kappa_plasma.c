/* kappa_plasma.c: kappa distributions; single numbers by the kernels' text at width 1. */
#include "base/context.h"
#include "fit/batch.h"
#include "kappa/kappa.h"

#include <math.h>
#include <string.h>

#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "kappa/kappa_distribution.h"
#include "kappa/kappa_response.h"

double kappa_log_normalisation(double kappa)
{
    return m_log(kappa_normalise(kappa).value);
}
double kappa_log_thermal_energy(double theta)
{
    return m_log(kappa_thermal_energy(theta));
}
double kappa_speed(double energy)
{
    return kappa_thermal_speed(energy);
}

/* sigma = asinh(w / 2) / sqrt(2 ln 2): a channel of width w spans E exp(-h) to E exp(h), sinh h = w / 2 */
double kappa_sharpness(double response)
{
    const double half = 0.5 * response, h = m_log(half + SQRT(half * half + 1.0));
    return 0.69314718055994530942 / (h * h);
}

bool kappa_plasma_is_valid(const paritas_kappa_plasma *p)
{
    return p->density >= 1.0 && p->density <= 1e15 && p->kappa > 1.5 && p->kappa <= KAPPA_MOST &&
           p->theta >= THETA_LEAST && p->theta <= THETA_MOST;
}

double paritas_kappa_temperature(double kappa, double theta)
{
    return kappa > 1.5 && theta > 0.0 ? kappa_temperature(kappa, theta) : (double)NAN;
}
double paritas_kappa_theta(double kappa, double temperature)
{
    return kappa > 1.5 && temperature > 0.0 ? kappa_theta_of(kappa, temperature) : (double)NAN;
}

struct fluxes {
    const paritas_kappa_plasma *plasma;
    const double *energy;
    double *flux;
    size_t n_energies;
};

static paritas_status fill_fluxes(paritas_context *context, void *user, size_t at, size_t n, double *in)
{
    const struct fluxes *f = user;
    (void)context;
    for (size_t k = 0; k < n; k++) {
        double *row = in + k * (3 + f->n_energies);
        row[0] = f->plasma[at + k].density;
        row[1] = f->plasma[at + k].kappa;
        row[2] = f->plasma[at + k].theta;
        memcpy(row + 3, f->energy, f->n_energies * sizeof *row);
    }
    return PARITAS_OK;
}

static paritas_status take_fluxes(paritas_context *context, void *user, size_t at, size_t n,
                                  const double *out)
{
    const struct fluxes *f = user;
    (void)context;
    memcpy(f->flux + at * f->n_energies, out, n * f->n_energies * sizeof *out);
    return PARITAS_OK;
}

static paritas_status check_energies(paritas_context *context, size_t n, const double *energy)
{
    for (size_t i = 0; i < n; i++)
        if (!(energy[i] > 0.0 && energy[i] <= 1e9))
            return paritas_refuse(context, "energy[%zu]: %g eV; must be above 0, at most 1e9", i, energy[i]);
    return PARITAS_OK;
}

paritas_status paritas_kappa_flux(paritas_context *context, size_t n, const paritas_kappa_plasma *plasma,
                                  size_t n_energies, const double *energy, double *flux)
{
    if (n > 0 && n_energies > 0) REQUIRE(context, plasma, energy, flux);
    if (n == 0 || n_energies == 0) return PARITAS_OK;
    const paritas_status status = check_energies(context, n_energies, energy);
    if (status != PARITAS_OK) return status;
    if (n_energies > (1u << 20))
        return paritas_refuse(context, "n_energies: %zu; at most %u", n_energies, 1u << 20);
    for (size_t k = 0; k < n; k++)
        if (!kappa_plasma_is_valid(&plasma[k]))
            return paritas_refuse(
                context,
                "plasma[%zu]: density %g, kappa %g, theta %g; must be from 1 to 1e15, above "
                "1.5 and at most %g, from %g to %g",
                k, plasma[k].density, plasma[k].kappa, plasma[k].theta, KAPPA_MOST, THETA_LEAST, THETA_MOST);
    struct fluxes fluxes = {plasma, energy, flux, n_energies};
    const struct batch batch = {.module = &paritas_module_kappa,
                                .entry = ENTRY_kappa_flux,
                                .n_in = 3 + n_energies,
                                .n_out = n_energies,
                                .slab = 8,
                                .args = {[KAPPA_ARG_COUNT] = (uint32_t)n_energies},
                                .fill = fill_fluxes,
                                .take = take_fluxes,
                                .user = &fluxes};
    return batch_run(context, context->device, &batch, n);
}

paritas_status paritas_kappa_response(paritas_context *context, double response, size_t n_energies,
                                      const double *energy, double *matrix)
{
    if (n_energies > 0) REQUIRE(context, energy, matrix);
    if (n_energies == 0) return PARITAS_OK;
    if (!(response > 0.0 && response <= 10.0))
        return paritas_refuse(context, "response: %g; must be above 0, at most 10", response);
    const paritas_status status = check_energies(context, n_energies, energy);
    if (status != PARITAS_OK) return status;
    const double sharpness = kappa_sharpness(response);
    for (size_t i = 0; i < n_energies; i++) {
        double sum = 0.0, *row = matrix + i * n_energies;
        for (size_t j = 0; j < n_energies; j++) {
            row[j] = response_weight(m_log(energy[i]) - m_log(energy[j]), sharpness);
            sum += row[j];
        }
        for (size_t j = 0; j < n_energies; j++) row[j] /= sum;
    }
    return PARITAS_OK;
}
