/* accelerator.h: what OpenCL, CUDA and Metal share.
 *
 *   launch: kernel from memory, else from the disk cache, else compiled ─► rows up ─► teams in chunks,
 *       as many at once as their slabs fit into memory ─► rows down
 *
 * A backend fills struct accelerator_operations, a call or two each. */
#pragma once

#include "device/device_kind.h"

#include <stdbool.h>

struct accelerator;

/* Filled by the backend. */
struct accelerator_properties {
    char name[128];
    char versions[192]; /* of driver and compiler; a change recompiles */
    uint64_t memory;    /* bytes; 0: unknown */
    uint64_t largest_buffer;
    uint32_t units;          /* multiprocessors */
    unsigned teams_per_unit; /* to keep a unit busy */
    unsigned workers;        /* default */
    unsigned workers_alone;  /* with fewer teams than units; 0: as usual */
    unsigned workers_most;
    bool is_processor; /* the CPU under another name */
    bool slow_f64;     /* f64 much slower than f32 */
};
#define ACCELERATOR_WORKERS_ALONE 256 /* a fit has loops of hundreds of turns */

struct accelerator_build {
    paritas_context *context;
    struct accelerator *accelerator;
    const char *text; /* from kernel_source_join */
    size_t text_size;
    const char *entry;
    unsigned precision, workers;
};

struct accelerator_kernel {
    void *program, *function;
    size_t workers_most; /* the device's limit */
    unsigned workers;    /* built for */
};

/* Kernel arguments: six memories, elements per slab, first team of the launch. */
#define ACCELERATOR_ARGUMENTS(ARGUMENT) \
    ARGUMENT(void *, ints)              \
    ARGUMENT(void *, reals)             \
    ARGUMENT(void *, args)              \
    ARGUMENT(void *, in)                \
    ARGUMENT(void *, out) ARGUMENT(void *, slabs) ARGUMENT(uint32_t, slab) ARGUMENT(uint32_t, first_team)
struct accelerator_arguments {
#define ARGUMENT(type, name) type name;
    ACCELERATOR_ARGUMENTS(ARGUMENT)
#undef ARGUMENT
};

/* A nonzero code of the interface. */
struct accelerator_code {
    int code;
    bool no_memory;
    const char *words; /* NULL ends the table */
};

/* The interface's functions, found in its libraries. */
struct accelerator_libraries {
    const char *const *names;     /* NULL-terminated; none: not on this system */
    const char **instead;         /* a test's only library, if set; may be NULL */
    bool all;                     /* all needed, or the first installed */
    const char *hint;             /* where to get it; may be NULL */
    const char *const *functions; /* NULL-terminated; pointers to them begin the state */
};
#define ACCELERATOR_LIBRARIES_MAX 4

/* int: 0 or the interface's code; a status has a message. All run on the context's thread; only `read` and
 * `finish` need to wait. */
struct accelerator_operations {
    const struct accelerator_libraries *libraries; /* may be NULL */
    size_t state_size;                             /* of accelerator->state; 0: none */
    bool lacks_f64;                                /* no device has arithmetic in f64 */
    const unsigned char *dialect;                  /* of kernels/dialect/dialect_KIND.h */
    const size_t *dialect_size;
    const struct accelerator_code *codes;
    /* Opens device->index into the cleared state, which begins with the functions; fills properties. Refuses
     * devices without the bits of device->precision. After a failure `close` cleans up. */
    paritas_status (*open)(paritas_context *context, struct accelerator *accelerator);
    void (*close)(struct accelerator *accelerator);
    /* Called around all primitives below but `options`; may be NULL. */
    int (*enter)(struct accelerator *accelerator);
    void (*leave)(struct accelerator *accelerator);
    int (*allocate)(struct accelerator *accelerator, size_t bytes, void **memory); /* bytes > 0 */
    void (*release)(struct accelerator *accelerator, void *memory);
    /* `from` may be freed on return */
    int (*write)(struct accelerator *accelerator, void *memory, const void *from, size_t bytes);
    int (*read)(struct accelerator *accelerator, void *to, void *memory, size_t bytes);
    /* All that decides `compile` besides the text, as one line of the cache key. */
    void (*options)(const struct accelerator_build *build, char *line, size_t room);
    /* Text to `load`'s input, which the cache keeps; *binary: from the context's allocator. NULL: `load`
     * takes text; the system caches. */
    paritas_status (*compile)(const struct accelerator_build *build, void **binary, size_t *size);
    /* Fills kernel->program, function, workers_most. Cached binaries may be corrupt: then fails, leaving
     * nothing. */
    paritas_status (*load)(const struct accelerator_build *build, const void *binary, size_t size,
                           struct accelerator_kernel *kernel);
    void (*unload)(struct accelerator *accelerator, struct accelerator_kernel *kernel);
    int (*run)(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
               const struct accelerator_arguments *arguments, uint32_t teams);
    int (*finish)(struct accelerator *accelerator);
};

