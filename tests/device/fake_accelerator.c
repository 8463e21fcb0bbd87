/* fake_accelerator.c: see fake_accelerator.h. A binary is the build's precision, the entry's name and a sum
 * over the text. */
#include "device/fake_accelerator.h"
#include "device/device.h"
#include "device/device_plain.h"
#include "device/kernel_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;
#define MODULE(name, lanes) &paritas_module_##name,
static const struct kernel_module *const modules[] = {PARITAS_KERNEL_MODULES(MODULE)};
#undef MODULE
static const unsigned char dialect[] = "/* the dialect of a fake device */\n";
static const size_t dialect_size = sizeof dialect - 1;

void fake_reset(void)
{
    fake = (struct fake){.buffers = 0};
    snprintf(fake.versions, sizeof fake.versions, "driver 1");
}

static paritas_status fake_open(paritas_context *context, struct accelerator *accelerator)
{
    if (fake.refuses_to_open)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device 'fake': it does not want to");
    fake.opens++;
    accelerator->properties = (struct accelerator_properties){
        .units = 4, .teams_per_unit = 4, .workers = 8, .workers_most = 64, .is_processor = fake.is_processor};
    snprintf(accelerator->properties.name, sizeof accelerator->properties.name, "fake");
    snprintf(accelerator->properties.versions, sizeof accelerator->properties.versions, "%s", fake.versions);
    return PARITAS_OK;
}

static void fake_close(struct accelerator *accelerator)
{
    (void)accelerator;
    if (!fake.refuses_to_open) fake.closes++;
}

static int fake_allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    (void)accelerator;
    *memory = fake.buffer_most && bytes > fake.buffer_most ? NULL : malloc(bytes);
    if (!*memory) return FAKE_OUT_OF_MEMORY;
    memset(*memory, 0xff, bytes); /* NaN: nothing may be read that was not written */
    fake.buffers++;
    return 0;
}

static void fake_release(struct accelerator *accelerator, void *memory)
{
    (void)accelerator;
    free(memory);
    fake.buffers--;
}

static int fake_write(struct accelerator *accelerator, void *memory, const void *from, size_t bytes)
{
    (void)accelerator;
    memcpy(memory, from, bytes);
    return 0;
}

static int fake_read(struct accelerator *accelerator, void *to, void *memory, size_t bytes)
{
    (void)accelerator;
    memcpy(to, memory, bytes);
    return 0;
}

static void fake_options(const struct accelerator_build *build, char *line, size_t room)
{
    snprintf(line, room, "f%u %u", build->precision, build->workers);
}

struct fake_binary {
    char entry[48];
    unsigned precision;
    unsigned long sum;
};

static struct fake_binary binary_of(const struct accelerator_build *build)
{
    struct fake_binary binary;
    memset(&binary, 0, sizeof binary);
    snprintf(binary.entry, sizeof binary.entry, "%s", build->entry);
    binary.precision = build->precision;
    for (size_t i = 0; i < build->text_size; i++)
        binary.sum = 31 * binary.sum + (unsigned char)build->text[i];
    return binary;
}

static paritas_status fake_compile(const struct accelerator_build *build, void **binary, size_t *size)
{
    paritas_context *context = build->context;
    if (fake.refuses_text || build->text[build->text_size] != '\0')
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device 'fake': its compiler refuses the kernels: line 3 is not to its taste");
    const struct fake_binary made = binary_of(build);
    *size = sizeof made;
    *binary = paritas_allocate(context, *size, 1);
    if (!*binary) return paritas_fail_memory(context);
    memcpy(*binary, &made, sizeof made);
    fake.compiles++;
    return PARITAS_OK;
}

static paritas_status fake_load(const struct accelerator_build *build, const void *binary, size_t size,
                                struct accelerator_kernel *kernel)
{
    paritas_context *context = build->context;
    const struct fake_binary wanted = binary_of(build);
    if (fake.refuses_binaries || size != sizeof wanted || memcmp(binary, &wanted, size) != 0)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device 'fake': that is no binary of its");
    for (size_t m = 0; m < sizeof modules / sizeof modules[0]; m++)
        for (size_t v = 0; v < modules[m]->n_variants; v++) {
            const struct cpu_variant *variant = &modules[m]->variants[v];
            if (variant->precision != build->precision || strcmp(variant->isa, "portable") != 0) continue;
            for (unsigned e = 0; e < modules[m]->n_entries; e++)
                if (strcmp(modules[m]->entries[e], build->entry) == 0)
                    kernel->function = (void *)&variant->entries[e];
        }
    if (!kernel->function)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device 'fake': there is no entry %s", build->entry);
    kernel->workers_most = fake.workers_most_of_entry ? fake.workers_most_of_entry : 1024;
    fake.loads++;
    return PARITAS_OK;
}

static void fake_unload(struct accelerator *accelerator, struct accelerator_kernel *kernel)
{
    (void)accelerator;
    kernel->function = NULL;
    fake.unloads++;
}

static int fake_run(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                    const struct accelerator_arguments *of, uint32_t teams)
{
    if (fake.gone_after && fake.runs >= fake.gone_after) return FAKE_GONE;
    if (fake.teams_most && teams > fake.teams_most) return FAKE_OUT_OF_MEMORY;
    fake.runs++;
    if (teams > fake.largest) fake.largest = teams;
    fake.teams += teams;
    const size_t element = accelerator->device->precision / 8;
    const cpu_entry entry = *(const cpu_entry *)kernel->function;
    for (uint32_t t = 0; t < teams; t++)
        entry(of->ints, of->reals, of->args, of->in, of->out,
              (char *)of->slabs + (size_t)t * of->slab * element, of->first_team + t);
    if (fake.wrong_number) ((unsigned char *)of->out)[(fake.wrong_number - 1) * element] ^= 1;
    fake.seconds += fake.seconds_of_run;
    return 0;
}

static int fake_finish(struct accelerator *accelerator)
{
    (void)accelerator;
    return 0;
}

static const struct accelerator_code codes[] = {
    {FAKE_OUT_OF_MEMORY, true, "out of memory"}, {FAKE_GONE, false, "it is gone"}, {0, false, NULL}};
static const struct accelerator_operations operations = {
    ACCELERATOR_PRIMITIVES(fake), .compile = fake_compile, .codes = codes, ACCELERATOR_DIALECT(dialect)};
const struct device_operations device_fake = ACCELERATOR_DEVICE(&operations);

paritas_status fake_use(paritas_context *context)
{
    const struct device_request request = {
        .precision = context->precision, .threads = context->threads, .workers = context->workers};
    struct paritas_device *device;
    const paritas_status status = plain_open_as(context, &device_fake, "fake", 0, &request, &device);
    if (status != PARITAS_OK) return status;
    if (context->device != context->host) device_close(context->device);
    context->device = device;
    return PARITAS_OK;
}
