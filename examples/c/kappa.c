/* A plasma's spectrum, fitted, and the potential that its currents give a spacecraft in sunlight and in
 * shade. */
#include <paritas_kappa.h>
#include <stdio.h>

#define ROWS PARITAS_SWEEP_ROWS

int main(void)
{
    const paritas_kappa_plasma truth = {2e6, 4.0, 3e6}; /* 2 electrons a cm^3 */
    double energy[ROWS], flux[ROWS], sensitivity[ROWS];
    for (int i = 0; i < ROWS; i++) {
        energy[i] = i > 0 ? 1.54 * energy[i - 1] : 40.0;
        sensitivity[i] = 0.05 * energy[i] / 40.0; /* counts behind a flux of 1 */
    }
    paritas_context *context = NULL;
    paritas_kappa_options options = PARITAS_KAPPA_OPTIONS_DEFAULT;
    paritas_kappa_result fit = PARITAS_INIT(paritas_kappa_result);
    paritas_potential potentials[2] = {PARITAS_INIT(paritas_potential)};
    options.response = 0.0; /* these fluxes are not folded with the channels' width */
    const paritas_spectra spectrum = {
        .size = sizeof spectrum, .n = 1, .energy = energy, .flux = flux, .sensitivity = sensitivity};
    int failed = paritas_open(NULL, &context) || paritas_kappa_flux(context, 1, &truth, ROWS, energy, flux) ||
                 paritas_kappa_fit(context, &spectrum, &options, &fit);
    if (!failed) {
        printf("%s: density %.3g +- %.2g /m^3, kappa %.3f +- %.3f, temperature %.2f +- %.2f eV\n",
               paritas_spectrum_status_name(fit.status), fit.density, fit.density_error, fit.kappa,
               fit.kappa_error, fit.temperature, fit.temperature_error);
        const paritas_kappa_plasma found = {fit.density, fit.kappa, fit.theta}, plasma[2] = {found, found};
        const unsigned char sunlit[2] = {1, 0};
        failed =
            paritas_spacecraft_potential(context, 2, plasma, NULL, sunlit, NULL, potentials) != PARITAS_OK;
        for (int k = 0; k < 2 && !failed; k++)
            printf("%s: %s, %.2f V\n", sunlit[k] ? "in sunlight" : "in shade",
                   paritas_potential_status_name(potentials[k].status), potentials[k].potential);
    }
    if (failed) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "no context");
    paritas_close(context);
    return failed ? 1 : 0;
}