/* Grows on demand, until the device is closed. */
struct accelerator_buffer {
    void *memory;
    size_t bytes;
};

struct accelerator_module {
    const struct kernel_module *module;
    /* for many teams; for few */
    struct accelerator_kernel kernels[MODULE_ENTRIES_MAX], alone[MODULE_ENTRIES_MAX];
};
#define ACCELERATOR_MODULES_MAX 32

struct accelerator {
    const struct accelerator_operations *operations;
    struct paritas_device *device;
    struct accelerator_properties properties;
    void *state;
    struct accelerator_module modules[ACCELERATOR_MODULES_MAX];
    struct accelerator_buffer args, in, out, slabs;
    uint32_t teams_at_once; /* for tests */
    bool told;              /* compilation was announced */
    size_t slabs_most;      /* bytes of slabs for which memory ran out; 0: it has not */
    char description[400];
};

/* ---- shared by backends ---- */

/* Fails for a code of the interface: memory ran out, or the device is broken. */
paritas_status accelerator_fail(paritas_context *context, const struct accelerator *accelerator,
                                const char *what, int code);
/* Fails in the same way unless `code` is 0. */
paritas_status accelerator_check(paritas_context *context, const struct accelerator *accelerator,
                                 const char *what, int code);
/* `who` (compiler, driver) refuses an entry; code 0: none; log: NULL, empty or put on one line. */
paritas_status accelerator_refuse(const struct accelerator_build *build, const char *who, int code,
                                  char *log);
/* Says that the number is not below `count` (DEVICE_ABSENT). */
paritas_status accelerator_absent(paritas_context *context, const struct accelerator *accelerator,
                                  const char *interface, unsigned count);
paritas_status accelerator_lacks_f64(paritas_context *context, const struct accelerator *accelerator);

/* ---- from a backend to a device ---- */

/* Required primitives PREFIX_open, ...; a missing one does not compile. Add codes, dialect, compile, enter,
 * leave. */
#define ACCELERATOR_PRIMITIVES(prefix)                                                                  \
    .open = prefix##_open, .close = prefix##_close, .allocate = prefix##_allocate,                      \
    .release = prefix##_release, .write = prefix##_write, .read = prefix##_read,                        \
    .options = prefix##_options, .load = prefix##_load, .unload = prefix##_unload, .run = prefix##_run, \
    .finish = prefix##_finish
/* Text embedded as SYMBOL, SYMBOL_size (ACCELERATOR_DECLARE_DIALECT). */
#define ACCELERATOR_DIALECT(symbol) .dialect = symbol, .dialect_size = &symbol##_size
#define ACCELERATOR_DECLARE_DIALECT(symbol) \
    extern const unsigned char symbol[];    \
    extern const size_t symbol##_size;

#define ACCELERATOR_DEVICE(backend) \
    {accelerator_open,              \
     accelerator_close,             \
     accelerator_describe,          \
     accelerator_model_upload,      \
     accelerator_model_release,     \
     accelerator_launch,            \
     backend}
paritas_status accelerator_open(paritas_context *context, struct paritas_device *device, const char *isa);
void accelerator_close(struct paritas_device *device);
const char *accelerator_describe(const struct paritas_device *device);
paritas_status accelerator_model_upload(paritas_context *context, struct paritas_device *device,
                                        const struct kernel_module *module,
                                        const struct device_tables *tables, void **handle);
void accelerator_model_release(struct paritas_device *device, void *handle);
paritas_status accelerator_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                  const struct device_launch *launch);
