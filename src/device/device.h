/* device.h: what the layers above know of devices, and what a kind of device has to implement.
 *
 *   device_open ─► device_launch (rows of jobs in, rows of results out) ─► ... ─► device_close
 *
 * Calls go one way: device.c (the front door) ─► device_automatic.c ("auto": the CPU or an accelerator)
 * ─► device_plain.c (names, self-test, models that stay) ─► a kind: cpu/, or accelerator.c with cuda/,
 * metal/ or opencl/.
 *
 * A device knows bytes and entries, nothing of models or statistics. The text of the kernels fixes every bit
 * of a result, so a device may deal rows out to workers as it likes. docs/adding-a-device.md says how to add
 * one.
 */
#ifndef PARITAS_DEVICE_DEVICE_H
#define PARITAS_DEVICE_DEVICE_H

#include "base/context.h"
#include "device/kernel_module.h"

#include <stdbool.h>

/* The two tables of a frozen model, as kernels read them. The caller's. */
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

/* A model as devices see it. The serial number (device_model_serial) tells models apart. */
struct device_model {
    uint64_t serial;
    const struct kernel_module *module;
    struct device_tables tables;
};

/* One launch. Rows are job-major arrays of f64 on the host; an f32 device converts them. */
struct device_launch {
    unsigned entry; /* of the model's module */
    uint32_t rows;  /* jobs; teams are rows / (lanes * share), rounded up */
    uint32_t share; /* jobs that one lane works through, for entries that have queues; 0: one */
    const uint32_t *args;
    const double *in;
    double *out;
    size_t n_args, n_in, n_out;
    size_t slab;      /* elements of one fit's working memory */
    size_t slab_most; /* the same of the model's most demanding entry, which may follow */
    size_t touched;   /* how many of them the entry uses again and again: decides the lanes */
    unsigned lanes;   /* wished width; 0: the device chooses by `touched` */
    double cost;      /* of a job, in units of about 2 ps; 0: not known, and worth a thread */
    bool usual_teams; /* no larger teams, even where there are few; for the self-test */
    const struct device_progress *progress; /* NULL: nobody is told */
};

/* Which device of its kind to open, and how. `isa` is borrowed until the device is open. */
struct device_request {
    const char *isa;    /* of the CPU's kernels; NULL: the best */
    unsigned precision; /* 64 or 32 */
    unsigned threads;   /* of the CPU */
    unsigned workers;   /* size of a work-group; 0: the device's choice */
    void *stream;       /* the caller's, for a CUDA device; NULL: the device makes its own */
    bool no_processor;  /* refuse the CPU, also under another name */
};

/* Says that about `done` rows are done. False: the caller cancels. */
static inline bool device_report(const struct device_launch *launch, uint64_t done)
{
    const struct device_progress *p = launch->progress;
    if (!p || !p->report) return true;
    return p->report(p->user, p->before + (done < launch->rows ? done : launch->rows), p->total) == 0;
}

struct paritas_device;

/* A caller of the library learns PARITAS_NO_DEVICE for both (device_status). */
#define DEVICE_ABSENT ((paritas_status) - 100)
#define DEVICE_LACKS_PRECISION ((paritas_status) - 101)

/* What a kind of device implements, all of it. */
struct device_operations {
    /* Opens number device->index of this kind into device->state. On failure it leaves nothing, and the
     * message says why. DEVICE_ABSENT: there is no device of that number. DEVICE_LACKS_PRECISION: there is,
     * without arithmetic in device->precision. */
    paritas_status (*open)(paritas_context *context, struct paritas_device *device, const char *isa);
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
    const struct accelerator_operations *accelerator; /* primitives behind accelerator.c; NULL: none */
};
/* A table of functions PREFIX_open, ...: one that is forgotten does not compile. */
#define DEVICE_OPERATIONS(prefix) \
    {prefix##_open,               \
     prefix##_close,              \
     prefix##_describe,           \
     prefix##_model_upload,       \
     prefix##_model_release,      \
     prefix##_launch,             \
     NULL}

/* The operations of a kind, for example DEVICE_KIND(PARITAS_DEVICE_CPU); its folder defines them. */
#define DEVICE_KIND(kind) device_operations_of_##kind
#define DEVICE_DECLARE_KIND(kind, value, word, doc) extern const struct device_operations DEVICE_KIND(kind);
PARITAS_DEVICE_KIND_LIST(DEVICE_DECLARE_KIND)
#define DEVICE_KINDS (0 PARITAS_DEVICE_KIND_LIST(PARITAS_COUNT_ITEM))

/* A model that stays on a device: later launches bring only data, starts and options. */
struct device_resident {
    uint64_t serial; /* of the model; 0: a free place */
    uint64_t used;   /* the device's launches when it was last asked for */
    void *handle;
};
#define DEVICE_RESIDENTS 8

struct paritas_device {
    const struct device_operations *operations;
    paritas_allocator allocator;
    /* as they were asked for (struct device_request) */
    unsigned threads, precision, workers, index;
    void *stream;
    uint32_t teams;    /* how many keep it busy, with some to spare */
    bool keeps_models; /* its copies of tables stand on their own */
    bool is_processor; /* the CPU, under this or another name */
    bool slow_f64;     /* f32 with polish is the quicker way to the same answers */
    bool large_teams;  /* launches of few teams get larger ones, with kernels of their own */
    bool takes_stream;
    struct device_automatic *automatic; /* owned; of a CPU that was opened as "auto" */
    struct device_resident residents[DEVICE_RESIDENTS];
    uint64_t uploads, builds, launches; /* counted, for tests */
    char name[32];                      /* as `paritas devices` lists it: "cpu", "opencl:0" */
    char isa[16];                       /* "avx512", ...; "" where it means nothing */
    void *state;                        /* the kind's */
};

/* ---- the front door ----------------------------------------------------------------------------- */

/* Opens the device called `name` ("cpu", "opencl", "opencl:1"; "auto": see device_automatic.h; NULL: "cpu").
 * Owned by the caller, closed by device_close. A device that cannot run is an error with the reason, never
 * another device. The status may be DEVICE_ABSENT or DEVICE_LACKS_PRECISION. */
paritas_status device_open(paritas_context *context, const char *name, const struct device_request *request,
                           struct paritas_device **device);
/* What a caller of the library learns instead of this status. */
paritas_status device_status(paritas_status status);
void device_close(struct paritas_device *device); /* NULL is a no-op */

/* The name of what runs most: "auto" may have moved to an accelerator. Owned by the device. */
const char *device_name(const struct paritas_device *device);
/* How many teams a launch should have, where its caller can choose. */
uint32_t device_teams(const struct paritas_device *device);

/* A number for a new model that no other in this process has. A counter, the one thing that the library
 * shares between contexts. */
uint64_t device_model_serial(void);
/* Runs a launch for a model. Devices that keep models upload its tables where they are not there yet; the
 * least lately used of DEVICE_RESIDENTS + 1 goes. Other devices read the caller's tables. */
paritas_status device_launch(paritas_context *context, struct paritas_device *device,
                             const struct device_model *model, const struct device_launch *launch);

#endif
