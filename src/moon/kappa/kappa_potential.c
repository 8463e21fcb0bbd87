/* kappa_potential.c: batches of currents and potentials of spacecraft. */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "fit/batch.h"
#include "kappa/kappa_charging.h"
#include "moon/kappa/kappa.h"

#include <math.h>
#include <string.h>

static paritas_status check_interval(paritas_context *context, const char *name, double lower, double upper)
{
    if (lower < upper) return PARITAS_OK;
    return paritas_refuse(context, "options: `%s_lower` %g and `%s_upper` %g are no interval", name, lower,
                          name, upper);
}

paritas_status potential_options_read(paritas_context *context, const paritas_potential_options *given,
                                      paritas_potential_options *options)
{
    *options = (paritas_potential_options)PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_potential_options, "options", given, options));
    TRY(check_interval(context, "sun", options->sun_lower, options->sun_upper));
    return check_interval(context, "shade", options->shade_lower, options->shade_upper);
}

static void options_table(const paritas_potential_options *options, double *reals)
{
    memset(reals, 0, CHARGING_REALS * sizeof *reals);
    reals[CHARGING_SUN_LOWER] = options->sun_lower;
    reals[CHARGING_SUN_UPPER] = options->sun_upper;
    reals[CHARGING_SHADE_LOWER] = options->shade_lower;
    reals[CHARGING_SHADE_UPPER] = options->shade_upper;
    reals[CHARGING_SECONDARY_ENERGY] = options->secondary_energy;
    const double least = 1.0, most = 20000.0;
    for (int i = 0; i < CHARGING_GRID_SIZE; i++) {
        const int inner = i > 0 && i < CHARGING_GRID_ENERGIES - 1;
        reals[CHARGING_GRID + i] = inner ? host_exp(host_log(most) * (double)i / (CHARGING_GRID_ENERGIES - 1))
                                   : i   ? most
                                         : least;
    }
}

/* Fills `reals`, the options as the kernels read them. */
static struct batch batch_of(const paritas_potential_options *options, double reals[CHARGING_REALS])
{
    options_table(options, reals);
    const bool sums = options->currents == PARITAS_CURRENTS_SUMS;
    struct batch batch = {.module = &paritas_module_kappa, .tables = {NULL, reals, 0, CHARGING_REALS}};
    batch.args[CHARGING_ARG_RULE] = sums ? CHARGING_SUMS : CHARGING_CONVERGED;
    batch.slab = sums ? CHARGING_SLAB_SUMS : CHARGING_SLAB_CONVERGED;
    return batch;
}

/* Marks an invalid distribution for the kernels. */
static void put_plasma(const paritas_kappa_plasma *plasma, double *in)
{
    const bool valid = kappa_plasma_is_valid(plasma);
    in[CHARGING_DENSITY] = valid ? plasma->density : 0.0;
    in[CHARGING_KAPPA] = valid ? plasma->kappa : 0.0;
    in[CHARGING_THETA] = valid ? plasma->theta : 0.0;
}

struct currents_run {
    const paritas_kappa_plasma *plasma;
    size_t n_potentials;
    double *currents;
};

static void fill_plasma(const void *user, size_t job, double *row)
{
    const struct currents_run *run = user;
    put_plasma(&run->plasma[job], row);
}

static void take_currents(const void *user, size_t job, const double *answer)
{
    const struct currents_run *run = user;
    double *to = run->currents + job * run->n_potentials * 3;
    for (size_t i = 0; i < run->n_potentials; i++, answer += CURRENTS_SIZE)
        for (size_t c = 0; c < 3; c++) *to++ = answer[CURRENTS_KNOWN] > 0.0 ? answer[c] : NAN;
}

