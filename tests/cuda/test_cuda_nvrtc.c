/* test_cuda_nvrtc.c: the real NVRTC, where there is one, by the device's own code; no card is needed. */
#include "device/cuda/cuda.h"
#include "device/kernel_modules.h"
#include "device/kernel_source.h"
#include "common.h"

ACCELERATOR_DECLARE_DIALECT(paritas_dialect_cuda)

/* A device of this capability as far as a compiler knows one. */
struct machine {
    paritas_context *context;
    struct paritas_device device;
    struct cuda_state state;
    struct accelerator accelerator;
    char *text;
    struct accelerator_build build;
};

static void make_machine(struct machine *m, unsigned capability, const char *entry)
{
    const struct kernel_module *module = &paritas_module_histfactory;
    const struct kernel_source source = {.dialect = paritas_dialect_cuda,
                                         .dialect_size = paritas_dialect_cuda_size,
                                         .module = module->text,
                                         .module_size = *module->text_size,
                                         .entry = entry,
                                         .precision = 64,
                                         .workers = CUDA_WORKERS};
    const size_t size = kernel_source_join(&source, NULL);
    *m = (struct machine){.device = {.name = "cuda:0", .precision = 64},
                          .state = {.capability = capability, .driver = 99000}};
    m->accelerator.device = &m->device;
    m->accelerator.state = &m->state;
    m->accelerator.operations = DEVICE_KIND(PARITAS_DEVICE_CUDA).accelerator;
    assert_int_equal(paritas_open(NULL, &m->context), PARITAS_OK);
    m->text = malloc(size + 1);
    assert_non_null(m->text);
    kernel_source_join(&source, m->text);
    m->build = (struct accelerator_build){m->context, &m->accelerator,  m->text,       size,
                                          entry,      source.precision, source.workers};
    if (cuda_load_nvrtc(m->context, &m->accelerator) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(m->context));
}

static void free_machine(struct machine *m)
{
    paritas_close(m->context);
    free(m->text);
}

static char *compile(struct machine *m, size_t *size)
{
    void *binary = NULL;
    if (cuda_compile(&m->build, &binary, size) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(m->context));
    return binary;
}

TEST(a_known_architecture_gets_machine_code_a_later_one_ptx)
{
    struct machine m;
    size_t size;
    make_machine(&m, 90, "hf_draw");
    if (!m.state.nvrtc_version) {
        free_machine(&m);
        skip_because("there is no NVRTC");
    }
    print_message("NVRTC %d.%d\n", m.state.nvrtc_version / 1000, m.state.nvrtc_version / 10 % 100);
    char *binary = compile(&m, &size);
    assert_true(size > 1000 && memcmp(binary, "\177ELF", 4) == 0);
    free(binary);
    free_machine(&m);
    make_machine(&m, 999, "hf_draw");
    binary = compile(&m, &size);
    assert_int_equal(strlen(binary), size - 1);
    assert_non_null(strstr(binary, ".entry hf_draw("));
    assert_null(strstr(binary, ".ftz"));
    free(binary);
    free_machine(&m);
}

TEST(a_text_that_nvrtc_refuses_is_told_of_by_file_and_line)
{
    struct machine m;
    void *binary;
    size_t size;
    make_machine(&m, 90, "hf_draw");
    if (!m.state.nvrtc_version) {
        free_machine(&m);
        skip_because("there is no NVRTC");
    }
    char *mistake = strstr(m.text, "model_prepare(MODEL_PARAMETERS)");
    assert_non_null(mistake);
    memset(mistake, '@', 3);
    assert_int_equal(cuda_compile(&m.build, &binary, &size), PARITAS_NO_DEVICE);
    assert_null(binary);
    if (!strstr(paritas_error_message(m.context), "histfactory/histfactory_words.h("))
        fail_msg("%s", paritas_error_message(m.context));
    free_machine(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_architecture_gets_machine_code_a_later_one_ptx),
        cmocka_unit_test(a_text_that_nvrtc_refuses_is_told_of_by_file_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
