/* device_kind.h: a device, what runs on it, and what a kind of devices implements.
 *
 * A device knows only bytes and entries. Kernel text fixes every bit, so workers may take rows in any order.
 * New devices: docs/adding-a-device.md. */
#pragma once

#include "base/context.h"
#include "device/kernel_module.h"

#include <stdbool.h>

/* A frozen model's tables. Owned by the caller. */
struct device_tables {
    const uint32_t *ints;
    const double *reals;
    size_t n_ints, n_reals;
};

/* Progress of `total` jobs, `before` done at the launch. */
struct device_progress {
    paritas_progress report;
    void *user;
    uint64_t before, total;
};

struct device_model {
    uint64_t serial;
    const struct kernel_module *module;
    struct device_tables tables;
};

/* Elements of a slab. */
struct device_part {
    size_t from, to;
};

/* One launch. Host rows are job-major f64; f32 devices convert. */
struct device_launch {
    unsigned entry;
    uint32_t rows;  /* jobs; teams = rows / (lanes * share), rounded up */
    uint32_t share; /* jobs per lane, with queues; 0: one */
    const uint32_t *args;
    const double *in;
    double *out;
    size_t n_args, n_in, n_out;
    size_t slab;      /* working memory per fit, elements */
    size_t slab_most; /* of the model's largest entry, which may follow */
    /* in the slab: the matrix that kernels clear before they read it. Until then it takes no memory. */
    struct device_part matrix;
    size_t touched;   /* in constant use: decides the lanes */
    unsigned lanes;   /* 0: by `touched` */
    double cost;      /* per job, about 2 ps each; 0: unknown, worth a thread */
    bool usual_teams; /* no larger teams for few rows */
    uint32_t *limit;  /* in `args`, of jobs that may take long: 0 ends them; or NULL */
    /* in `args`: the limit that an earlier launch in the same slabs reached: jobs go on there; or NULL */
    uint32_t *before;
    const struct device_progress *progress; /* may be NULL */
};

/* `isa` is borrowed until the device is open. */
struct device_request {
    const char *isa; /* CPU only; NULL: the best */
    unsigned precision;
    unsigned threads;  /* CPU only */
    unsigned workers;  /* 0: the device's choice */
    void *stream;      /* the caller's CUDA stream; NULL: our own */
    bool no_processor; /* refuse the CPU, under any name */
};

/* Returns false if the caller cancels. */
static inline bool device_report(const struct device_launch *launch, uint64_t done)
{
    const struct device_progress *p = launch->progress;
    if (!p || !p->report) return true;
    return p->report(p->user, p->before + (done < launch->rows ? done : launch->rows), p->total) == 0;
}

struct paritas_device;

/* Public code of both: PARITAS_NO_DEVICE (device_status). */
#define DEVICE_ABSENT ((paritas_status) - 100)
#define DEVICE_LACKS_PRECISION ((paritas_status) - 101)

/* All that a kind implements. */
struct device_operations {
    /* Opens device->index into device->state; a failure leaves only a message. DEVICE_ABSENT: no such number.
     * DEVICE_LACKS_PRECISION: no arithmetic in device->precision. */
    paritas_status (*open)(paritas_context *context, struct paritas_device *device, const char *isa);
    void (*close)(struct paritas_device *device);
    /* Processor, instruction set, driver. Owned by the device. */
    const char *(*describe)(const struct paritas_device *device);
    /* The device owns *handle. */
    paritas_status (*model_upload)(paritas_context *context, struct paritas_device *device,
                                   const struct kernel_module *module, const struct device_tables *tables,
                                   void **handle);
    void (*model_release)(struct paritas_device *device, void *handle);
    /* Returns when `out` is written for all rows. */
    paritas_status (*launch)(paritas_context *context, struct paritas_device *device, void *handle,
                             const struct device_launch *launch);
    const struct accelerator_operations *accelerator; /* may be NULL */
};
/* Functions PREFIX_open, ...; a missing one does not compile. */
#define DEVICE_OPERATIONS(prefix) \
    {prefix##_open,               \
     prefix##_close,              \
     prefix##_describe,           \
     prefix##_model_upload,       \
     prefix##_model_release,      \
     prefix##_launch,             \
     NULL}

/* A kind's operations, defined in its folder. */
#define DEVICE_KIND(kind) device_operations_of_##kind
#define DEVICE_DECLARE_KIND(kind, value, word, doc) extern const struct device_operations DEVICE_KIND(kind);
PARITAS_DEVICE_KIND_LIST(DEVICE_DECLARE_KIND)
#define DEVICE_KINDS (0 PARITAS_DEVICE_KIND_LIST(PARITAS_COUNT_ITEM))

/* A model kept on a device: launches bring only rows. */
struct device_resident {
    uint64_t serial; /* 0: free place */
    uint64_t used;   /* launch number of the last use */
    void *handle;
};
#define DEVICE_RESIDENTS 8

struct paritas_device {
    const struct device_operations *operations;
    paritas_allocator allocator;
    /* as requested */
    unsigned threads, precision, workers, index;
    void *stream;
    uint32_t teams; /* to keep it busy */
    unsigned team_workers;
    uint64_t memory;   /* bytes; 0: unknown, or the machine's */
    bool keeps_models; /* has own copies of tables */
    bool is_processor; /* the CPU, under any name */
    bool slow_f64;     /* f32 with polish is faster */
    bool large_teams;  /* small launches get larger teams */
    bool takes_stream;
    struct device_automatic *automatic; /* owned, for "auto" */
    struct device_resident residents[DEVICE_RESIDENTS];
    uint64_t uploads, builds, launches; /* for tests */
    char name[32];                      /* as `paritas devices` lists it: "cpu", "opencl:0" */
    char isa[16];                       /* "" if not applicable */
    void *state;
};
