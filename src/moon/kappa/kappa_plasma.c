/* kappa_plasma.c: kappa distributions and currents; single numbers by the kernels' text at width 1. */
#include "base/context.h"
#include "fit/batch.h"
#include "moon/kappa/kappa.h"

#include <math.h>
#include <string.h>

#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "kappa/kappa_potential.h"
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

paritas_status kappa_plasma_check(paritas_context *context, const char *name, size_t k,
                                  const paritas_kappa_plasma *p)
{
    if (kappa_plasma_is_valid(p)) return PARITAS_OK;
    return paritas_refuse(context,
                          "%s[%zu]: density %g, kappa %g, theta %g; must be from 1 to 1e15, above 1.5 and at "
                          "most %g, from %g to %g",
                          name, k, p->density, p->kappa, p->theta, KAPPA_MOST, THETA_LEAST, THETA_MOST);
}

double paritas_kappa_temperature(double kappa, double theta)
{
    return kappa > 1.5 && theta > 0.0 ? kappa_temperature(kappa, theta) : NAN;
}
double paritas_kappa_theta(double kappa, double temperature)
{
    return kappa > 1.5 && temperature > 0.0 ? kappa_theta_of(kappa, temperature) : NAN;
}

struct fluxes {
    const paritas_kappa_plasma *plasma;
    const double *energy;
    double *flux;
    size_t n_energies;
};

static void fill_fluxes(const void *user, size_t job, double *row)
{
    const struct fluxes *f = user;
    row[0] = f->plasma[job].density;
    row[1] = f->plasma[job].kappa;
    row[2] = f->plasma[job].theta;
    memcpy(row + 3, f->energy, f->n_energies * sizeof *row);
}

static void take_fluxes(const void *user, size_t job, const double *answer)
{
    const struct fluxes *f = user;
    memcpy(f->flux + job * f->n_energies, answer, f->n_energies * sizeof *answer);
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
    TRY(check_energies(context, n_energies, energy));
    if (n_energies > (1u << 20))
        return paritas_refuse(context, "n_energies: %zu; at most %u", n_energies, 1u << 20);
    for (size_t k = 0; k < n; k++) TRY(kappa_plasma_check(context, "plasma", k, &plasma[k]));
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
    TRY(check_energies(context, n_energies, energy));
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

double paritas_photoelectron_current(double potential)
{
    return current_photoelectrons(potential);
}

double paritas_photoelectron_potential(double current)
{
    double status;
    const double potential = potential_in_sun(current, &status);
    return status == CHARGING_FOUND ? potential : NAN;
}

double paritas_secondary_yield(double energy)
{
    return energy == energy ? current_yield(energy) : energy;
}

double paritas_electron_current(const paritas_kappa_plasma *plasma, double lower, double upper)
{
    GIVEN(NAN, plasma);
    if (!kappa_plasma_is_valid(plasma) || !(lower >= 0.0 && lower <= upper)) return NAN;
    const double most = 1e300; /* nothing is left there */
    const kappa_plasma p = {plasma->density, plasma->kappa, plasma->theta};
    return current_electrons(current_plasma_at(p, 0.0), lower, upper < most ? upper : most);
}
