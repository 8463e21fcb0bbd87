/* accelerator.h: what OpenCL, CUDA and Metal have in common: memory of their own, kernels compiled at run
 * time, work-groups.
 *
 *   launch: kernel from memory, else from the cache on disk, else compiled ─► rows up ─► teams in chunks, as
 *       many at once as their slabs fit into memory ─► rows down
 *
 * A backend fills the primitives of struct accelerator_operations, each a call or two of its interface; all
 * else stands in accelerator.c, once.
 */
#ifndef PARITAS_DEVICE_ACCELERATOR_H
#define PARITAS_DEVICE_ACCELERATOR_H

#include "device/device.h"

#include <stdbool.h>

struct accelerator;

/* What a backend knows of the device that it opened. */
struct accelerator_properties {
    char name[128];          /* as the maker calls it */
    char versions[192];      /* of driver and compiler: a kernel compiled for others is compiled again */
    uint64_t memory;         /* bytes; 0: unknown */
    uint64_t largest_buffer; /* bytes; 0: unknown */
    uint32_t units;          /* multiprocessors */
    unsigned teams_per_unit; /* that keep one busy */
    unsigned workers;        /* of a team, where nothing else is asked for */
    unsigned workers_alone;  /* of a team where there are fewer teams than units; 0: no other number */
    unsigned workers_most;
    bool is_processor; /* the CPU under another name */
    bool slow_f64;     /* it has f64, at a small part of its speed in f32 */
};
#define ACCELERATOR_WORKERS_ALONE 256 /* a fit has loops of hundreds of turns to share */

/* One entry to be built. */
struct accelerator_build {
    const char *text; /* of kernel_source_join */
    size_t text_size;
    const char *entry;
    unsigned precision, workers;
};

/* A loaded entry. */
struct accelerator_kernel {
    void *program, *function; /* the backend's */
    size_t workers_most;      /* that the device can run of it */
    unsigned workers;         /* that it was built for */
};

/* Arguments of every kernel, in this order: six device memories, elements of a team's slab, number of the
 * launch's first team. */
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

/* A code of the interface's, other than 0. */
struct accelerator_code {
    int code;
    bool no_memory;
    const char *words; /* its name, or a sentence; NULL ends a table */
};

/* The primitives. Those that answer int answer 0 or the interface's own code; those that answer a status set
 * the message. All run on the thread that uses the context. Only `read` and `finish` have to wait for the
 * device. */
struct accelerator_operations {
    const unsigned char *dialect; /* the text of kernels/dialect/dialect_KIND.h */
    const size_t *dialect_size;
    const struct accelerator_code *codes;
    /* Finds device number device->index, fills accelerator->properties and accelerator->state. Refuses a
     * device that cannot give the bits of device->precision. On failure it leaves what `close`
     * can release. */
    paritas_status (*open)(paritas_context *context, struct accelerator *accelerator);
    void (*close)(struct accelerator *accelerator);
    /* Stand around every call of the primitives below, but for `options`; NULL: nothing has to. */
    int (*enter)(struct accelerator *accelerator);
    void (*leave)(struct accelerator *accelerator);
    int (*allocate)(struct accelerator *accelerator, size_t bytes, void **memory); /* bytes > 0 */
    void (*release)(struct accelerator *accelerator, void *memory);
    /* `from` may go away on return */
    int (*write)(struct accelerator *accelerator, void *memory, const void *from, size_t bytes);
    int (*read)(struct accelerator *accelerator, void *to, void *memory, size_t bytes);
    /* All that decides, beside the text, what `compile` makes, as one line: a part of the cache's key. */
    void (*options)(const struct accelerator *accelerator, const struct accelerator_build *build, char *line,
                    size_t room);
    /* Text to what `load` takes and the cache keeps: *binary is allocated from the context. NULL: `load`
     * takes the text itself, and the system has a cache of its own. */
    paritas_status (*compile)(paritas_context *context, struct accelerator *accelerator,
                              const struct accelerator_build *build, void **binary, size_t *size);
    /* Fills kernel->program, function and workers_most. Anything may be wrong with a binary from a cache:
     * then it fails, leaving nothing. */
    paritas_status (*load)(paritas_context *context, struct accelerator *accelerator,
                           const struct accelerator_build *build, const void *binary, size_t size,
                           struct accelerator_kernel *kernel);
    void (*unload)(struct accelerator *accelerator, struct accelerator_kernel *kernel);
    int (*run)(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
               const struct accelerator_arguments *arguments, uint32_t teams);
    int (*finish)(struct accelerator *accelerator);
};

