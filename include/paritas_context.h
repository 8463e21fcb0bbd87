/* paritas_context.h: statuses, contexts and devices. */
#ifndef PARITAS_CONTEXT_H
#define PARITAS_CONTEXT_H

#include "paritas_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_VERSION_MAJOR 1
#define PARITAS_VERSION_MINOR 0
#define PARITAS_VERSION_PATCH 0

/* ---- statuses ----------------------------------------------------------------------------------- */

/* Every function of the library returns one of these: 0, or a negative number that says why it failed. */
#define PARITAS_STATUS_LIST(ITEM)                                                              \
    ITEM(PARITAS_OK, 0, "PARITAS_OK", "success")                                               \
    ITEM(PARITAS_OUT_OF_MEMORY, -1, "PARITAS_OUT_OF_MEMORY", "memory could not be allocated")  \
    ITEM(PARITAS_INVALID_ARGUMENT, -2, "PARITAS_INVALID_ARGUMENT", "an argument is not valid") \
    ITEM(PARITAS_NOT_FOUND, -3, "PARITAS_NOT_FOUND",                                           \
         "the input has no such parameter, measurement, patch or name")                        \
    ITEM(PARITAS_INVALID_INPUT, -4, "PARITAS_INVALID_INPUT", "the input document is wrong")    \
    ITEM(PARITAS_UNREADABLE, -5, "PARITAS_UNREADABLE", "a file could not be read")             \
    ITEM(PARITAS_UNWRITABLE, -6, "PARITAS_UNWRITABLE", "a file could not be written")          \
    ITEM(PARITAS_NO_DEVICE, -7, "PARITAS_NO_DEVICE", "the device is not available")            \
    ITEM(PARITAS_CANCELLED, -8, "PARITAS_CANCELLED", "cancelled by the caller")                \
    ITEM(PARITAS_NOT_CONVERGED, -9, "PARITAS_NOT_CONVERGED", "a fit that the answer needs did not converge")
typedef enum paritas_status { PARITAS_STATUS_LIST(PARITAS_ENUMERATOR) } paritas_status;

PARITAS_API const char *paritas_version(void);
PARITAS_API const char *paritas_status_message(paritas_status status); /* "success", ... */

/* ---- context ------------------------------------------------------------------------------------ */

/* Options, device, memory functions and the last error of one thread. */
typedef struct paritas_context paritas_context;

/* Memory functions of the caller. The library takes all its memory from them and passes `user` back. */
typedef struct paritas_allocator {
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *memory, size_t size);
    void (*release)(void *user, void *memory);
    void *user;
} paritas_allocator;

/* Called from the calling thread now and then during long work: `done` of `total` jobs are finished. A return
 * other than 0 cancels the work, which then answers PARITAS_CANCELLED. */
typedef int (*paritas_progress)(void *user, uint64_t done, uint64_t total);

/* Receives one sentence about slow work or a decision, for example that kernels are compiled, or which device
 * "auto" uses. Called from the calling thread. */
typedef void (*paritas_note_function)(void *user, const char *message);

/* Options of paritas_open. Start from PARITAS_OPTIONS_DEFAULT. Zero means the default everywhere. */
typedef struct paritas_options {
    size_t size;
    const paritas_allocator *allocator; /* NULL: malloc. Copied. */
    unsigned threads;                   /* worker threads of one call; 0: one per processor */
    const char *isa; /* NULL: the best; "portable", "scalar", "avx2", "avx512", "neon", "relaxed_simd" */
    unsigned lanes;  /* fits in lockstep: 1, 2, 4, 8 or 16; 0: chosen by the size of the model */
    /* NULL or "cpu"; "cuda[:i]", "metal[:i]", "opencl[:i]". "auto": the CPU, and for long work also the first
     * other device that can run. */
    const char *device;
    /* 64: f64. 32: f32 kernels, fits polished in f64. PARITAS_PRECISION_AUTO: f64 where the device has it at
     * useful speed, else f32. 0: f64, or f32 with a note on a device without f64 (Metal). */
    unsigned precision;
    unsigned workers;          /* size of a work-group on devices that have them; 0: the device's choice */
    paritas_progress progress; /* NULL: none */
    void *progress_user;
    const char *cache;          /* folder for compiled kernels, made if needed; NULL or "": none. Copied. */
    paritas_note_function note; /* NULL: none */
    void *note_user;
    /* Nonzero: keep f32 fits without the f64 polish (for testing f32 itself). Toys that f32 cannot finish are
     * still fitted in f64. */
    int no_polish;
    /* CUDA only: a CUstream (or cudaStream_t) of the device's primary context. All work runs on it, in order
     * with the caller's. NULL: a stream of the library's own. Borrowed until paritas_close. */
    void *stream;
    int again; /* nonzero: drivers are tried and kernels compiled again, whatever the cache remembers */
} paritas_options;
#define PARITAS_OPTIONS_DEFAULT PARITAS_INIT(paritas_options)
#define PARITAS_PRECISION_AUTO 1

