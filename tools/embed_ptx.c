/* embed_ptx.c: a step of the build: compiles kernels by NVRTC to PTX, for machines that have NVIDIA's driver
 * and no compiler.
 *
 *   embed_ptx FOLDER PRECISION MODULE ENTRY...    writes FOLDER/MODULE_PRECISION.c and .inc, and the PTX
 *       beside
 *
 * The PTX is for compute_75, which every later device runs, and of an early version of the language, so that
 * drivers older than the NVRTC of the build take it: kernels use nothing later. It is linked with the texts
 * as the library has them.
 */
#include "device/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECTURE "compute_75"
#define PTX_VERSION "7.0" /* CUDA 11.0 */

extern const unsigned char paritas_dialect_cuda[];
extern const size_t paritas_dialect_cuda_size;
#define X(name)                                       \
    extern const unsigned char paritas_text_##name[]; \
    extern const size_t paritas_text_##name##_size;
#include "ptx/modules.inc"
#undef X

static struct nvrtc_api nvrtc;

static int load(void)
{
    static const char *const names[] = NVRTC_NAMES;
    void *library = NULL, *address;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !library; k++)
        library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen(PARITAS_NVRTC, RTLD_NOW | RTLD_LOCAL); /* where CMake found it */
    if (!library) return 0;
#define X(name, symbol, parameters)                     \
    if (!(address = dlsym(library, #symbol))) return 0; \
    memcpy(&nvrtc.name, &address, sizeof address);
    NVRTC_FUNCTIONS(X)
#undef X
    return 1;
}

/* As accelerator.c joins it. */
static char *join(const char *module)
{
    static const char kernel[] = "\nKERNEL_OF(PARITAS_ENTRY)\n";
    const unsigned char *body = NULL;
    size_t size = 0;
#define X(name)                            \
    if (strcmp(module, #name) == 0) {      \
        body = paritas_text_##name;        \
        size = paritas_text_##name##_size; \
    }
#include "ptx/modules.inc"
#undef X
    char *text = body ? malloc(paritas_dialect_cuda_size + size + sizeof kernel + 1) : NULL;
    if (!text) return NULL;
    memcpy(text, paritas_dialect_cuda, paritas_dialect_cuda_size);
    text[paritas_dialect_cuda_size] = '\n';
    memcpy(text + paritas_dialect_cuda_size + 1, body, size);
    memcpy(text + paritas_dialect_cuda_size + 1 + size, kernel, sizeof kernel);
    return text;
}

/* The PTX without what only people read, of the early version. In place. */
static void shorten(char *ptx)
{
    char *to = ptx;
    for (char *line = ptx; *line;) {
        char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) : strlen(line), blank = strspn(line, " \t");
        /* shorter than any that NVRTC writes, or as long */
        if (strncmp(line, ".version ", 9) == 0)
            to += sprintf(to, ".version " PTX_VERSION "\n");
        else if (blank < length && strncmp(line + blank, "//", 2) != 0) {
            memmove(to, line + blank, length - blank);
            to += length - blank;
            *to++ = '\n';
        }
        line += length + (end != NULL);
    }
    *to = '\0';
}

/* PTX of an entry; NULL and a complaint. */
static char *compile(const char *text, const char *entry, unsigned precision)
{
    char f64[40], workers[40], name[120];
    snprintf(f64, sizeof f64, "-DPARITAS_F64=%d", precision == 64);
    snprintf(workers, sizeof workers, "-DPARITAS_WORKERS=%d", CUDA_WORKERS);
    snprintf(name, sizeof name, "-DPARITAS_ENTRY=%s", entry);
    const char *const options[] = {"--gpu-architecture=" ARCHITECTURE, f64, workers, name, NVRTC_ROUNDING};
    nvrtc_program program = NULL;
    size_t size = 0;
    char *ptx = NULL;
    int code = nvrtc.nvrtcCreateProgram(&program, text, "kernels.cu", 0, NULL, NULL);
    if (code == 0)
        code = nvrtc.nvrtcCompileProgram(program, (int)(sizeof options / sizeof options[0]), options);
    if (code == 0) code = nvrtc.nvrtcGetPTXSize(program, &size);
    if (code == 0 && (ptx = malloc(size + sizeof PTX_VERSION))) code = nvrtc.nvrtcGetPTX(program, ptx);
    if (code != 0 && nvrtc.nvrtcGetProgramLogSize(program, &size) == 0 && (ptx = realloc(ptx, size + 1)) &&
        nvrtc.nvrtcGetProgramLog(program, ptx) == 0)
        fprintf(stderr, "%s: NVRTC's code %d\n%s\n", entry, code, ptx);
    nvrtc.nvrtcDestroyProgram(&program);
    if (code != 0) {
        free(ptx);
        return NULL;
    }
    if (ptx) shorten(ptx);
    return ptx;
}

int main(int count, char **arguments)
{
    if (count < 5 || !load()) {
        fprintf(stderr, "embed_ptx: %s\n", count < 5 ? "arguments" : "NVRTC cannot be loaded");
        return 1;
    }
    const char *folder = arguments[1], *module = arguments[3];
    const unsigned precision = (unsigned)strtoul(arguments[2], NULL, 10);
    char path[4096], symbol[200];
    char *text = join(module);
    snprintf(path, sizeof path, "%s/%s_%u.c", folder, module, precision);
    FILE *source = fopen(path, "w");
    snprintf(path, sizeof path, "%s/%s_%u.inc", folder, module, precision);
    FILE *table = fopen(path, "w");
    if (!text || !source || !table) return 1;
    fprintf(source, "/* PTX of %s in f%u. Made by tools/embed_ptx.c. */\n", module, precision);
    for (int k = 4; k < count; k++) {
        char *ptx = compile(text, arguments[k], precision);
        if (!ptx) return 1;
        snprintf(symbol, sizeof symbol, "paritas_ptx_%s_%u", arguments[k], precision);
        snprintf(path, sizeof path, "%s/%s.ptx", folder, symbol);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(ptx, 1, strlen(ptx) + 1, file) != strlen(ptx) + 1 || fclose(file) != 0) return 1;
        fprintf(
            source,
            "__asm__(\".section .rodata\\n.global %s\\n.hidden %s\\n%s:\\n.incbin \\\"%s\\\"\\n.text\");\n",
            symbol, symbol, symbol, path);
        fprintf(table, "X(%s, %u, 0x%016llxu, %s, %zu)\n", arguments[k], precision,
                (unsigned long long)cuda_text_number(text, strlen(text)), symbol, strlen(ptx) + 1);
        free(ptx);
    }
    free(text);
    return fclose(source) != 0 || fclose(table) != 0;
}
