/* Memory, arenas, messages and names. */
#include "base_testing.h"

TEST(sizes_that_overflow_are_refused)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    assert_null(paritas_allocate(&context, SIZE_MAX / 2, 3));
    assert_null(paritas_allocate_clear(&context, SIZE_MAX, 2));
    assert_null(paritas_allocate_aligned(&context, SIZE_MAX, 1));
    assert_null(paritas_reallocate(&context, NULL, SIZE_MAX / 8, 16));
    struct arena arena;
    arena_open(&arena, &context.allocator);
    assert_null(arena_allocate(&arena, SIZE_MAX - 8));
    assert_null(arena_array(&arena, SIZE_MAX / 4, 8));
    arena_free(&arena);
    assert_int_equal(ledger.live, 0);
}

TEST(memory_is_cleared_aligned_and_never_null_for_nothing)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    char *memory = paritas_allocate(&context, 0, 8);
    assert_non_null(memory);
    memory = paritas_reallocate(&context, memory, 100, 1);
    memset(memory, 1, 100);
    paritas_release(&context.allocator, memory);
    paritas_release(&context.allocator, NULL);
    paritas_release_aligned(&context.allocator, NULL);
    for (size_t count = 0; count < 100; count++) {
        double *values = paritas_allocate_aligned(&context, count, sizeof *values);
        assert_int_equal((uintptr_t)values % 64, 0);
        /* the next bytes are cleared, whatever stood there */
        for (size_t i = 0; i < count; i++) values[i] = 1;
        paritas_release_aligned(&context.allocator, values);
        unsigned char *bytes = paritas_allocate_clear(&context, count, 1);
        for (size_t i = 0; i < count; i++) assert_int_equal(bytes[i], 0);
        paritas_release(&context.allocator, bytes);
    }
    assert_int_equal(ledger.live, 0);
}

TEST(pieces_of_an_arena_do_not_overlap_and_stay_until_it_is_freed)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct arena arena;
    arena_open(&arena, &context.allocator);
    enum { PIECES = 3000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    uint64_t random = 7;
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = next_random(&random) % (i % 100 == 99 ? 100000 : 200);
        pieces[i] = i % 2 ? arena_array(&arena, sizes[i], 1) : arena_allocate(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], i % 251, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], i % 251);
    }
    assert_string_equal(arena_text(&arena, "texture", 4), "text");
    assert_true(ledger.live < 200);
    arena_free(&arena);
    arena_free(&arena);
    assert_int_equal(ledger.live, 0);
}

TEST(messages_are_cut_at_a_character_and_show_control_bytes)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    assert_string_equal(paritas_error_message(&context), "");
    assert_int_equal(paritas_fail(&context, PARITAS_NOT_FOUND, "%s: %d", "a\tb\x7f\xc3", 5),
                     PARITAS_NOT_FOUND);
    assert_string_equal(paritas_error_message(&context), "a\\x09b\\x7f\\xc3: 5");
    paritas_fail(&context, PARITAS_NOT_FOUND, "again: %s", context.message);
    assert_string_equal(paritas_error_message(&context), "again: a\\x09b\\x7f\\xc3: 5");
    static char text[6001];
    for (size_t i = 0; i < 3000; i++) memcpy(text + 2 * i, "\xc3\xa9", 2);
    for (int lead = 0; lead < 2; lead++) {
        paritas_fail(&context, PARITAS_NOT_FOUND, "%.*s%s", lead, "x", text);
        size_t length = strlen(context.message);
        assert_true(length >= sizeof context.message - 8);
        assert_int_equal((length - (size_t)lead) % 2, lead ? 0 : length % 2);
    }
}

TEST(every_status_has_a_name_and_a_sentence)
{
    assert_string_equal(paritas_status_name(PARITAS_OK), "PARITAS_OK");
    assert_string_equal(paritas_status_name(PARITAS_NOT_CONVERGED), "PARITAS_NOT_CONVERGED");
    assert_string_equal(paritas_status_message(PARITAS_UNREADABLE), "a file could not be read");
    assert_string_equal(paritas_status_name((paritas_status)-99), "unknown");
    assert_string_equal(paritas_status_message((paritas_status)-99), "unknown status");
    assert_string_equal(paritas_fit_status_name(PARITAS_FIT_AT_ITERATION_LIMIT), "at_iteration_limit");
    assert_string_equal(paritas_parameter_state_name(PARITAS_PARAMETER_AT_UPPER_BOUND), "at_upper_bound");
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PARITAS_VERSION_MAJOR, PARITAS_VERSION_MINOR,
             PARITAS_VERSION_PATCH);
    assert_string_equal(paritas_version(), version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(memory_is_cleared_aligned_and_never_null_for_nothing),
        cmocka_unit_test(pieces_of_an_arena_do_not_overlap_and_stay_until_it_is_freed),
        cmocka_unit_test(messages_are_cut_at_a_character_and_show_control_bytes),
        cmocka_unit_test(every_status_has_a_name_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
