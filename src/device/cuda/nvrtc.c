/* nvrtc.c: kernels from their text by NVRTC, or from what the build embedded.
 *
 * Where NVRTC knows the device's own architecture it makes machine code, which loads at once and which our
 * cache keeps; where it is older than the device it makes PTX for the newest architecture that it knows,
 * which the driver finishes.
 */
#include "device/cuda/cuda.h"
#include "device/dynamic_library.h"

#include <stdio.h>
#include <string.h>

#define ARCHITECTURES_MAX 64

/* The library's functions; false where one is not there. */
static bool find_functions(void *library, struct nvrtc_api *api)
{
#define X(name, symbol, parameters) \
    if (!library_find(library, #symbol, &api->name, sizeof api->name)) return false;
    NVRTC_FUNCTIONS(X)
#undef X
    return true;
}

/* The newest architecture that this NVRTC knows and the device runs; 0: none. *oldest: that it knows. False:
 * it does not tell. */
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

paritas_status cuda_load_nvrtc(paritas_context *context, const struct paritas_device *device,
                               struct cuda_state *state)
{
    static const char *const names[] = NVRTC_NAMES;
    int too_new = 0;
    bool silent = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !state->nvrtc_library; k++) {
        int major = 0, minor = 0, oldest = 0;
        state->nvrtc_library = library_open(names[k]);
        if (!state->nvrtc_library) continue;
        /* not one from before 11.2, nor one whose code this driver is too old for, nor one that has forgotten
         * this device */
        if (find_functions(state->nvrtc_library, &state->nvrtc) &&
            state->nvrtc.nvrtcVersion(&major, &minor) == 0 && major <= state->driver / 1000) {
            const bool told = find_target(&state->nvrtc, state->capability, &state->target, &oldest);
            if (told && state->target > 0) {
                state->nvrtc_version = 1000 * major + 10 * minor;
                continue;
            }
            silent = silent || !told;
            if (told) too_new = oldest;
        }
        dlclose(state->nvrtc_library);
        state->nvrtc_library = NULL;
        state->nvrtc_unusable = names[k];
    }
    if (state->nvrtc_library) return PARITAS_OK;
    if (too_new > 0)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': it is of compute capability %u.%u, and the NVRTC found compiles "
                            "for %d.%d and later",
                            device->name, state->capability / 10, state->capability % 10, too_new / 10,
                            too_new % 10);
    if (silent)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': NVRTC does not tell which architectures it knows", device->name);
    return PARITAS_OK; /* what the build embedded may do */
}

/* What is specific to a build, one option each; the architecture first. */
enum { OWN_OPTIONS = 4, OPTION_SIZE = 80 };
static void own_options(const struct cuda_state *state, const struct accelerator_build *build,
                        char options[OWN_OPTIONS][OPTION_SIZE])
{
    snprintf(options[0], OPTION_SIZE, "--gpu-architecture=%s_%u",
             state->target == state->capability ? "sm" : "compute", state->target);
    snprintf(options[1], OPTION_SIZE, "-DPARITAS_F64=%d", build->precision == 64);
    snprintf(options[2], OPTION_SIZE, "-DPARITAS_WORKERS=%u", build->workers);
    snprintf(options[3], OPTION_SIZE, "-DPARITAS_ENTRY=%s", build->entry);
}

void cuda_options_line(const struct cuda_state *state, const struct accelerator_build *build, char *line,
                       size_t room)
{
    char own[OWN_OPTIONS][OPTION_SIZE];
    own_options(state, build, own);
    if (state->nvrtc_library)
        snprintf(line, room, "%s %s %s %s %s", own[0], own[1], own[2], own[3], NVRTC_ROUNDING_LINE);
    else
        snprintf(line, room, "embedded %s %s %s", own[1], own[2], own[3]);
}

/* The message of a text that the compiler refused. */
static paritas_status fail_compile(paritas_context *context, const struct paritas_device *device,
                                   const struct cuda_state *state, const struct accelerator_build *build,
                                   nvrtc_program program, nvrtc_code code)
{
    size_t size = 0;
    char *log = NULL;
    if (program && state->nvrtc.nvrtcGetProgramLogSize(program, &size) == 0 && size > 0)
        log = paritas_allocate_clear(context, size + 1, 1);
    if (log) state->nvrtc.nvrtcGetProgramLog(program, log);
    accelerator_one_line(log);
    const paritas_status status = paritas_fail(
        context, PARITAS_NO_DEVICE, "device '%s': NVRTC refuses kernel %s (code %d): %.*s", device->name,
        build->entry, code, ACCELERATOR_LOG_SHOWN, log && *log ? log : "it does not say why");
    paritas_release(&context->allocator, log);
    return status;
}

/* What the build embedded for this very text. */
static paritas_status find_embedded(paritas_context *context, const struct paritas_device *device,
                                    const struct cuda_state *state, const struct accelerator_build *build,
                                    void **binary, size_t *size)
{
    const uint64_t text = cuda_text_number(build->text, build->text_size);
    const struct cuda_embedded *found = paritas_cuda_embedded;
    while (found->entry && (strcmp(found->entry, build->entry) != 0 || found->precision != build->precision ||
                            found->workers != build->workers || found->text != text))
        found++;
    if (!found->entry)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': kernel %s in precision %u for blocks of %u threads is not embedded "
                            "in this build, and "
                            "there is no NVRTC (libnvrtc.so.13, .12 or .11.2) to compile it%s%s",
                            device->name, build->entry, build->precision, build->workers,
                            state->nvrtc_unusable ? "; older than 11.2 or newer than the driver: " : "",
                            state->nvrtc_unusable ? state->nvrtc_unusable : "");
    *binary = paritas_allocate(context, found->size, 1);
    if (!*binary) return paritas_fail_memory(context);
    memcpy(*binary, found->ptx, found->size);
    *size = found->size;
    return PARITAS_OK;
}

paritas_status cuda_compile_text(paritas_context *context, const struct paritas_device *device,
                                 const struct cuda_state *state, const struct accelerator_build *build,
                                 void **binary, size_t *size)
{
    *binary = NULL;
    *size = 0;
    if (!state->nvrtc_library) return find_embedded(context, device, state, build, binary, size);
    const struct nvrtc_api *nvrtc = &state->nvrtc;
    const bool machine_code = state->target == state->capability;
    char own[OWN_OPTIONS][OPTION_SIZE];
    own_options(state, build, own);
    const char *const options[] = {own[0], own[1], own[2], own[3], NVRTC_ROUNDING};
    nvrtc_program program = NULL;
    nvrtc_code code = nvrtc->nvrtcCreateProgram(&program, build->text, "kernels.cu", 0, NULL, NULL);
    if (code == 0)
        code = nvrtc->nvrtcCompileProgram(program, (int)(sizeof options / sizeof options[0]), options);
    if (code == 0)
        code = machine_code ? nvrtc->nvrtcGetCUBINSize(program, size) : nvrtc->nvrtcGetPTXSize(program, size);
    paritas_status status =
        code == 0 ? PARITAS_OK : fail_compile(context, device, state, build, program, code);
    if (status == PARITAS_OK && !(*binary = paritas_allocate(context, *size, 1)))
        status = paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        code = machine_code ? nvrtc->nvrtcGetCUBIN(program, *binary) : nvrtc->nvrtcGetPTX(program, *binary);
        if (code != 0) status = fail_compile(context, device, state, build, program, code);
    }
    if (status != PARITAS_OK) {
        paritas_release(&context->allocator, *binary);
        *binary = NULL;
    }
    if (program) nvrtc->nvrtcDestroyProgram(&program);
    return status;
}
