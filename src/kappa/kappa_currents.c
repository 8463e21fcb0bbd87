/* kappa_currents.c: single currents, by the kernels' text at width 1. */
#include "kappa/kappa.h"

#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "kappa/kappa_potential.h"

double paritas_photoelectron_current(double potential)
{
    return current_photoelectrons(potential);
}

double paritas_photoelectron_potential(double current)
{
    double status;
    const double potential = potential_in_sun(current, &status);
    return status == CHARGING_FOUND ? potential : __builtin_nan("");
}

double paritas_secondary_yield(double energy)
{
    return energy == energy ? current_yield(energy) : energy;
}

double paritas_electron_current(const paritas_kappa_plasma *plasma, double lower, double upper)
{
    if (!kappa_plasma_is_valid(plasma) || !(lower >= 0.0 && lower <= upper)) return __builtin_nan("");
    const double most = 1e300; /* nothing is left there */
    return current_electrons(current_plasma_at(plasma->density, plasma->kappa, plasma->theta, 0.0), lower,
                             upper < most ? upper : most);
}
