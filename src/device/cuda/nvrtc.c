/* nvrtc.c: compiles kernels by NVRTC, or takes embedded ones.
 *
 * For an architecture it knows, NVRTC makes machine code, which loads at once and is cached. An older NVRTC
 * makes PTX for its newest architecture; the driver finishes that. */
#include "device/cuda/cuda.h"
#include "device/kernel_embedded.h"

#include <stdio.h>

#define ARCHITECTURES_MAX 64

/* *target: newest architecture of NVRTC that the device runs (0: none); *oldest: its first. False:
 * unknown. */
static bool find_target(const struct nvrtc_api *api, unsigned capability, unsigned *target, int *oldest)
{
    int count = 0, known[ARCHITECTURES_MAX];
    *target = 0;
    if (api->nvrtcGetNumSupportedArchs(&count) != 0 || count < 1 || count > ARCHITECTURES_MAX ||
        api->nvrtcGetSupportedArchs(known) != 0)
        return false;
    for (int k = 0; k < count; k++) {
        if (k == 0 || known[k] < *oldest) *oldest = known[k];
        if (known[k] > 0 && (unsigned)known[k] <= capability && (unsigned)known[k] > *target)
            *target = (unsigned)known[k];
    }
    return true;
}

enum nvrtc_fault { NVRTC_SERVES, NVRTC_OTHER_VERSION, NVRTC_SILENT, NVRTC_TOO_NEW };

static enum nvrtc_fault take_library(struct cuda_state *state, void *library, int *oldest)
{
    static const char *const functions[] = {NVRTC_FUNCTIONS(LIBRARY_NAME) NULL};
    int major = 0, minor = 0;
    /* at least 11.2, and not newer than the driver */
    if (library_find_all(&library, 1, functions, &state->nvrtc) ||
        state->nvrtc.nvrtcVersion(&major, &minor) != 0 || major > state->driver / 1000)
        return NVRTC_OTHER_VERSION;
    if (!find_target(&state->nvrtc, state->capability, &state->target, oldest)) return NVRTC_SILENT;
    if (state->target == 0) return NVRTC_TOO_NEW; /* dropped this device */
    state->nvrtc_version = 1000 * major + 10 * minor;
    return NVRTC_SERVES;
}

paritas_status cuda_load_nvrtc(paritas_context *context, const struct accelerator *accelerator)
{
    static const char *const names[] = NVRTC_NAMES;
    struct cuda_state *state = accelerator->state;
    const char *device = accelerator->device->name;
    int too_new = 0;
    bool silent = false;
    for (size_t k = 0; names[k]; k++) {
        int oldest = 0;
        void *library = library_open(names[k]);
        if (!library) continue;
        const enum nvrtc_fault fault = take_library(state, library, &oldest);
        if (fault == NVRTC_SERVES) return PARITAS_OK;
        silent = silent || fault == NVRTC_SILENT;
        if (fault == NVRTC_TOO_NEW) too_new = oldest;
        state->nvrtc_unusable = names[k];
    }
    if (too_new > 0)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': it is of compute capability %u.%u, and the NVRTC found compiles "
                            "for %d.%d and later",
                            device, state->capability / 10, state->capability % 10, too_new / 10,
                            too_new % 10);
    if (silent)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': NVRTC does not tell which architectures it knows", device);
    return PARITAS_OK; /* embedded kernels may do */
}

#define ARCHITECTURE_SIZE 40
/* Machine code where NVRTC knows the architecture, else PTX. */
static bool name_architecture(const struct cuda_state *state, char option[ARCHITECTURE_SIZE])
{
    const bool machine_code = state->target == state->capability;
    snprintf(option, ARCHITECTURE_SIZE, "--gpu-architecture=%s_%u", machine_code ? "sm" : "compute",
             state->target);
    return machine_code;
}

