/* test_model_parity.c: models that a user wrote answer the same bits whatever the instruction set, the lanes,
 * the packs and the threads. */
#include "model/bits.h"

static void take(void *user, const paritas_toy_fit *fit, size_t p)
{
    struct bits *bits = user;
    double *to = bits_more(bits, p + 2);
    memcpy(to, fit->parameters, p * sizeof *to);
    to[p] = fit->result.twice_nll;
    to[p + 1] = fit->statistic;
}

struct taking {
    struct bits *bits;
    size_t p;
};

static int take_all(void *user, size_t n, const paritas_toy_fit *fits)
{
    const struct taking *taking = user;
    for (size_t i = 0; i < n; i++) take(taking->bits, &fits[i], taking->p);
    return 0;
}

static void answer(const paritas_options *options, paritas_model_description description, struct bits *bits)
{
    struct custom c = make_custom(options, description);
    static double rows[BITS_JOBS * PEAK_BINS];
    bits->n = 0;
    bits_rows(&c, rows);
    bits_of_values(&c, rows, true, bits);
    for (int m = 0; m < 3; m++) bits_of_fits(&c, (paritas_minimizer)m, rows, true, bits);
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    struct taking taking = {bits, description.n_parameters};
    toys.n = 50;
    toys.seed = 3;
    if (!description.terms)
        ASSERT_OK(c.context, paritas_toys(c.context, c.model, NULL,
                                          SIZED(paritas_toys_request, .point = description.init,
                                                .take = take_all, .user = &taking),
                                          &toys, &result));
    free_custom(&c);
}

static void compare_all(unsigned precision, bool raw)
{
    static const char *const isas[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    static struct bits wanted, got;
    const paritas_model_description models[] = {peak_description(), onoff_description(), decay_description()};
    for (size_t m = 0; m < COUNT(models); m++) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.precision = precision;
        options.no_polish = raw;
        options.threads = 1;
        options.isa = "portable";
        answer(&options, models[m], &wanted);
        unsigned compared = 0;
        for (size_t i = 0; i < COUNT(isas); i++)
            for (size_t w = 0; w < COUNT(widths); w++) {
                options.isa = isas[i];
                options.lanes = widths[w];
                options.threads = 1 + (unsigned)(w % 3);
                paritas_context *probe = open_if_built(options);
                paritas_close(probe);
                if (!probe) continue;
                answer(&options, models[m], &got);
                char what[64];
                snprintf(what, sizeof what, "model %zu, f%u, %s, %u lanes", m, precision, isas[i], widths[w]);
                assert_bits(what, &got, &wanted);
                compared++;
            }
        assert_true(compared >= COUNT(widths));
    }
}

TEST(f64_is_the_same_on_every_shape_of_vector)
{
    compare_all(64, false);
}
TEST(f32_is_the_same_on_every_shape_of_vector)
{
    compare_all(32, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f64_is_the_same_on_every_shape_of_vector),
        cmocka_unit_test(f32_is_the_same_on_every_shape_of_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
