/* embed_ptx.c: a step of the build: compiles kernels by NVRTC to PTX, for machines that have NVIDIA's driver
 * and no compiler.
 *
 *   embed_ptx FOLDER PRECISION MODULE ENTRY...    writes FOLDER/MODULE_PRECISION.c and .inc; PTX beside
 *
 * The PTX is for compute_75, which every later device runs. Its version of the language is an early one, so
 * that drivers older than the NVRTC of the build take it: kernels use nothing later. The step is linked with
 * the texts as the library has them.
 */
#include "device/cuda/cuda.h"
#include "device/kernel_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
    static const char *const names[] = NVRTC_NAMES, *const functions[] = {NVRTC_FUNCTIONS(LIBRARY_NAME) NULL};
    void *library = NULL;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !library; k++) library = library_open(names[k]);
    if (!library) library = library_open(PARITAS_NVRTC); /* where CMake found it */
    return library && !library_find_all(&library, 1, functions, &nvrtc);
}

/* The text of an entry, and how long it is; NULL: there is no such module, or no memory. */
static char *join(const char *module, const char *entry, unsigned precision, size_t *size)
{
    struct kernel_source source = {.dialect = paritas_dialect_cuda,
                                   .dialect_size = paritas_dialect_cuda_size,
                                   .entry = entry,
                                   .precision = precision,
                                   .workers = CUDA_WORKERS};
#define X(name)                                          \
    if (strcmp(module, #name) == 0) {                    \
        source.module = paritas_text_##name;             \
        source.module_size = paritas_text_##name##_size; \
    }
#include "ptx/modules.inc"
#undef X
    *size = source.module ? kernel_source_join(&source, NULL) : 0;
    char *text = *size ? malloc(*size + 1) : NULL;
    if (text) kernel_source_join(&source, text);
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
static char *compile(const char *text, const char *entry)
{
    const char *const options[] = {("--gpu-architecture=" ARCHITECTURE), NVRTC_ROUNDING};
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

/* Compresses. 0: no memory. */
static size_t pack(const char *text, size_t size, unsigned char **packed)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    const uLong room = deflateBound(&stream, (uLong)size);
    *packed = malloc(room);
    stream.next_in = (Bytef *)text;
    stream.avail_in = (uInt)size;
    stream.next_out = *packed;
    stream.avail_out = *packed ? (uInt)room : 0;
    const int code = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return code == Z_STREAM_END ? room - stream.avail_out : 0;
}

/* One entry: its PTX in a gzip file, and a line in the source and in the table. False: it did not work. */
static int embed(const char *folder, const char *module, const char *entry, unsigned precision, FILE *source,
                 FILE *table)
{
    char path[4096], symbol[200];
    unsigned char *packed = NULL;
    size_t text_size;
    char *text = join(module, entry, precision, &text_size), *ptx = text ? compile(text, entry) : NULL;
    if (!ptx) return 0;
    const size_t size = strlen(ptx) + 1, packed_size = pack(ptx, size, &packed);
    snprintf(symbol, sizeof symbol, "paritas_ptx_%s_%u", entry, precision);
    snprintf(path, sizeof path, "%s/%s.ptx.gz", folder, symbol);
    FILE *file = fopen(path, "wb");
    if (packed_size == 0 || !file || fwrite(packed, 1, packed_size, file) != packed_size || fclose(file) != 0)
        return 0;
    fprintf(source,
            "__asm__(\".section .rodata\\n.global %s\\n.hidden %s\\n%s:\\n.incbin \\\"%s\\\"\\n.text\");\n",
            symbol, symbol, symbol, path);
    fprintf(table, "X(0x%016llxu, %s, %zu, %zu)\n", (unsigned long long)cuda_text_number(text, text_size),
            symbol, packed_size, size);
    free(text);
    free(ptx);
    free(packed);
    return 1;
}

int main(int count, char **arguments)
{
    if (count < 5 || !load()) {
        fprintf(stderr, "embed_ptx: %s\n", count < 5 ? "arguments" : "NVRTC cannot be loaded");
        return 1;
    }
    const char *folder = arguments[1], *module = arguments[3];
    const unsigned precision = (unsigned)strtoul(arguments[2], NULL, 10);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s_%u.c", folder, module, precision);
    FILE *source = fopen(path, "w");
    snprintf(path, sizeof path, "%s/%s_%u.inc", folder, module, precision);
    FILE *table = fopen(path, "w");
    if (!source || !table) return 1;
    fprintf(source, "/* PTX of %s in f%u. Made by tools/embed_ptx.c. */\n", module, precision);
    for (int k = 4; k < count; k++)
        if (!embed(folder, module, arguments[k], precision, source, table)) return 1;
    return fclose(source) != 0 || fclose(table) != 0;
}
