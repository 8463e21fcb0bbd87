# paritas_kappa.h, as far as the engine calls it.
from paritas_h cimport paritas_context, paritas_status

cdef extern from "paritas_kappa.h" nogil:
    """
    static const paritas_kappa_options kappa_default = PARITAS_KAPPA_OPTIONS_DEFAULT;
    static const paritas_potential_options potential_default = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    static const paritas_cells cells_default = PARITAS_CELLS_DEFAULT;
    """
    enum:
        PARITAS_SWEEP_ROWS
        PARITAS_SWEEP_CELLS
    ctypedef enum paritas_kappa_weights:
        PARITAS_KAPPA_WEIGHTS_COUNTS
        PARITAS_KAPPA_WEIGHTS_ORIGINAL
    ctypedef enum paritas_kappa_density:
        PARITAS_KAPPA_DENSITY_FITTED
    ctypedef enum paritas_spectrum_status:
        PARITAS_SPECTRUM_FITTED
    ctypedef enum paritas_currents:
        PARITAS_CURRENTS_CONVERGED
    ctypedef enum paritas_potential_status:
        PARITAS_POTENTIAL_FOUND
    ctypedef struct paritas_kappa_plasma:
        double density
        double kappa
        double theta
    ctypedef struct paritas_cells:
        size_t size
        const double *theta
        const double *solid_angle
        double geometric_factor
        double accumulation
    const paritas_cells cells_default
    ctypedef struct paritas_kappa_options:
        size_t size
        paritas_kappa_weights weights
        paritas_kappa_density density
        double response
        double systematic
        double dead
        double kappa_lower
        double kappa_upper
        double theta_lower
        double theta_upper
        unsigned max_iterations
    const paritas_kappa_options kappa_default
    ctypedef struct paritas_potential_options:
        size_t size
        paritas_currents currents
        double sun_lower
        double sun_upper
        double shade_lower
        double shade_upper
        double secondary_energy
        unsigned refits
        int liouville
    const paritas_potential_options potential_default
    ctypedef struct paritas_spectra:
        size_t n
        const double *energy
        const double *flux
        const double *sensitivity
        const double *counts
    ctypedef struct paritas_kappa_result:
        pass
    ctypedef struct paritas_potential:
        pass

    const char *paritas_kappa_weights_name(paritas_kappa_weights weights)
    const char *paritas_kappa_density_name(paritas_kappa_density density)
    const char *paritas_spectrum_status_name(paritas_spectrum_status status)
    const char *paritas_currents_name(paritas_currents currents)
    const char *paritas_potential_status_name(paritas_potential_status status)
    paritas_status paritas_kappa_flux(paritas_context *context, size_t n, const paritas_kappa_plasma *plasma, size_t n_energies, const double *energy, double *flux)
    double paritas_kappa_temperature(double kappa, double theta)
    double paritas_kappa_theta(double kappa, double temperature)
    paritas_status paritas_kappa_spectrum(paritas_context *context, const paritas_cells *cells, size_t n, const double *energy, const double *flux, const double *cosine,
                                          double *omni, double *coverage, double *sensitivity, double *counts, double *error)
    paritas_status paritas_kappa_fit(paritas_context *context, const paritas_spectra *spectra, const paritas_kappa_options *options, paritas_kappa_result *results)
    paritas_status paritas_kappa_misfit(paritas_context *context, const paritas_spectra *spectra, const paritas_kappa_options *options, size_t n_points,
                                        const paritas_kappa_plasma *points, double *misfit)
    paritas_status paritas_kappa_response(paritas_context *context, double response, size_t n_energies, const double *energy, double *matrix)
    double paritas_photoelectron_current(double potential)
    double paritas_photoelectron_potential(double current)
    double paritas_secondary_yield(double energy)
    double paritas_electron_current(const paritas_kappa_plasma *plasma, double lower, double upper)
    paritas_status paritas_shade_currents(paritas_context *context, size_t n, const paritas_kappa_plasma *plasma, const paritas_potential_options *options, size_t n_potentials,
                                          const double *potentials, double *currents)
    paritas_status paritas_spacecraft_potential(paritas_context *context, size_t n, const paritas_kappa_plasma *plasma, const double *covariance, const unsigned char *sunlit,
                                                const paritas_potential_options *options, paritas_potential *results)
    paritas_status paritas_spacecraft_potential_of_spectra(paritas_context *context, const paritas_spectra *spectra, const unsigned char *sunlit,
                                                           const paritas_kappa_options *kappa, const paritas_potential_options *options, paritas_kappa_result *fits,
                                                           paritas_potential *results)
