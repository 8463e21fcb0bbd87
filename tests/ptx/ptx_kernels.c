/* ptx_kernels.c: kernels of the driver's stand-in (cuda/cuda_fake.h) that are real PTX: translated to C and
 * compiled (translate_ptx.py), kept by the text's number, and run on fibers (cuda/native.c).
 *
 *   PTX_CACHE       folder of what was compiled
 *   PTX_OPTIONS     of the C compiler; default: -O1
 *   PTX_LOOKS=1     every access to memory is looked at (ptx_look.c)
 *   PTX_EMBEDDED=1  the driver is older than any NVRTC: programs take kernels that are embedded in them.
 *                   Else they take what their NVRTC makes for compute_75.
 *   PTX_REPORT      file that gets a line for each kernel that ran: entry, precision, threads, launches
 */
#include "ptx/ptx_look.h"
#include "device/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_MAX 1024

static struct kept {
    struct fake_image image;
    struct ptx_library *library;
} kept[KEPT_MAX];
static size_t n_kept;

struct fake_cuda *fake_cuda(void);

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && value[0] ? value : otherwise;
}

/* A device that no NVRTC has machine code for. */
__attribute__((constructor)) static void choose_device(void)
{
    struct fake_cuda *fake = fake_cuda();
    fake->driver = setting("PTX_EMBEDDED", "")[0] ? 10020 : 13000;
    fake->major = 7;
    fake->minor = 6;
    fake->memory = (size_t)8 << 30;
}

/* At the program's end: the first fault, and what ran. */
__attribute__((destructor)) static void report(void)
{
    if (fake_cuda()->fault[0]) fprintf(stderr, "the PTX: %s\n", fake_cuda()->fault);
    FILE *file = fopen(setting("PTX_REPORT", "/dev/null"), "a");
    if (!file) return;
    for (size_t k = 0; k < n_kept; k++)
        if (kept[k].library->launches)
            fprintf(file, "%s %u %u %lu\n", kept[k].image.entry, kept[k].image.precision,
                    kept[k].image.workers, kept[k].library->launches);
    fclose(file);
}

static void begin(struct ptx_thread *thread, void **arguments)
{
    struct ptx_library *library = thread->library;
    thread->thread = native_thread.x;
    thread->block = native_block.x;
    thread->threads = native_workers;
    library->launches += library->launch != fake_cuda()->ran;
    library->launch = fake_cuda()->ran;
    ptx_look_begin(thread, arguments);
}

static void barrier(struct ptx_thread *thread, unsigned place)
{
    native_barrier("barrier of the PTX", place);
    thread->barriers++;
}

/* NVRTC looks for it in a driver, and calls what it finds: nothing is there. */
__attribute__((visibility("default"))) int cuGetExportTable(const void **table, const void *id);
int cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return 500;
}

static const struct ptx_host host = {begin, barrier, ptx_look};

/* True: the text of this number is compiled. */
static int translate(const char *path, const char *library, const char *text)
{
    char command[4096];
    if (access(library, R_OK) == 0) return 1;
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) return 0;
    snprintf(command, sizeof command, "%s '%s' '%s' %s %s", PTX_TRANSLATOR, path, library,
             setting("PTX_OPTIONS", "-O1"), setting("PTX_LOOKS", "")[0] ? "-DPTX_LOOKS" : "");
    return system(command) == 0;
}

native_kernel fake_kernel(const struct fake_image *image, const char *text)
{
    char path[1024], library[1100];
    const unsigned long long number = cuda_text_number(text, strlen(text));
    if (strncmp(text, "\177ELF", 4) == 0) return NULL;
    snprintf(path, sizeof path, "%s/%s_%u_%016llx.ptx", setting("PTX_CACHE", "/tmp"), image->entry,
             image->precision, number);
    snprintf(library, sizeof library, "%s%s.so", path, setting("PTX_LOOKS", "")[0] ? ".looks" : "");
    if (n_kept == KEPT_MAX || !translate(path, library, text)) return NULL;
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    struct ptx_library *found = opened ? dlsym(opened, "ptx_library") : NULL;
    if (!found) return NULL;
    if (!found->host) kept[n_kept++] = (struct kept){*image, found};
    found->host = &host;
    native_kernel run;
    *(void **)&run = dlsym(opened, "ptx_run");
    return run;
}
