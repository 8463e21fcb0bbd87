# paritas_losscone.h, as far as the engine calls it.
from libc.stdint cimport uint64_t
from paritas_h cimport paritas_context, paritas_status

cdef extern from "paritas_losscone.h" nogil:
    """
    static const paritas_losscone_options losscone_default = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    """
    enum:
        PARITAS_SWEEP_ROWS
        PARITAS_SWEEP_CELLS
        PARITAS_PLATEAU_VERTICES
        PARITAS_CONFIDENCE_INTERVALS
    ctypedef enum paritas_normalisation:
        PARITAS_NORMALISATION_RATIO
    ctypedef enum paritas_losscone_method:
        PARITAS_LOSSCONE_METHOD_HALEKAS
    ctypedef enum paritas_losscone_response:
        PARITAS_LOSSCONE_RESPONSE_HARD
    ctypedef enum paritas_losscone_search:
        PARITAS_LOSSCONE_SEARCH_EXACT
    ctypedef enum paritas_sweep_status:
        PARITAS_SWEEP_FITTED
    ctypedef struct paritas_sweeps:
        size_t n
        const double *energy
        const double *potential
        const double *cosine
        const double *flux
    ctypedef struct paritas_losscone_options:
        size_t size
        paritas_losscone_method method
        paritas_losscone_response response
        paritas_losscone_search search
        double potential_lower
        double potential_upper
        double ratio_lower
        double ratio_upper
        double amplitude_lower
        double amplitude_upper
        double beam_width
        double beam_sigma
        double background
        double response_width
        unsigned box_limit
        uint64_t seed
        uint64_t first
        unsigned population
        unsigned generations
    const paritas_losscone_options losscone_default
    ctypedef struct paritas_losscone_result:
        pass
    ctypedef struct paritas_confidence:
        pass
    ctypedef struct paritas_beam:
        pass

    const char *paritas_losscone_method_name(paritas_losscone_method method)
    const char *paritas_losscone_response_name(paritas_losscone_response response)
    const char *paritas_losscone_search_name(paritas_losscone_search search)
    const char *paritas_sweep_status_name(paritas_sweep_status status)
    paritas_status paritas_losscone_fit(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *options, paritas_losscone_result *results)
    paritas_status paritas_losscone_confidence(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *options,
                                               const paritas_losscone_result *results, const double *thresholds, double step, paritas_confidence *sets)
    paritas_status paritas_losscone_bootstrap(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *options,
                                              const paritas_losscone_result *results, unsigned draws, double level, double *thresholds)
    paritas_status paritas_losscone_profile(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *options, size_t n_potentials,
                                            const double *potentials, double *misfit, double *ratio, double *amplitude)
    paritas_status paritas_losscone_misfit(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *options, size_t n_points,
                                           const double *points, double *misfit, unsigned *cells)
    paritas_status paritas_losscone_model(paritas_context *context, const paritas_sweeps *sweeps, const paritas_losscone_options *options, const double *points,
                                          double *model, double *edge)
    paritas_status paritas_losscone_cosines(paritas_context *context, size_t n, const double *theta, const double *field, const double *polarity, const double *azimuth,
                                            double *cosine)
    paritas_status paritas_losscone_normalise(paritas_context *context, size_t n, paritas_normalisation normalisation, const double *cosine, const double *flux,
                                              double *normalised)
    paritas_status paritas_losscone_mask(paritas_context *context, size_t n, paritas_losscone_method method, const double *cosine, const double *flux, double *normalised)
    paritas_status paritas_losscone_beam(paritas_context *context, const paritas_sweeps *sweeps, paritas_beam *beams)
