/* device.h: the contract of a device. A device knows bytes and entries, nothing of models or statistics.
 *
 *   open ─► model_upload ─► launch (rows of jobs in, rows of results out) ─► ... ─► model_release ─► close
 *
 * What any new device must implement, all required, filled by PARITAS_DEVICE_OPERATIONS so that a forgotten
 * one does not compile. A device may be absent (open answers PARITAS_NO_DEVICE and why), never partial. The
 * kernels' text fixes every bit of a result, so devices may cut the rows among workers as they like. To add
 * one: a folder here, its operations (accelerator.h has all but a dozen primitives), one line in registry.c,
 * its name in the tests' list of devices.
 */
#ifndef PARITAS_DEVICE_DEVICE_H
#define PARITAS_DEVICE_DEVICE_H

#include "base/context.h"
#include "device/kernel_module.h"

#include <stdbool.h>

#define PARITAS_DEVICE_API 1

/* A frozen model: two tables as kernels read them, owned by the caller while it is uploaded. */
struct device_tables {
    const uint32_t *ints;
    const double *reals;
    size_t n_ints, n_reals;
};

/* Whom a launch tells how far it is: of `total` jobs, `before` were done when it began. */
struct device_progress {
    paritas_progress report; /* NULL: nobody */
    void *user;
    uint64_t before, total;
};

/* One launch. Rows are job-major arrays of f64 on the host; an f32 device converts. */
struct device_launch {
    unsigned entry; /* of the model's module */
    uint32_t rows;  /* jobs; teams are rows / (lanes * share), rounded up */
    uint32_t share; /* jobs that a lane works through, for entries that have queues; 0: one */
    const uint32_t *args;
    const double *in;
    double *out;
    size_t n_args, n_in, n_out;
    size_t slab;      /* elements of one fit's working memory */
    size_t slab_most; /* the same of the model's most demanding entry, which may follow */
    size_t touched;   /* how many of them the entry uses again and again: decides the lanes */
    unsigned lanes;   /* wished width; 0: the device chooses by `touched` */
    double cost;      /* of a job, in units of about 2 ps; 0: not known, and worth a thread */
    const struct device_progress *progress; /* NULL: nobody is told */
};

/* Says that about `done` rows are done. False: the caller cancels. */
static inline bool device_report(const struct device_launch *launch, uint64_t done)
{
    const struct device_progress *p = launch->progress;
    if (!p || !p->report) return true;
    return p->report(p->user, p->before + (done < launch->rows ? done : launch->rows), p->total) == 0;
}

struct paritas_device;

/* More than a caller of the library is told of a device that cannot be opened: to it both are
 * PARITAS_NO_DEVICE. */
#define DEVICE_ABSENT ((paritas_status) - 100)
#define DEVICE_LACKS_PRECISION ((paritas_status) - 101)

struct device_operations {
    uint32_t api;
    /* Opens device number `index` of this kind into device->state. On failure the context's message says why;
     * DEVICE_ABSENT: there is no device of that number, DEVICE_LACKS_PRECISION: there is, without arithmetic
     * in device->precision. */
    paritas_status (*open)(paritas_context *context, struct paritas_device *device, const char *isa,
                           unsigned index);
    void (*close)(struct paritas_device *device);
    /* A name for people: processor, instruction set, driver. Owned by the device. */
    const char *(*describe)(const struct paritas_device *device);
    /* Puts the tables of a model of this module where its kernels can read them. *handle is the device's. */
    paritas_status (*model_upload)(paritas_context *context, struct paritas_device *device,
                                   const struct kernel_module *module, const struct device_tables *tables,
                                   void **handle);
    void (*model_release)(struct paritas_device *device, void *handle);
    /* Runs an entry over all rows and returns when `out` is written. */
    paritas_status (*launch)(paritas_context *context, struct paritas_device *device, void *handle,
                             const struct device_launch *launch);
};
#define PARITAS_DEVICE_OPERATIONS(prefix)                                              \
    {PARITAS_DEVICE_API,    prefix##_open,          prefix##_close, prefix##_describe, \
     prefix##_model_upload, prefix##_model_release, prefix##_launch}

/* A model that stays on a device: later launches bring only data, starts and options. */
struct device_resident {
    uint64_t serial; /* of the model; 0: a free place */
    uint64_t used;   /* the device's launches when it was last asked for */
    void *handle;
};
#define DEVICE_RESIDENTS 8

struct automatic;

struct paritas_device {
    const struct device_operations *operations;
    paritas_allocator allocator;
    unsigned threads;   /* workers of the CPU */
    unsigned precision; /* 64 or 32 */
    unsigned workers;   /* size of a work-group on devices that have them; 0: the device's choice */
    unsigned index;
    uint32_t teams;              /* how many keep it busy, with some to spare */
    bool keeps_models;           /* its copies of tables stand on their own */
    bool is_processor;           /* the CPU, under this or another name */
    bool processors;             /* may it be that? Else opening it fails */
    bool slow_f64;               /* f32 with polish is the quicker way to the same answers */
    struct automatic *automatic; /* owned; of a CPU that was opened as "auto" */
    struct device_resident residents[DEVICE_RESIDENTS];
    uint64_t uploads, builds, launches; /* counted, for tests */
    char name[32];                      /* as `paritas devices` lists it: "cpu", "opencl:0" */
    char isa[16];                       /* "avx512", ...; "" where it means nothing */
    void *state;                        /* the implementation's */
};

/* Opens the device called `name` ("cpu", "opencl", "opencl:1"; "auto": see automatic.h; NULL: "cpu") in this
 * precision. Owned by the caller, closed by device_close. A device that cannot run is PARITAS_NO_DEVICE with
 * the reason, never another one. */
paritas_status device_open(paritas_context *context, const char *name, const char *isa, unsigned precision,
                           struct paritas_device **device);
/* Names of the kinds, in the order of `paritas devices`; NULL behind the last. */
const char *device_kind(size_t k);
/* The same, but the status tells more; for those who go on looking. `processors`: also devices that are the
 * CPU under another name. */
paritas_status device_try(paritas_context *context, const char *name, const char *isa, unsigned precision,
                          bool processors, struct paritas_device **device);
/* The same for given operations: `name` is what the device is called, `index` which of its kind. */
paritas_status device_open_as(paritas_context *context, const struct device_operations *operations,
                              const char *name, const char *isa, unsigned precision, bool processors,
                              unsigned index, struct paritas_device **device);
void device_close(struct paritas_device *device); /* NULL is a no-op */

/* How many teams a launch should have, where its caller can choose. */
uint32_t device_teams(const struct paritas_device *device);

/* A number for a new model that no other in this process has. A counter, the one thing that the library
 * shares between contexts. */
uint64_t device_model_serial(void);
/* Runs a launch for the model of that serial number. Devices that keep models upload its tables where
 * they are not there yet; the least lately used of DEVICE_RESIDENTS + 1 goes. Others read the caller's
 * tables. */
paritas_status device_launch_model(paritas_context *context, struct paritas_device *device, uint64_t serial,
                                   const struct kernel_module *module, const struct device_tables *tables,
                                   const struct device_launch *launch);

/* The kinds that this build knows, in the order of `paritas devices`. */
extern const struct device_operations device_cpu;
extern const struct device_operations device_cuda;
extern const struct device_operations device_opencl;
extern const struct device_operations device_metal;

#endif
