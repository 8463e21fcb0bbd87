/* library_build.c: what the build put into the library. */
#include "device/kernel_embedded.h"
#include "device/kernel_modules.h"

#include <stdio.h>

/* Of it every variant is built. */
static const struct kernel_module *const module = &paritas_module_histfactory;

paritas_build paritas_library_build(void)
{
    paritas_build build = {.variants = module->n_variants};
    for (const struct kernel_embedded *k = paritas_kernels_embedded; k->packed; k++) {
        build.cuda_kernels++;
        build.cuda_bytes += k->packed_size;
        build.cuda_bytes_unpacked += k->size;
    }
    return build;
}

const char *paritas_library_variant(size_t index, size_t room, char *text)
{
    GIVEN(NULL, text);
    if (index >= module->n_variants) return NULL;
    const struct cpu_variant *v = &module->variants[index];
    snprintf(text, room, "f%u_%s_w%up%u", v->precision, v->isa, v->lanes, v->pack);
    return text;
}
