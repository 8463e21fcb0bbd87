/* accelerator.h: what OpenCL, CUDA and Metal share: own memory, run-time compilation, work-groups.
 *
 *   launch: kernel from memory, else from the disk cache, else compiled ─► rows up ─► teams in chunks,
 *       as many at once as their slabs fit into memory ─► rows down
 *
 * A backend only fills struct accelerator_operations, a call or two each. */
#ifndef PARITAS_DEVICE_ACCELERATOR_H
#define PARITAS_DEVICE_ACCELERATOR_H

#include "device/device.h"

#include <stdbool.h>

struct accelerator;

/* Filled by the backend for an open device. */
struct accelerator_properties {
    char name[128];
    char versions[192];      /* of driver and compiler; other versions recompile kernels */
    uint64_t memory;         /* bytes; 0: unknown */
    uint64_t largest_buffer; /* bytes; 0: unknown */
    uint32_t units;          /* multiprocessors */
    unsigned teams_per_unit; /* to keep one busy */
    unsigned workers;        /* default team size */
    unsigned workers_alone;  /* team size with fewer teams than units; 0: the same */
    unsigned workers_most;
    bool is_processor; /* the CPU under another name */
    bool slow_f64;     /* f64 at a small part of the f32 speed */
};
#define ACCELERATOR_WORKERS_ALONE 256 /* a fit has loops of hundreds of turns */

/* One entry to build. */
struct accelerator_build {
    const char *text; /* from kernel_source_join */
    size_t text_size;
    const char *entry;
    unsigned precision, workers;
};

struct accelerator_kernel {
    void *program, *function;
    size_t workers_most; /* limit of the device for it */
    unsigned workers;    /* it was built for */
};

/* Kernel arguments, in order: six device memories, elements per slab, number of the launch's first team. */
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
    const char *words; /* its name or a sentence; NULL ends the table */
};

/* The primitives. An int is 0 or the interface's code; a status comes with a message. All run on the
 * context's thread. Only `read` and `finish` must wait for the device. */
struct accelerator_operations {
    const unsigned char *dialect; /* text of kernels/dialect/dialect_KIND.h */
    const size_t *dialect_size;
    const struct accelerator_code *codes;
    /* Finds device number device->index; fills accelerator->properties and ->state. Refuses a device that
     * cannot give the bits of device->precision. A failure leaves what `close` can release. */
    paritas_status (*open)(paritas_context *context, struct accelerator *accelerator);
    void (*close)(struct accelerator *accelerator);
    /* Called around every primitive below except `options`; may be NULL. */
    int (*enter)(struct accelerator *accelerator);
    void (*leave)(struct accelerator *accelerator);
    int (*allocate)(struct accelerator *accelerator, size_t bytes, void **memory); /* bytes > 0 */
    void (*release)(struct accelerator *accelerator, void *memory);
    /* `from` may be freed on return */
    int (*write)(struct accelerator *accelerator, void *memory, const void *from, size_t bytes);
    int (*read)(struct accelerator *accelerator, void *to, void *memory, size_t bytes);
    /* One line with all that decides the result of `compile` besides the text; part of the cache key. */
    void (*options)(const struct accelerator *accelerator, const struct accelerator_build *build, char *line,
                    size_t room);
    /* Compiles text for `load` and the cache; *binary is from the context's allocator. NULL: `load` takes
     * text, and the system has its own cache. */
    paritas_status (*compile)(paritas_context *context, struct accelerator *accelerator,
                              const struct accelerator_build *build, void **binary, size_t *size);
    /* Fills kernel->program, function, workers_most. A cached binary may be corrupt: then it fails and leaves
     * nothing. */
    paritas_status (*load)(paritas_context *context, struct accelerator *accelerator,
                           const struct accelerator_build *build, const void *binary, size_t size,
                           struct accelerator_kernel *kernel);
    void (*unload)(struct accelerator *accelerator, struct accelerator_kernel *kernel);
    int (*run)(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
               const struct accelerator_arguments *arguments, uint32_t teams);
    int (*finish)(struct accelerator *accelerator);
};

/* Device memory that grows on demand, kept until the device is closed. */
struct accelerator_buffer {
    void *memory;
    size_t bytes;
};

struct accelerator_module {
    const struct kernel_module *module;
    /* many teams; few teams */
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
    uint32_t teams_at_once; /* in the last launch, for tests */
    bool told;              /* compilation was announced */
    size_t slabs_most;      /* bytes of slabs that fit after memory ran out; 0: never ran out */
    char description[400];
};

/* ---- shared by backends ---- */

/* Vendor libraries and their functions (dynamic_library.h). */
struct accelerator_libraries {
    const char *const *names; /* NULL ends the list */
    bool all;                 /* true: all are needed; false: the first installed */
    const char *hint;         /* where to get it; may be NULL */
    const char *const *functions;
    size_t n_functions;
    void *api; /* struct of n_functions pointers, filled here */
};
#define ACCELERATOR_LIBRARIES_MAX 4
/* DEVICE_ABSENT if a library or function is missing. */
paritas_status accelerator_find_functions(paritas_context *context, const struct accelerator *accelerator,
                                          const struct accelerator_libraries *libraries);

/* Status of a failed interface call: out of memory or a broken device. */
paritas_status accelerator_fail(paritas_context *context, const struct accelerator *accelerator,
                                const char *what, int code);
/* `who` (compiler, driver) refuses an entry. code 0: none. The log may be NULL or empty; it is put on one
 * line. */
paritas_status accelerator_refuse(paritas_context *context, const struct accelerator *accelerator,
                                  const struct accelerator_build *build, const char *who, int code,
                                  char *log);
/* DEVICE_ABSENT: this number is not below `count`. */
paritas_status accelerator_absent(paritas_context *context, const struct accelerator *accelerator,
                                  const char *interface, unsigned count);
paritas_status accelerator_lacks_f64(paritas_context *context, const struct accelerator *accelerator);

/* ---- from a backend to a device ---- */

/* The required primitives PREFIX_open, ...; a missing one does not compile. Tables add codes, dialect and
 * their own compile, enter, leave. */
#define ACCELERATOR_PRIMITIVES(prefix)                                                                  \
    .open = prefix##_open, .close = prefix##_close, .allocate = prefix##_allocate,                      \
    .release = prefix##_release, .write = prefix##_write, .read = prefix##_read,                        \
    .options = prefix##_options, .load = prefix##_load, .unload = prefix##_unload, .run = prefix##_run, \
    .finish = prefix##_finish
/* Text embedded by the build as SYMBOL, SYMBOL_size (ACCELERATOR_DECLARE_DIALECT). */
#define ACCELERATOR_DIALECT(symbol) .dialect = symbol, .dialect_size = &symbol##_size
#define ACCELERATOR_DECLARE_DIALECT(symbol) \
    extern const unsigned char symbol[];    \
    extern const size_t symbol##_size;

/* A device's operations from a backend. */
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

#endif