/* The usual folder for compiled kernels, written to path[0..room). The library reads no environment variable:
 * the arguments are their values, NULL if not set. PARITAS_CACHE is taken as it is; "" means none. Otherwise
 * the folder is $XDG_CACHE_HOME/paritas or ~/.cache/paritas, on macOS ~/Library/Caches/paritas. Returns
 * `path`. NULL: none, or it does not fit. */
PARITAS_API const char *paritas_cache_folder(const char *PARITAS_OR_NULL paritas_cache,
                                             const char *PARITAS_OR_NULL xdg_cache_home,
                                             const char *PARITAS_OR_NULL home, size_t room, char *path);

/* A small compressed file (gzip, NPZ, ROOT) could take all memory. It is refused if it unpacks to more than
 * so many MiB, which are also more than so many times its own bytes. */
#define PARITAS_UNPACKED_MIB 256
#define PARITAS_UNPACKED_TIMES 200

/* Opens a context. `options` may be NULL. On failure *context still holds a context (unless memory ran out),
 * so that its message can be read. Close it even then. */
PARITAS_API paritas_status paritas_open(const paritas_options *PARITAS_OR_NULL options,
                                        paritas_context **context);
/* Closes a context; its message and names go with it. NULL is a no-op. Pass a closed context to no function,
 * not even to this one: like memory after free(), it is not checked. Set the pointer to NULL, which other
 * functions refuse. */
PARITAS_API void paritas_close(paritas_context *context);
/* Details of the last failure; "" if there was none. Valid until the next call with this context. NULL has a
 * message of its own, which names `context`. */
PARITAS_API const char *paritas_error_message(const paritas_context *context);
PARITAS_API const char *paritas_device_name(const paritas_context *context); /* in use: "cpu", "opencl:0" */
/* Of the device in use: processor, driver, compiler. */
PARITAS_API const char *paritas_device_description(const paritas_context *context);
PARITAS_API const char *paritas_isa_name(const paritas_context *context); /* of the kernels: "avx512", ... */
PARITAS_API const char *paritas_precision_name(const paritas_context *context); /* "f64" or "f32" */
/* Checks a struct of options by its name ("paritas_losscone_options"), as every function that takes it does.
 * INVALID_ARGUMENT: the message names the option. NOT_FOUND: no list has this name. */
PARITAS_API paritas_status paritas_options_check(paritas_context *context, const char *name,
                                                 const void *options);
/* What finishes fits: "f64" where f32 fits are polished, else "none". */
PARITAS_API const char *paritas_polish_name(const paritas_context *context);

/* ---- devices ------------------------------------------------------------------------------------ */

/* The kinds of devices, in the order in which `paritas devices` lists them. */
#define PARITAS_DEVICE_KIND_LIST(ITEM)                                      \
    ITEM(PARITAS_DEVICE_CPU, 0, "cpu", "the processor")                     \
    ITEM(PARITAS_DEVICE_CUDA, 1, "cuda", "NVIDIA GPUs, by the CUDA driver") \
    ITEM(PARITAS_DEVICE_METAL, 2, "metal", "Apple GPUs; f32 only")          \
    ITEM(PARITAS_DEVICE_OPENCL, 3, "opencl", "whatever an installed OpenCL driver offers")
/* Kinds in which "auto" looks for a device to use beside the CPU, in this order. */
#define PARITAS_DEVICE_PREFERENCE(ITEM) \
    ITEM(PARITAS_DEVICE_CUDA) ITEM(PARITAS_DEVICE_METAL) ITEM(PARITAS_DEVICE_OPENCL)
typedef enum paritas_device_kind { PARITAS_DEVICE_KIND_LIST(PARITAS_ENUMERATOR) } paritas_device_kind;

#define PARITAS_DEVICE_INFO_FIELDS(FIELD, R)                                                      \
    FIELD(R, char, name, [32], "name", "", "as options name it: cpu, opencl:0")                   \
    FIELD(R, char, description, [256], "description", "",                                         \
          "processor, driver, compiler; empty where the device could not be opened")              \
    FIELD(R, char, isa, [16], "isa", "", "instruction set of the CPU's kernels; empty elsewhere") \
    FIELD(R, paritas_truth, f64, , "f64", "", "runs in f64 and passed its self-test there")       \
    FIELD(R, paritas_truth, f32, , "f32", "", "runs in f32 and passed its self-test there")       \
    FIELD(R, char, reason_f64, [512], "reason_f64", "", "why it cannot run in f64")               \
    FIELD(R, char, reason_f32, [512], "reason_f32", "", "why it cannot run in f32")               \
    FIELD(R, unsigned, teams, , "teams", "",                                                      \
          "fits at once that keep it busy; smaller batches leave it idle in part")                \
    FIELD(R, unsigned, workers, , "workers", "", "workers of a team, which share one fit")        \
    FIELD(R, uint64_t, memory, , "memory", "B",                                                   \
          "its memory, half of which fits may fill; 0: unknown, or the machine's")
typedef struct paritas_device_info {
    size_t size;
    PARITAS_DEVICE_INFO_FIELDS(PARITAS_MEMBER, )
} paritas_device_info;

