/* fake_kernels.c: kernels of the driver's stand-in: the modules' text as native code. */
#include "cuda/cuda_fake.h"

#include <string.h>

native_kernel fake_kernel(const struct fake_image *image, const char *text)
{
    (void)text;
#define X(module, lanes) image->precision == 64 ? native_##module##_f64 : native_##module##_f32,
    const struct native_entry *const tables[] = {PARITAS_KERNEL_MODULES(X)};
#undef X
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct native_entry *entry = tables[t]; entry->name; entry++)
            if (strcmp(entry->name, image->entry) == 0) return entry->run;
    return NULL;
}
