/* kernel_source.c: joins an entry's text. */
#include "device/kernel_source.h"

#include <stdio.h>
#include <string.h>

size_t kernel_source_join(const struct kernel_source *source, char *text)
{
    static const char kernel[] = "\nKERNEL_OF(PARITAS_ENTRY)\n";
    char settings[256];
    const int length =
        snprintf(settings, sizeof settings,
                 "#define PARITAS_F64 %d\n#define PARITAS_WORKERS %u\n#define PARITAS_ENTRY %s\n",
                 source->precision == 64, source->workers, source->entry);
    const size_t dialect = (size_t)length, module = dialect + source->dialect_size + 1,
                 end = module + source->module_size;
    if (text) {
        memcpy(text, settings, dialect);
        memcpy(text + dialect, source->dialect, source->dialect_size);
        text[module - 1] = '\n';
        memcpy(text + module, source->module, source->module_size);
        memcpy(text + end, kernel, sizeof kernel);
    }
    return end + sizeof kernel - 1;
}