void cuda_options(const struct accelerator_build *build, char *line, size_t room)
{
    static const char *const rounding[] = {NVRTC_ROUNDING};
    const struct cuda_state *state = build->accelerator->state;
    char architecture[ARCHITECTURE_SIZE] = "embedded";
    if (state->nvrtc_version) name_architecture(state, architecture);
    size_t length = (size_t)snprintf(line, room, "%s", architecture);
    for (size_t k = 0; k < COUNT_OF(rounding) && length < room; k++)
        length += (size_t)snprintf(line + length, room - length, " %s", rounding[k]);
}

static paritas_status fail_compile(const struct accelerator_build *build, nvrtc_program program,
                                   nvrtc_code code)
{
    const struct nvrtc_api *nvrtc = &((const struct cuda_state *)build->accelerator->state)->nvrtc;
    char who[40], *log = NULL;
    size_t size = 0;
    if (program && nvrtc->nvrtcGetProgramLogSize(program, &size) == 0 && size > 0)
        log = paritas_allocate_clear(build->context, size + 1, 1);
    if (log) nvrtc->nvrtcGetProgramLog(program, log);
    snprintf(who, sizeof who, "NVRTC (code %d)", code);
    const paritas_status status = accelerator_refuse(build, who, 0, log);
    paritas_release(&build->context->allocator, log);
    return status;
}

static paritas_status find_embedded(const struct accelerator_build *build, void **binary, size_t *size)
{
    const struct cuda_state *state = build->accelerator->state;
    const uint64_t text = cuda_text_number(build->text, build->text_size);
    const struct kernel_embedded *found = paritas_kernels_embedded;
    while (found->packed && found->text != text) found++;
    if (!found->packed)
        return paritas_fail(build->context, PARITAS_NO_DEVICE,
                            "device '%s': kernel %s in precision %u for blocks of %u threads is not embedded "
                            "in this build, and there is no NVRTC (" PLATFORM_NAME(
                                "libnvrtc.so.13, .12 or .11.2", "libnvrtc.so.13, .12 or .11.2",
                                "nvrtc64_130_0.dll, 120 or 112") ") to compile it%s%s",
                            build->accelerator->device->name, build->entry, build->precision, build->workers,
                            state->nvrtc_unusable ? "; older than 11.2 or newer than the driver: " : "",
                            state->nvrtc_unusable ? state->nvrtc_unusable : "");
    *size = found->size;
    return kernel_embedded_unpack(build->context, found, binary);
}

paritas_status cuda_compile(const struct accelerator_build *build, void **binary, size_t *size)
{
    paritas_context *context = build->context;
    const struct cuda_state *state = build->accelerator->state;
    const struct nvrtc_api *nvrtc = &state->nvrtc;
    *binary = NULL;
    *size = 0;
    if (!state->nvrtc_version) return find_embedded(build, binary, size);
    char architecture[ARCHITECTURE_SIZE];
    const bool machine_code = name_architecture(state, architecture);
    const char *const options[] = {architecture, NVRTC_ROUNDING};
    nvrtc_program program = NULL;
    nvrtc_code code = nvrtc->nvrtcCreateProgram(&program, build->text, "kernels.cu", 0, NULL, NULL);
    if (code == 0) code = nvrtc->nvrtcCompileProgram(program, (int)COUNT_OF(options), options);
    if (code == 0)
        code = machine_code ? nvrtc->nvrtcGetCUBINSize(program, size) : nvrtc->nvrtcGetPTXSize(program, size);
    if (code == 0 && (*binary = paritas_allocate(context, *size, 1)))
        code = machine_code ? nvrtc->nvrtcGetCUBIN(program, *binary) : nvrtc->nvrtcGetPTX(program, *binary);
    const paritas_status status = code != 0 ? fail_compile(build, program, code)
                                  : *binary ? PARITAS_OK
                                            : paritas_fail_memory(context);
    if (status != PARITAS_OK) {
        paritas_release(&context->allocator, *binary);
        *binary = NULL;
    }
    if (program) nvrtc->nvrtcDestroyProgram(&program);
    return status;
}
