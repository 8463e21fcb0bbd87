/* accelerator.h: what OpenCL, CUDA and Metal have in common: memory of their own, kernels compiled at run
 * time, work-groups.
 *
 *   launch: kernel from memory, else from the cache on disk, else compiled ─► rows up ─► teams in chunks, as
 *       many at once as their
 *           slabs fit into memory ─► rows down
 *
 * A backend fills the dozen primitives of struct accelerator_operations, each a call or two of its interface;
 * all else stands in accelerator.c, once. To add one: a folder here, its dialect in kernels/dialect, a line
 * in registry.c.
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
    /* the same for launches with fewer teams than units, where larger ones leave less idle; 0: no others */
    unsigned workers_alone;
    unsigned workers_most;
    bool is_processor; /* the CPU under another name */
    bool slow_f64;     /* it has f64, at a small part of its speed in f32 */
};

/* One entry to be built. */
struct accelerator_build {
    const char *text; /* dialect, module, and the line that makes the entry a kernel; ends with a NUL */
    size_t text_size;
    const char *entry;
    unsigned precision; /* PARITAS_F64 is 1 for 64 */
    unsigned workers;   /* PARITAS_WORKERS */
};

/* A loaded entry. */
struct accelerator_kernel {
    void *program, *function; /* the backend's */
    size_t workers_most;      /* that the device can run of it */
    unsigned workers;         /* that it was built for */
};

/* Arguments of every kernel, in this order. */
struct accelerator_arguments {
    void *ints, *reals, *args, *in, *out, *slabs; /* device memory */
    /* elements of a team's slab; the number of the launch's first team */
    uint32_t slab, first_team;
};

/* The primitives. Those that answer int answer 0 or the interface's own code. Those that answer a status set
 * the message. All run on the thread that uses the context. Calls may be asynchronous but for `read` and
 * `finish`. */
struct accelerator_operations {
    const char *kind;             /* "opencl" */
    bool cached;                  /* what `compile` makes is worth keeping on disk */
    const unsigned char *dialect; /* the text of kernels/dialect/KIND.h */
    const size_t *dialect_size;
    /* Finds device number `index`, fills accelerator->properties, accelerator->state. Refuses a device that
     * cannot give the bits of device->precision. On failure it leaves what `close` can release. */
    paritas_status (*open)(paritas_context *context, struct accelerator *accelerator, unsigned index);
    void (*close)(struct accelerator *accelerator);
    int (*allocate)(struct accelerator *accelerator, size_t bytes, void **memory); /* bytes > 0 */
    void (*release)(struct accelerator *accelerator, void *memory);
    /* `from` may go away on return */
    int (*write)(struct accelerator *accelerator, void *memory, const void *from, size_t bytes);
    int (*read)(struct accelerator *accelerator, void *to, void *memory, size_t bytes);
    /* All that decides, beside the text, what `compile` makes: its options as one line, part of the cache's
     * key. */
    void (*options)(const struct accelerator *accelerator, const struct accelerator_build *build, char *line,
                    size_t room);
    /* Text to what `load` takes and the cache keeps: *binary is allocated from the context. A compiler's
     * complaint goes into the message. */
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
    const char *(*explain)(int code); /* a name or sentence for a code; NULL: none is known */
    bool (*memory_ran_out)(int code);
};
#define ACCELERATOR_OPERATIONS(prefix, kind, cached, dialect) \
    {kind,                                                    \
     cached,                                                  \
     dialect,                                                 \
     &dialect##_size,                                         \
     prefix##_open,                                           \
     prefix##_close,                                          \
     prefix##_allocate,                                       \
     prefix##_release,                                        \
     prefix##_write,                                          \
     prefix##_read,                                           \
     prefix##_options,                                        \
     prefix##_compile,                                        \
     prefix##_load,                                           \
     prefix##_unload,                                         \
     prefix##_run,                                            \
     prefix##_finish,                                         \
     prefix##_explain,                                        \
     prefix##_memory_ran_out}

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

/* The failure of a call of the interface's: out of memory, or a device that does not work. */
paritas_status accelerator_fail(paritas_context *context, const struct accelerator *accelerator,
                                const char *what, int code);

/* What of a compiler's log a message carries, in bytes; and the log (NULL is a no-op) as one line, in
 * place. */
#define ACCELERATOR_LOG_SHOWN 1500
void accelerator_one_line(char *log);

/* The slots of struct device_operations for a backend; each folder makes its table with
 * ACCELERATOR_DEVICE. */
paritas_status accelerator_open(paritas_context *context, struct paritas_device *device,
                                const struct accelerator_operations *operations, unsigned index);
void accelerator_close(struct paritas_device *device);
const char *accelerator_describe(const struct paritas_device *device);
paritas_status accelerator_model_upload(paritas_context *context, struct paritas_device *device,
                                        const struct kernel_module *module,
                                        const struct device_tables *tables, void **handle);
void accelerator_model_release(struct paritas_device *device, void *handle);
paritas_status accelerator_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                  const struct device_launch *launch);

#define ACCELERATOR_DEVICE(name, operations)                                                          \
    static paritas_status name##_device_open(paritas_context *context, struct paritas_device *device, \
                                             const char *isa, unsigned index)                         \
    {                                                                                                 \
        (void)isa; /* of the CPU */                                                                   \
        return accelerator_open(context, device, operations, index);                                  \
    }                                                                                                 \
    const struct device_operations device_##name = {                                                  \
        PARITAS_DEVICE_API,       name##_device_open,        accelerator_close, accelerator_describe, \
        accelerator_model_upload, accelerator_model_release, accelerator_launch}

#endif
