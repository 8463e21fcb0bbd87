/* device.h: what upper layers know of devices, and what a kind of device implements.
 *
 *   device_open ─► device_launch (job rows in, result rows out) ─► ... ─► device_close
 *
 * Calls go one way: device.c (front door) ─► device_automatic.c ("auto") ─► device_plain.c (names, self-test,
 * resident models) ─► a kind: cpu/, or accelerator.c with cuda/, metal/ or opencl/.
 *
 * A device knows bytes and entries only. The kernel text fixes every bit of a result, so rows may go to
 * workers in any order. New devices: docs/adding-a-device.md. */
#ifndef PARITAS_DEVICE_DEVICE_H
#define PARITAS_DEVICE_DEVICE_H

#include "base/context.h"
#include "device/kernel_module.h"

#include <stdbool.h>

/* The two tables of a frozen model. Owned by the caller. */
struct device_tables {
    const uint32_t *ints;
    const double *reals;
    size_t n_ints, n_reals;
};

/* Progress of `total` jobs; `before` were done when the launch began. */
struct device_progress {
    paritas_progress report;
    void *user;
    uint64_t before, total;
};

/* A model as devices see it; `serial` comes from device_model_serial. */
struct device_model {
    uint64_t serial;
    const struct kernel_module *module;
    struct device_tables tables;
};

/* One launch. Host rows are job-major f64; an f32 device converts them. */
struct device_launch {
    unsigned entry; /* of the model's module */
    uint32_t rows;  /* jobs; teams = rows / (lanes * share), rounded up */
    uint32_t share; /* jobs per lane, for entries with queues; 0: one */
    const uint32_t *args;
    const double *in;
    double *out;
    size_t n_args, n_in, n_out;
    size_t slab;                            /* elements of working memory per fit */
    size_t slab_most;                       /* the same of the model's largest entry, which may follow */
    size_t touched;                         /* elements in constant use: decides the lanes */
    unsigned lanes;                         /* wanted width; 0: by `touched` */
    double cost;                            /* per job, in units of about 2 ps; 0: unknown, worth a thread */
    bool usual_teams;                       /* no larger teams for few rows (self-test) */
    const struct device_progress *progress; /* may be NULL */
};

/* Which device of its kind to open. `isa` is borrowed until then. */
struct device_request {
    const char *isa;    /* CPU only; NULL: the best */
    unsigned precision; /* 64 or 32 */
    unsigned threads;   /* CPU only */
    unsigned workers;   /* work-group size; 0: the device's choice */
    void *stream;       /* the caller's CUDA stream; NULL: make one */
    bool no_processor;  /* refuse the CPU, under any name */
};

/* Reports about `done` rows. False: the caller cancels. */
static inline bool device_report(const struct device_launch *launch, uint64_t done)
{
    const struct device_progress *p = launch->progress;
    if (!p || !p->report) return true;
    return p->report(p->user, p->before + (done < launch->rows ? done : launch->rows), p->total) == 0;
}

struct paritas_device;

/* The library's callers get PARITAS_NO_DEVICE for both (device_status). */
#define DEVICE_ABSENT ((paritas_status) - 100)
#define DEVICE_LACKS_PRECISION ((paritas_status) - 101)

/* What a kind of device implements, in full. */
struct device_operations {
    /* Opens number device->index into device->state. On failure it leaves nothing but a message.
     * DEVICE_ABSENT: no device of that number. DEVICE_LACKS_PRECISION: no arithmetic in device->precision. */
    paritas_status (*open)(paritas_context *context, struct paritas_device *device, const char *isa);
    void (*close)(struct paritas_device *device);
    /* Readable name: processor, instruction set, driver. Owned by the device. */
    const char *(*describe)(const struct paritas_device *device);
    /* Uploads a model's tables. The device owns *handle. */
    paritas_status (*model_upload)(paritas_context *context, struct paritas_device *device,
                                   const struct kernel_module *module, const struct device_tables *tables,
                                   void **handle);
    void (*model_release)(struct paritas_device *device, void *handle);
    /* Runs an entry over all rows; returns when `out` is written. */
    paritas_status (*launch)(paritas_context *context, struct paritas_device *device, void *handle,
                             const struct device_launch *launch);
    const struct accelerator_operations *accelerator; /* may be NULL */
};
/* Table of functions PREFIX_open, ...; a missing one does not compile. */
#define DEVICE_OPERATIONS(prefix) \
    {prefix##_open,               \
     prefix##_close,              \
     prefix##_describe,           \
     prefix##_model_upload,       \
     prefix##_model_release,      \
     prefix##_launch,             \
     NULL}

/* A kind's operations, e.g. DEVICE_KIND(PARITAS_DEVICE_CPU), defined in its folder. */
#define DEVICE_KIND(kind) device_operations_of_##kind
#define DEVICE_DECLARE_KIND(kind, value, word, doc) extern const struct device_operations DEVICE_KIND(kind);
PARITAS_DEVICE_KIND_LIST(DEVICE_DECLARE_KIND)
#define DEVICE_KINDS (0 PARITAS_DEVICE_KIND_LIST(PARITAS_COUNT_ITEM))

/* A model that stays on a device: later launches bring only rows. */
struct device_resident {
    uint64_t serial; /* 0: free place */
    uint64_t used;   /* launch count at the last use */
    void *handle;
};
#define DEVICE_RESIDENTS 8

struct paritas_device {
    const struct device_operations *operations;
    paritas_allocator allocator;
    /* as requested (struct device_request) */
    unsigned threads, precision, workers, index;
    void *stream;
    uint32_t teams;    /* enough to keep it busy */
    bool keeps_models; /* holds its own copies of tables */
    bool is_processor; /* the CPU, under any name */
    bool slow_f64;     /* f32 with polish is faster for the same answers */
    bool large_teams;  /* small launches get larger teams with kernels of their own */
    bool takes_stream;
    struct device_automatic *automatic; /* owned; set for "auto" */
    struct device_resident residents[DEVICE_RESIDENTS];
    uint64_t uploads, builds, launches; /* counters for tests */
    char name[32];                      /* as `paritas devices` lists it: "cpu", "opencl:0" */
    char isa[16];                       /* "avx512", ...; "" if not applicable */
    void *state;
};

/* ---- the front door ---- */

/* Opens "cpu" (NULL), "opencl", "opencl:1", "auto", ... The caller closes it with device_close. A device that
 * cannot run is an error with the reason, never another device. May return DEVICE_ABSENT or
 * DEVICE_LACKS_PRECISION. */
paritas_status device_open(paritas_context *context, const char *name, const struct device_request *request,
                           struct paritas_device **device);
/* The library's public code for this status. */
paritas_status device_status(paritas_status status);
void device_close(struct paritas_device *device); /* NULL is a no-op */

/* Name of the device that runs most ("auto" may move). Owned by the device. */
const char *device_name(const struct paritas_device *device);
/* Teams a launch should have, where its caller can choose. */
uint32_t device_teams(const struct paritas_device *device);

/* A model number, unique in the process. This counter is all that contexts share. */
uint64_t device_model_serial(void);
/* Runs a launch for a model. Devices that keep models upload missing tables and hold the last
 * DEVICE_RESIDENTS used; others read the caller's tables. */
paritas_status device_launch(paritas_context *context, struct paritas_device *device,
                             const struct device_model *model, const struct device_launch *launch);

#endif