/* Device memory that grows when a launch needs more and is kept until the device is closed. */
struct accelerator_buffer {
    void *memory;
    size_t bytes;
};

/* Loaded entries of one module. */
struct accelerator_module {
    const struct kernel_module *module;
    /* for many teams, for few */
    struct accelerator_kernel kernels[MODULE_ENTRIES_MAX], alone[MODULE_ENTRIES_MAX];
};
#define ACCELERATOR_MODULES_MAX 32

struct accelerator {
    const struct accelerator_operations *operations;
    struct paritas_device *device;
    struct accelerator_properties properties;
    void *state; /* the backend's */
    struct accelerator_module modules[ACCELERATOR_MODULES_MAX];
    struct accelerator_buffer args, in, out, slabs;
    uint32_t teams_at_once; /* of the last launch, for tests */
    bool told;              /* that it compiles */
    size_t slabs_most;      /* bytes of slabs for which memory ran out; 0: it has not */
    char description[400];
};

/* ---- what backends share ------------------------------------------------------------------------ */

/* Vendors' libraries, and the functions that a backend calls (dynamic_library.h). */
struct accelerator_libraries {
    const char *const *names; /* the last is NULL */
    bool all;                 /* all of them are needed, else the first that is installed */
    const char *hint;         /* in words, where it comes from; NULL: there is none */
    const char *const *functions;
    size_t n_functions;
    void *api; /* a struct of n_functions pointers, which is filled */
};
#define ACCELERATOR_LIBRARIES_MAX 4
/* DEVICE_ABSENT where a library or function is missing. */
paritas_status accelerator_find_functions(paritas_context *context, const struct accelerator *accelerator,
                                          const struct accelerator_libraries *libraries);

/* The failure of a call of the interface's: out of memory, or a device that does not work. */
paritas_status accelerator_fail(paritas_context *context, const struct accelerator *accelerator,
                                const char *what, int code);
/* `who` (a compiler, a driver) does not take an entry. code 0: it has none. The log, which is put on one
 * line, may be NULL or empty. */
paritas_status accelerator_refuse(paritas_context *context, const struct accelerator *accelerator,
                                  const struct accelerator_build *build, const char *who, int code,
                                  char *log);
/* There are `count` devices of a maker's interface, and this one's number is too large: DEVICE_ABSENT. */
paritas_status accelerator_absent(paritas_context *context, const struct accelerator *accelerator,
                                  const char *interface, unsigned count);
/* The device has no arithmetic in f64. */
paritas_status accelerator_lacks_f64(paritas_context *context, const struct accelerator *accelerator);

/* ---- a device out of a backend ------------------------------------------------------------------ */

/* The required primitives, PREFIX_open and so on: one that is forgotten does not compile. A backend's table
 * has them, its codes, the dialect of its kind, and those of compile, enter and leave that it has. */
#define ACCELERATOR_PRIMITIVES(prefix)                                                                  \
    .open = prefix##_open, .close = prefix##_close, .allocate = prefix##_allocate,                      \
    .release = prefix##_release, .write = prefix##_write, .read = prefix##_read,                        \
    .options = prefix##_options, .load = prefix##_load, .unload = prefix##_unload, .run = prefix##_run, \
    .finish = prefix##_finish
/* The text that the build embeds as SYMBOL, SYMBOL_size (declared by ACCELERATOR_DECLARE_DIALECT). */
#define ACCELERATOR_DIALECT(symbol) .dialect = symbol, .dialect_size = &symbol##_size
#define ACCELERATOR_DECLARE_DIALECT(symbol) \
    extern const unsigned char symbol[];    \
    extern const size_t symbol##_size;

/* Operations of a device, out of those of a backend. */
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
