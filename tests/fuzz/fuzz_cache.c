/* fuzz_cache.c: any bytes are a kernel in the cache. It is given back whole, as its sum says, or is not
 * there. An input with an odd first byte gets the right sum. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "base/digest.h"
#include "device/kernel_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 8 + 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[sizeof fuzz_path];
    static uint8_t file[1 << 16];
    paritas_context context = fuzz_context();
    char hex[65];
    size_t length;
    if (size == 0 || size > sizeof file) return 0;
    memcpy(file, data, size);
    const bool summed = data[0] % 2 == 1 && size > HEADER;
    if (summed) {
        sha256_of_bytes((const char *)file + HEADER, size - HEADER, hex);
        memcpy(file, "paritas1", 8);
        memcpy(file + 8, hex, 64);
    }
    fuzz_write(file, size);
    const size_t end = (size_t)(strrchr(fuzz_path, '/') - fuzz_path);
    memcpy(folder, fuzz_path, end);
    context.cache = folder;
    char *const kernel = kernel_cache_read(&context, fuzz_path + end + 1, &length);
    check(!summed || kernel != NULL);
    if (kernel) check(length == size - HEADER && memcmp(kernel, file + HEADER, length) == 0);
    free(kernel);
    return 0;
}
