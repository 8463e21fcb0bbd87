/* fake_nvrtc.c: see fake.h. Built once for each version that NVRTC is looked for in (FAKE_MAJOR,
 * FAKE_MINOR). */
#define _GNU_SOURCE
#include "cuda/cuda_fake.h"
#include "device/cuda/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OUT_OF_MEMORY = 1, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

struct nvrtc_program {
    const char *text; /* the caller's, as NVRTC has it until the program is compiled */
    char log[256];
    struct fake_image image;
    int compiled, machine_code;
};

static struct fake_cuda *control(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD),
         *address = driver ? dlsym(driver, "fake_cuda") : NULL;
    fake_cuda_function function;
    if (!address) abort();
    memcpy(&function, &address, sizeof address);
    dlclose(driver);
    return function();
}

static int call(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *address = dlsym(driver, "fake_call");
    fake_call_function function;
    memcpy(&function, &address, sizeof address);
    dlclose(driver);
    return function(name);
}

static const int architectures[] = {
#if FAKE_MAJOR == 13
    75,  80,  86,  87,  88, 89, 90,
    100, 103, 110, 120, 121
#elif FAKE_MAJOR == 12
    50, 52, 53, 60, 61, 62, 70, 72,
    75, 80, 86, 87, 89, 90
#else
    35, 37, 50, 52, 53, 60, 61,
    62, 70, 72, 75, 80, 86
#endif
};
#define ARCHITECTURES ((int)(sizeof architectures / sizeof architectures[0]))

#define X(type, name, parameters) EXPORT type name parameters;
NVRTC_FUNCTIONS(X)
#undef X

int nvrtcVersion(int *major, int *minor)
{
    *major = FAKE_MAJOR;
    *minor = FAKE_MINOR;
    return call("nvrtcVersion");
}

int nvrtcGetNumSupportedArchs(int *count)
{
    *count = ARCHITECTURES;
    return call("nvrtcGetNumSupportedArchs");
}

int nvrtcGetSupportedArchs(int *known)
{
    memcpy(known, architectures, sizeof architectures);
    return call("nvrtcGetSupportedArchs");
}

int nvrtcCreateProgram(nvrtc_program *program, const char *text, const char *name, int n_headers,
                       const char *const *headers, const char *const *names)
{
    const int code = call("nvrtcCreateProgram");
    if (code) return code;
    if (!text || !name || n_headers != 0 || headers || names) return INVALID_INPUT;
    *program = calloc(1, sizeof **program);
    if (!*program) return OUT_OF_MEMORY;
    (*program)->text = text;
    control()->in_use++;
    return 0;
}

int nvrtcDestroyProgram(nvrtc_program *program)
{
    free(*program);
    *program = NULL;
    control()->in_use--;
    return call("nvrtcDestroyProgram");
}

/* One of the four that decide the bits? */
static int is_rounding(const char *option)
{
    static const char *const known[] = {NVRTC_ROUNDING};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strcmp(option, known[k]) == 0) return 1 << k;
    return 0;
}

int nvrtcCompileProgram(nvrtc_program program, int n, const char *const *options)
{
    struct fake_cuda *fake = control();
    struct fake_image *image = &program->image;
    int roundings = 0, known = 0, f64 = -1, settings;
    unsigned architecture = 0;
    fake->options[0] = '\0';
    for (int k = 0; k < n; k++) {
        const size_t length = strlen(fake->options);
        snprintf(fake->options + length, sizeof fake->options - length, "%s ", options[k]);
        program->machine_code |= strstr(options[k], "=sm_") != NULL;
        int read = sscanf(options[k], "--gpu-architecture=sm_%u", &architecture);
        read += sscanf(options[k], "--gpu-architecture=compute_%u", &architecture);
        if (is_rounding(options[k]))
            roundings |= is_rounding(options[k]);
        else if (read < 1)
            return INVALID_OPTION;
    }
    for (int k = 0; k < ARCHITECTURES; k++) known |= architectures[k] == (int)architecture;
    if (!known || roundings != 15) return INVALID_OPTION;
    settings =
        sscanf(program->text, "#define PARITAS_F64 %d #define PARITAS_WORKERS %u #define PARITAS_ENTRY %63s",
               &f64, &image->workers, image->entry);
    if (settings != 3 || f64 < 0 || image->workers == 0) return INVALID_PROGRAM;
    const int code = call("nvrtcCompileProgram");
    const char *end = "\nKERNEL_OF(PARITAS_ENTRY)\n";
    const size_t length = strlen(program->text);
    if (code) return code;
    fake->compiled++;
    fake->workers = image->workers;
    fake->nvrtc = FAKE_MAJOR * 1000 + FAKE_MINOR * 10;
    if (fake->compile_refused || !strstr(program->text, "__syncthreads()") || length < strlen(end) ||
        strcmp(program->text + length - strlen(end), end) != 0) {
        snprintf(program->log, sizeof program->log, "kernels.cu(7): error: this text\n\tis refused\n");
        return COMPILATION;
    }
    memcpy(image->magic, FAKE_MAGIC, sizeof image->magic);
    image->precision = f64 ? 64 : 32;
    image->architecture = architecture;
    program->compiled = 1;
    return 0;
}

int nvrtcGetProgramLogSize(nvrtc_program program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return call("nvrtcGetProgramLogSize");
}

int nvrtcGetProgramLog(nvrtc_program program, char *log)
{
    strcpy(log, program->log);
    return call("nvrtcGetProgramLog");
}

int nvrtcGetCUBINSize(nvrtc_program program, size_t *size)
{
    *size = program->machine_code ? FAKE_HEADER + sizeof program->image : 0;
    return program->compiled ? call("nvrtcGetCUBINSize") : INVALID_PROGRAM;
}

int nvrtcGetCUBIN(nvrtc_program program, char *cubin)
{
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1};
    const int garbage = control()->garbage;
    if (!program->compiled || !program->machine_code) return INVALID_PROGRAM;
    memset(cubin, 0, FAKE_HEADER);
    memcpy(cubin, elf, sizeof elf);
    cubin[40] = garbage == 2 ? 127 : FAKE_HEADER; /* where its sections begin; of size 1, that many */
    cubin[58] = 1;
    cubin[60] = garbage == 2 ? 127 : (char)sizeof program->image;
    memcpy(cubin + FAKE_HEADER, &program->image, sizeof program->image);
    if (garbage == 1) memset(cubin, 0xa5, FAKE_HEADER + sizeof program->image);
    return call("nvrtcGetCUBIN");
}

/* As text: name, precision, workers, architecture. */
static int write_ptx(const struct fake_image *image, char *to, size_t room)
{
    return snprintf(to, room, FAKE_PTX "%s %u %u %u\n", image->entry, image->precision, image->workers,
                    image->architecture);
}

int nvrtcGetPTXSize(nvrtc_program program, size_t *size)
{
    *size = (size_t)write_ptx(&program->image, NULL, 0) + 1;
    return program->compiled ? call("nvrtcGetPTXSize") : INVALID_PROGRAM;
}

int nvrtcGetPTX(nvrtc_program program, char *ptx)
{
    if (!program->compiled) return INVALID_PROGRAM;
    write_ptx(&program->image, ptx, (size_t)write_ptx(&program->image, NULL, 0) + 1);
    return call("nvrtcGetPTX");
}
