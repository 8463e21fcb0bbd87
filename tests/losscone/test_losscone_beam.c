/* Beams along the field: the reference's profile has one; each condition that a profile misses leaves it
 * without. */
#include "common.h"
#include "paritas_losscone.h"

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

/* A sweep whose cells from 150 degrees on have the profile; the others have 100. */
struct sweep {
    double energy[ROWS], potential[ROWS], cosine[ROWS][CELLS], flux[ROWS][CELLS];
};

static void make(struct sweep *s, const double *profile)
{
    for (int i = 0; i < ROWS; i++) {
        s->energy[i] = 20.0 * pow(1000.0, i / 14.0);
        s->potential[i] = 7.0 + i;
        for (int j = 0; j < CELLS; j++) {
            const double pitch = 180.0 * j / (CELLS - 1);
            s->cosine[i][j] = cos(pitch * 0.017453292519943295);
            s->flux[i][j] = pitch >= 150.0 ? profile[i] : 100.0; /* 15 cells */
        }
    }
}

static paritas_beam look(const struct sweep *s)
{
    paritas_context *context;
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    const paritas_sweeps sweeps = {.size = sizeof(paritas_sweeps),
                                   .n = 1,
                                   .energy = s->energy,
                                   .potential = s->potential,
                                   .cosine = s->cosine[0],
                                   .flux = s->flux[0]};
    paritas_beam beam = PARITAS_INIT(paritas_beam);
    assert_int_equal(paritas_losscone_beam(context, &sweeps, &beam), PARITAS_OK);
    paritas_close(context);
    return beam;
}

static const double reference[ROWS] = {0.1, 0.3, 0.8, 1.6, 3.2, 1.7, 0.9, 0.5,
                                       0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1};

TEST(the_profile_of_the_reference_has_a_beam)
{
    static struct sweep s;
    make(&s, reference);
    const paritas_beam beam = look(&s);
    assert_int_equal(beam.found, 1);
    assert_int_equal(beam.row, 4);
    ASSERT_CLOSE(beam.ratio, 3.2, 1e-12);
    ASSERT_CLOSE(beam.energy, 143.93713460023045, 1e-9);
    ASSERT_CLOSE(beam.potential, 11.0 - 143.93713460023045, 1e-9);
}

TEST(a_profile_that_misses_one_condition_has_none)
{
    static const struct {
        int row[4];
        double value[4];
    } changes[] = {
        {{4, 3, 5, -1}, {1.99, 1.5, 1.5, 0}},  /* too low */
        {{5, -1}, {2.7, 0}},                   /* not above a neighbour by enough */
        {{3, 5, -1}, {1.4, 1.49, 0}},          /* narrower than the instrument */
        {{2, 6, -1}, {1.7, 1.7, 0}},           /* too wide */
        {{8, 9, 10, 11}, {3.1, 3.1, 3.1, 3.0}} /* high energies too */
    };
    for (size_t k = 0; k < COUNT(changes); k++) {
        double profile[ROWS];
        static struct sweep s;
        memcpy(profile, reference, sizeof profile);
        for (int c = 0; c < 4 && (c == 0 || changes[k].row[c] > 0); c++)
            profile[changes[k].row[c]] = changes[k].value[c];
        if (k == 4)
            for (int i = 12; i < ROWS; i++) profile[i] = 1.6;
        make(&s, profile);
        const paritas_beam beam = look(&s);
        assert_int_equal(beam.found, 0);
        assert_true(isnan(beam.energy) && isnan(beam.ratio) && isnan(beam.potential));
    }
}

TEST(a_beam_lies_between_20_and_500_electronvolts)
{
    static struct sweep s;
    for (int at = 0; at < ROWS; at++) {
        double profile[ROWS];
        for (int i = 0; i < ROWS; i++) profile[i] = i == at ? 3.0 : abs(i - at) == 1 ? 1.6 : 0.2;
        make(&s, profile);
        assert_int_equal(look(&s).found, at >= 1 && s.energy[at] <= 500.0);
    }
}

TEST(rows_may_stand_in_any_order)
{
    static struct sweep s, turned;
    make(&s, reference);
    for (int i = 0; i < ROWS; i++) {
        const int from = (4 + 11 * i) % ROWS;
        turned.energy[i] = s.energy[from];
        turned.potential[i] = s.potential[from];
        memcpy(turned.cosine[i], s.cosine[from], sizeof s.cosine[from]);
        memcpy(turned.flux[i], s.flux[from], sizeof s.flux[from]);
    }
    const paritas_beam beam = look(&turned);
    assert_int_equal(beam.found, 1);
    assert_int_equal(beam.row, 0);
    assert_true(beam.energy == s.energy[4]);
}

TEST(zeros_count_and_what_is_missing_does_not)
{
    static struct sweep s;
    make(&s, reference);
    for (int j = CELLS - 10; j < CELLS; j++) s.flux[4][j] = (double)NAN; /* 5 are left */
    s.flux[4][CELLS - 11] = 0.0;
    const paritas_beam beam = look(&s);
    assert_int_equal(beam.found, 1);
    ASSERT_CLOSE(beam.ratio, 3.2 * 4 / 5, 1e-12);
    s.flux[4][CELLS - 12] = -1.0; /* 4 */
    assert_int_equal(look(&s).found, 0);
    make(&s, reference);
    for (int j = CELLS - 7; j < CELLS; j++) s.flux[4][j] = 0.0;
    assert_int_equal(look(&s).found, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_profile_of_the_reference_has_a_beam),
        cmocka_unit_test(a_profile_that_misses_one_condition_has_none),
        cmocka_unit_test(a_beam_lies_between_20_and_500_electronvolts),
        cmocka_unit_test(rows_may_stand_in_any_order),
        cmocka_unit_test(zeros_count_and_what_is_missing_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
