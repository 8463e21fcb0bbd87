/* device_automatic.c: when and where "auto" runs a launch. */
#include "device/device_automatic.h"
#include "base/platform.h"
#include "device/device_plain.h"
#include "device/verdict.h"

#include <stdio.h>
#include <string.h>

#define TRIED_OF_A_KIND 8  /* CPUs and devices without f64 may come first */
#define SHORT_SECONDS 0.05 /* a launch below this may have been slow by chance */

static void run_on(struct device_automatic *automatic, const struct paritas_device *device)
{
    snprintf(automatic->name, sizeof automatic->name, "%s", device->name);
}

paritas_status automatic_open(paritas_context *context, const struct device_request *request,
                              struct paritas_device **device)
{
    paritas_status status = plain_open(context, "cpu", request, device);
    if (status != PARITAS_OK) return status;
    struct device_automatic *automatic = paritas_allocate_clear(context, 1, sizeof *automatic);
    if (!automatic) {
        plain_close(*device);
        *device = NULL;
        return paritas_fail_memory(context);
    }
    automatic->request = *request;
    automatic->request.isa = NULL; /* CPU only, and borrowed */
    automatic->request.no_processor = true;
    automatic->find = automatic_find;
    automatic->clock = platform_seconds;
    run_on(automatic, *device);
    (*device)->automatic = automatic;
    return PARITAS_OK;
}

struct paritas_device *automatic_find(paritas_context *context, const struct device_request *request)
{
#define KIND(kind) kind,
    static const paritas_device_kind kinds[] = {PARITAS_DEVICE_PREFERENCE(KIND)};
#undef KIND
    struct paritas_device *device = NULL;
    for (size_t k = 0; k < COUNT_OF(kinds) && !device; k++)
        for (unsigned index = 0; index < TRIED_OF_A_KIND && !device; index++) {
            char name[32];
            snprintf(name, sizeof name, "%s:%u", paritas_device_kind_name(kinds[k]), index);
            bool news;
            const paritas_status status = verdict_open(context, name, request, &device, &news);
            if (news) paritas_note_of_device(context, "device auto: %s", context->message);
            if (status == DEVICE_ABSENT) break; /* else the kind's next device may do */
        }
    return device;
}

static void look_for_accelerator(paritas_context *context, struct device_automatic *automatic)
{
    struct paritas_context aside = *context; /* nobody asked for these devices: no messages */
    automatic->searched = true;
    automatic->accelerator = automatic->find(&aside, &automatic->request);
    if (automatic->accelerator)
        paritas_note_of_device(context, "device auto: after %.1f s on the CPU, %s (%s) is tried beside it",
                               automatic->seconds, automatic->accelerator->name,
                               automatic->accelerator->operations->describe(automatic->accelerator));
    else if (verdict_is_news(context, automatic->request.precision == 64 ? "no accelerator in f64"
                                                                         : "no accelerator in f32"))
        paritas_note_of_device(
            context,
            "device auto: no accelerator runs f%u here (an OpenCL device that is the processor "
            "itself is none), the CPU goes on",
            automatic->request.precision);
}

void automatic_close(struct device_automatic *automatic, const paritas_allocator *allocator)
{
    if (!automatic) return;
    plain_close(automatic->accelerator);
    paritas_release(allocator, automatic);
}

/* floor(log2(number)); 0 for 0 */
static unsigned size_of(size_t number)
{
    unsigned size = 0;
    while (number >> size > 1) size++;
    return size;
}

static struct automatic_kind *kind_of(struct device_automatic *automatic, const struct kernel_module *module,
                                      const struct device_launch *launch)
{
    const unsigned rows = size_of(launch->rows), slab = size_of(launch->slab);
    struct automatic_kind *oldest = &automatic->kinds[0];
    for (size_t k = 0; k < AUTOMATIC_KINDS; k++) {
        struct automatic_kind *kind = &automatic->kinds[k];
        if (kind->module == module && kind->entry == launch->entry && kind->rows == rows &&
            kind->slab == slab) {
            kind->used = ++automatic->launches;
            kind->launches++;
            return kind;
        }
        if (kind->used < oldest->used) oldest = kind;
    }
    *oldest = (struct automatic_kind){.module = module,
                                      .used = ++automatic->launches,
                                      .launches = 1,
                                      .entry = launch->entry,
                                      .rows = rows,
                                      .slab = slab};
    return oldest;
}

/* Returns false if the device failed and is closed. The CPU must then run the launch. */
static bool accelerated(paritas_context *context, struct paritas_device *cpu, struct automatic_kind *kind,
                        const struct device_model *model, const struct device_launch *launch,
                        paritas_status *status)
{
    struct device_automatic *automatic = cpu->automatic;
    struct paritas_device *accelerator = automatic->accelerator;
    const double before = automatic->clock();
    *status = plain_launch(context, accelerator, model, launch);
    const double seconds = automatic->clock() - before;
    if (*status == PARITAS_OK && kind->accelerated++ > 0 && seconds > 0.0)
        kind->accelerator_rate = launch->rows / seconds;
    if (*status == PARITAS_OK && kind->accelerator_rate > kind->cpu_rate &&
        strcmp(automatic->name, accelerator->name) != 0) {
        run_on(automatic, accelerator);
        paritas_note_of_device(context, "device auto: %s runs %s at %.2g times the CPU's rate",
                               accelerator->name, model->module->entries[launch->entry],
                               kind->accelerator_rate / kind->cpu_rate);
    }
    if (*status == PARITAS_OK || *status == PARITAS_CANCELLED) return true;
    paritas_note_of_device(context, "device auto: the CPU goes on alone, since %s", context->message);
    plain_close(accelerator);
    automatic->accelerator = NULL;
    run_on(automatic, cpu);
    return false;
}

/* The CPU first, for a rate; then the accelerator until timed; then the faster. After 4, 8, 16, ... launches
 * the slower is timed again if that is short: another program may have slowed it down. */
static bool choose_accelerator(const struct automatic_kind *kind, uint32_t rows)
{
    const double cpu = kind->cpu_rate, accelerator = kind->accelerator_rate,
                 slower = cpu < accelerator ? cpu : accelerator;
    if (cpu == 0.0 || accelerator == 0.0) return cpu > 0.0;
    const bool again = (kind->launches & (kind->launches - 1)) == 0 && rows < SHORT_SECONDS * slower;
    return (accelerator > cpu) != again;
}

paritas_status automatic_launch(paritas_context *context, struct paritas_device *device,
                                const struct device_model *model, const struct device_launch *launch)
{
    struct device_automatic *automatic = device->automatic;
    struct automatic_kind *kind = kind_of(automatic, model->module, launch);
    paritas_status status = PARITAS_OK;
    if (automatic->accelerator && choose_accelerator(kind, launch->rows) &&
        accelerated(context, device, kind, model, launch, &status))
        return status;
    const double before = automatic->clock();
    status = plain_launch(context, device, model, launch);
    const double seconds = automatic->clock() - before;
    automatic->seconds += seconds;
    if (status == PARITAS_OK && seconds > 0.0) kind->cpu_rate = launch->rows / seconds;
    if (status == PARITAS_OK && !automatic->searched && automatic->seconds > AUTOMATIC_SECONDS)
        look_for_accelerator(context, automatic);
    return status;
}