paritas_status paritas_shade_currents(paritas_context *context, size_t n, const paritas_kappa_plasma *plasma,
                                      const paritas_potential_options *given, size_t n_potentials,
                                      const double *potentials, double *currents)
{
    if (n > 0 && n_potentials > 0) REQUIRE(context, plasma, potentials, currents);
    paritas_potential_options options;
    TRY(potential_options_read(context, given, &options));
    if (n == 0 || n_potentials == 0) return PARITAS_OK;
    for (size_t i = 0; i < n_potentials; i++)
        if (!(potentials[i] >= -1e9 && potentials[i] <= 1e9))
            return paritas_refuse(context, "potentials[%zu]: %g does not lie between -1e9 and 1e9 V", i,
                                  potentials[i]);
    double reals[CHARGING_REALS];
    struct currents_run run = {plasma, n_potentials, currents};
    struct batch batch = batch_of(&options, reals);
    batch.entry = ENTRY_kappa_currents;
    batch.n_in = CHARGING_PLASMA;
    batch.n_out = CURRENTS_SIZE * n_potentials;
    batch.n_shared = n_potentials;
    batch.shared = potentials;
    batch.args[CHARGING_ARG_POTENTIALS] = (uint32_t)n_potentials;
    batch.fill = fill_plasma;
    batch.take = take_currents;
    batch.user = &run;
    return batch_run(context, context->device, &batch, n);
}

struct potentials_run {
    const paritas_kappa_plasma *plasma;
    const double *covariance;
    const unsigned char *sunlit;
    paritas_potential *results;
};

static void fill_job(const void *user, size_t job, double *row)
{
    const struct potentials_run *run = user;
    put_plasma(&run->plasma[job], row);
    row[CHARGING_SUNLIT] = run->sunlit[job] ? 1.0 : 0.0;
}

paritas_potential potential_unknown(paritas_potential_status status, unsigned sunlit, double shift)
{
    const double none = NAN;
    return (paritas_potential){.size = sizeof(paritas_potential),
                               .status = status,
                               .sunlit = sunlit,
                               .potential = none,
                               .error = none,
                               .ambiguity = none,
                               .shift = shift,
                               .second = none,
                               .temperature = none,
                               .electrons = none,
                               .emitted = none,
                               .ions = none};
}

/* g^T C g, g: derivatives of the potential. */
static double error_of(const double *covariance, const double *g)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += g[i] * covariance[3 * i + j] * g[j];
    return sum >= 0.0 ? host_sqrt(sum) : NAN;
}

static void take_potential(const void *user, size_t job, const double *answer)
{
    const struct potentials_run *run = user;
    const paritas_kappa_plasma *plasma = &run->plasma[job];
    paritas_potential *result = &run->results[job];
    *result =
        potential_unknown((paritas_potential_status)(int)answer[CHARGING_STATUS], run->sunlit[job] != 0, 0.0);
    if (result->status != PARITAS_POTENTIAL_FOUND) return;
    result->potential = answer[CHARGING_POTENTIAL];
    result->ambiguity = 0.0;
    if (run->covariance) result->error = error_of(run->covariance + 9 * job, answer + CHARGING_BY_DENSITY);
    if (answer[CHARGING_HAS_SECOND] > 0.0) result->second = answer[CHARGING_SECOND];
    result->temperature = paritas_kappa_temperature(plasma->kappa, plasma->theta) +
                          (result->sunlit ? 0.0 : result->potential / (plasma->kappa - 1.5));
    result->electrons = answer[CHARGING_ELECTRONS];
    result->emitted = answer[CHARGING_EMITTED];
    result->ions = answer[CHARGING_IONS];
}

paritas_status paritas_spacecraft_potential(paritas_context *context, size_t n,
                                            const paritas_kappa_plasma *plasma, const double *covariance,
                                            const unsigned char *sunlit,
                                            const paritas_potential_options *given,
                                            paritas_potential *results)
{
    if (n > 0) REQUIRE(context, plasma, sunlit, results);
    paritas_potential_options options;
    TRY(potential_options_read(context, given, &options));
    TRY(SIZED_CHECK(context, paritas_potential, "results", n, results));
    if (n == 0) return PARITAS_OK;
    double reals[CHARGING_REALS];
    struct potentials_run run = {plasma, covariance, sunlit, results};
    struct batch batch = batch_of(&options, reals);
    batch.entry = ENTRY_kappa_potential;
    batch.n_in = CHARGING_JOB;
    batch.n_out = CHARGING_ANSWER;
    batch.fill = fill_job;
    batch.take = take_potential;
    batch.user = &run;
    return batch_run(context, context->device, &batch, n);
}