/* Opens all devices that the installed drivers offer, one after the other, with this context's cache and
 * work-groups, and closes them again. A driver that this process has not opened yet is tried in a child
 * process. The driver has 5 s (CUDA: 20 s) to open and a minute in all. If it aborts, crashes or hangs, it is
 * listed with that reason, which the cache remembers (`again` of paritas_options). `devices` has room for
 * `room` of them. *count: how many there are. A kind without any device is listed by its bare name, with the
 * reason. */
PARITAS_API paritas_status paritas_list_devices(paritas_context *context, size_t room,
                                                paritas_device_info *devices, size_t *count);

/* Environment variables with which some drivers keep the bits or compile without a crash: "NAME=VALUE", or
 * NULL where `index` is not below their number. Programs set those that are not set, before a context with a
 * device other than "cpu" is opened. The library sets none. */
PARITAS_API const char *paritas_driver_setting(size_t index);

/* Variants of the CPU's kernels, and compiled kernels for CUDA, that the build put into the library. CUDA's
 * are stored compressed; sizes are in bytes. */
typedef struct paritas_build {
    size_t variants, cuda_kernels, cuda_bytes, cuda_bytes_unpacked;
} paritas_build;
PARITAS_API paritas_build paritas_library_build(void);
/* The name of a variant, for example "f64_avx2_w4p1": precision, instruction set, fits side by side,
 * elements at a time. Stored in `text`, which has `room` bytes, and returned. NULL: `index` is not below
 * `variants`. */
PARITAS_API const char *paritas_library_variant(size_t index, size_t room, char *text);

/* Everything that the contract (docs/contract.md) lets differ between devices and precisions. The rest agrees
 * to the bit. */
#define PARITAS_TOLERANCES_FIELDS(FIELD, R)                                                              \
    FIELD(R, double, nll, , "nll", "", "NLL at the minimum of a polished f32 fit, against f64")          \
    FIELD(R, double, parameter, , "parameter", "", "parameters there, in errors")                        \
    FIELD(R, double, error, , "error", "", "errors there, relative")                                     \
    FIELD(R, double, q, , "q", "", "test statistics of polished f32 fits")                               \
    FIELD(R, double, cls, , "cls", "", "their CLs")                                                      \
    FIELD(R, double, toys, , "toys", "", "share of toys whose q is that near; others find other minima") \
    FIELD(R, double, raw_nll, , "raw_nll", "",                                                           \
          "f32 kernels against f64: NLL, of 1 + its deviance + raw_rates")                               \
    FIELD(R, double, raw_rates, , "raw_rates", "", "of the sum over all data of |rate - datum|")         \
    FIELD(R, double, raw_slope, , "raw_slope", "", "gradient, of its largest element")                   \
    FIELD(R, double, raw_curvature, , "raw_curvature", "", "Hessian, of the largest elements of its rows")
typedef struct paritas_tolerances {
    size_t size;
    PARITAS_TOLERANCES_FIELDS(PARITAS_MEMBER, )
} paritas_tolerances;
PARITAS_API const paritas_tolerances *paritas_contract_tolerances(void);

/* What a context's calls have cost since it was opened. Counts do not depend on the machine. */
#define PARITAS_WORK_FIELDS(FIELD, R)                                                         \
    FIELD(R, uint64_t, fits, , "fits", "", "fits, each from one start")                       \
    FIELD(R, uint64_t, iterations, , "iterations", "", "of them, by minimisers that iterate") \
    FIELD(R, uint64_t, gradients, , "gradients", "", "of quasi-Newton fits, one per step")    \
    FIELD(R, uint64_t, points, , "points", "", "points at which the likelihood was evaluated alone")
typedef struct paritas_work {
    size_t size;
    PARITAS_WORK_FIELDS(PARITAS_MEMBER, )
} paritas_work;
/* The context's own, which grows with its calls. NULL: no context. */
PARITAS_API const paritas_work *paritas_work_done(const paritas_context *context);

#define PARITAS_CONTEXT_ENUMERATIONS(ENUMERATION)                                               \
    ENUMERATION(paritas_field_type, PARITAS_FIELD_TYPE_LIST, "What a field of a record holds.") \
    ENUMERATION(paritas_status, PARITAS_STATUS_LIST, "What a function of the library returns.") \
    ENUMERATION(paritas_device_kind, PARITAS_DEVICE_KIND_LIST, "The kinds of devices.")
#define PARITAS_CONTEXT_RECORDS(RECORD)                                                                    \
    RECORD(paritas_device_info, PARITAS_DEVICE_INFO_FIELDS, "A device, as paritas_list_devices found it.") \
    RECORD(paritas_tolerances, PARITAS_TOLERANCES_FIELDS, "What the contract lets differ.")                \
    RECORD(paritas_work, PARITAS_WORK_FIELDS, "What a context's calls have cost.")
/* paritas_..._name(value): its word; "unknown" for another number.
 * paritas_fit_status_name(PARITAS_FIT_CONVERGED) is "converged". */
#define PARITAS_NAME_FUNCTION(type, LIST, doc) PARITAS_API const char *type##_name(type value);
PARITAS_CONTEXT_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
