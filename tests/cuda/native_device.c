/* native_device.c: see native_device.h. */
#include "cuda/native_device.h"
#include "cuda_native_modules.h"
#include "device/device.h"
#include "device/device_precision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char native_fault[256];

const struct native_team native_teams[NATIVE_TEAMS] = {{3, NATIVE_SHUFFLED, "3 workers, shuffled"},
                                                       {32, NATIVE_SHUFFLED, "32 workers, shuffled"},
                                                       {32, NATIVE_BACKWARD, "32 workers, backwards"},
                                                       {1, NATIVE_FORWARD, "1 worker"}};

void use_native_team(const struct native_team *team, uint64_t seed)
{
    native_workers = team->workers;
    native_settings = (struct native_settings){.order = team->order, .seed = seed};
    native_fault[0] = '\0';
}

#define X(module) extern const struct native_entry native_##module##_f64[], native_##module##_f32[];
CUDA_NATIVE_MODULES(X)
#undef X

static const struct {
    const char *name;
    const struct native_entry *f64, *f32;
} modules[] = {
#define X(module) {#module, native_##module##_f64, native_##module##_f32},
    CUDA_NATIVE_MODULES(X)
#undef X
};

struct native_model {
    const struct native_entry *entries;
    uint32_t *ints;
    void *reals;
};

/* A copy, so that a sanitizer sees what lies behind. Tests end where there is no memory. */
static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (!to) abort();
    if (bytes) memcpy(to, from, bytes);
    return to;
}

static void native_model_release(struct paritas_device *device, void *handle)
{
    struct native_model *model = handle;
    (void)device;
    if (!model) return;
    free(model->ints);
    free(model->reals);
    free(model);
}

static paritas_status native_model_upload(paritas_context *context, struct paritas_device *device,
                                          const struct kernel_module *module,
                                          const struct device_tables *tables, void **handle)
{
    const unsigned precision = device->precision;
    struct native_model *model = calloc(1, sizeof *model);
    if (!model) abort();
    for (size_t k = 0; k < sizeof modules / sizeof modules[0]; k++)
        if (strcmp(modules[k].name, module->name) == 0)
            model->entries = precision == 64 ? modules[k].f64 : modules[k].f32;
    if (!model->entries) {
        free(model);
        return paritas_fail(context, PARITAS_NO_DEVICE, "%s is not built as native code", module->name);
    }
    const void *reals = precision_narrow(context, precision, tables->reals, tables->n_reals);
    model->ints = copy(tables->ints, tables->n_ints * sizeof *tables->ints);
    model->reals = copy(reals, tables->n_reals * (precision / 8));
    precision_release(&context->allocator, precision, reals);
    *handle = model;
    return PARITAS_OK;
}

static paritas_status native_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                    const struct device_launch *launch)
{
    const unsigned precision = device->precision;
    const struct native_model *model = handle;
    const uint32_t share = launch->share ? launch->share : 1;
    uint32_t slab = (uint32_t)launch->slab, team = 0;
    const size_t slab_bytes = launch->slab * (precision / 8);
    const void *in = precision_narrow(context, precision, launch->in, launch->n_in);
    float *floats = precision == 32 ? malloc((launch->n_out + 1) * sizeof *floats) : NULL;
    void *out = floats ? (void *)floats : launch->out, *own = malloc(slab_bytes + 1);
    const uint32_t *args = launch->args;
    if (!in || !own || (precision == 32 && !floats)) abort();
    void *arguments[] = {(void *)&model->ints, (void *)&model->reals, &args, &in, &out, &own, &slab, &team};
    for (; (uint64_t)team * share < launch->rows; team++) {
        memset(own, 0xff, slab_bytes);
        const char *wrong = native_run(model->entries[launch->entry].run, arguments, 1);
        if (wrong && !native_fault[0]) snprintf(native_fault, sizeof native_fault, "%s", wrong);
    }
    precision_widen(launch->out, floats, launch->n_out);
    precision_release(&context->allocator, precision, in);
    free(floats);
    free(own);
    device->launches++;
    return PARITAS_OK;
}

void use_native_device(paritas_context *context)
{
    static struct device_operations operations;
    operations = DEVICE_KIND(PARITAS_DEVICE_CPU);
    operations.model_upload = native_model_upload;
    operations.model_release = native_model_release;
    operations.launch = native_launch;
    context->device->operations = context->host->operations = &operations;
}
