/* The descriptors of the public interface say of every record and every enumeration what the compiler
 * says. */
#include "base/public_lists.h"
#include "common.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>

/* Names what a claim does not hold of. */
#define ASSERT_OF(condition, record, field)                                             \
    do {                                                                                \
        if (!(condition)) fail_msg("%s.%s: not so: %s", (record), (field), #condition); \
    } while (0)

/* ---- records ---------------------------------------------------------------------------------- */

/* Every member of every record, as the compiler has it. */
#define MEMBER_OF(record, type, name, count, word, unit, doc) \
    {#record, #name, #count, offsetof(record, name), sizeof(((record *)NULL)->name), sizeof(type)},
#define MEMBERS_OF(type, LIST, doc) LIST(MEMBER_OF, type)
static const struct {
    const char *record, *name, *count;
    size_t offset, bytes, element;
} members[] = {ALL_RECORDS(MEMBERS_OF)};

#define RECORD_OF(type, LIST, doc) {#type, sizeof(type)},
static const struct {
    const char *name;
    size_t size;
} structs[] = {ALL_RECORDS(RECORD_OF)};

/* Records without a size, since they do not grow: parts of others, and the numbers of a distribution. */
static bool does_not_grow(const paritas_record *record)
{
    static const char *const names[] = {"paritas_toys_tally", "paritas_minima",       "paritas_fit_minimum",
                                        "paritas_fit_point",  "paritas_kappa_plasma", "paritas_draw"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(record->name, names[i]) == 0) return true;
    return false;
}

TEST(a_part_of_another_record_does_not_grow)
{
    size_t n;
    const paritas_record *all = paritas_records(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].n_fields; k++)
            if (all[i].fields[k].nested) assert_true(does_not_grow(all[i].fields[k].nested));
}

TEST(every_record_of_the_headers_is_described_and_found_by_its_name)
{
    size_t n;
    const paritas_record *all = paritas_records(&n);
    assert_int_equal(n, COUNT(structs));
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(all[i].name, structs[i].name);
        assert_int_equal(all[i].size, structs[i].size);
        assert_true(all[i].n_fields > 0 && all[i].doc[0]);
        assert_ptr_equal(paritas_record_find(structs[i].name), &all[i]);
    }
    assert_null(paritas_record_find("paritas_job"));
    assert_null(paritas_record_find(""));
}

TEST(every_field_is_the_member_of_the_struct)
{
    size_t n, k = 0;
    const paritas_record *all = paritas_records(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < all[i].n_fields; j++, k++) {
            const paritas_field *field = &all[i].fields[j];
            assert_true(k < COUNT(members));
            assert_string_equal(all[i].name, members[k].record);
            assert_string_equal(field->name, members[k].name);
            assert_int_equal(field->offset, members[k].offset);
            assert_int_equal(field->size, members[k].element);
            assert_int_equal(field->count * field->size, members[k].bytes);
            assert_int_equal(field->is_array, members[k].count[0] == '[');
        }
    assert_int_equal(k, COUNT(members));
}

TEST(fields_lie_within_their_record_in_order_and_leave_nothing_out)
{
    size_t n;
    const paritas_record *all = paritas_records(&n);
    for (size_t i = 0; i < n; i++) {
        /* after the size, if it has one */
        size_t end = does_not_grow(&all[i]) ? 0 : sizeof(size_t);
        for (size_t k = 0; k < all[i].n_fields; k++) {
            const paritas_field *field = &all[i].fields[k];
            ASSERT_OF(field->offset >= end, all[i].name, field->name);
            /* no member of its own stands between two of them: only what alignment takes */
            const size_t aligned = field->size < sizeof(double) ? field->size : sizeof(double);
            ASSERT_OF(field->offset - end < aligned, all[i].name, field->name);
            end = field->offset + field->count * field->size;
            ASSERT_OF(end <= all[i].size, all[i].name, field->name);
        }
        ASSERT_OF(all[i].size - end < sizeof(double), all[i].name, "end");
    }
}

TEST(a_value_is_read_where_its_field_says)
{
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    limit.limit_exp[3] = 7.5;
    limit.status = PARITAS_FIT_NO_PROGRESS;
    const paritas_record *record = paritas_record_find("paritas_limit_result");
    for (size_t k = 0; k < record->n_fields; k++) {
        const paritas_field *field = &record->fields[k];
        const char *at = (const char *)&limit + field->offset;
        if (strcmp(field->word, "limit_exp") == 0) {
            double value;
            assert_int_equal(field->type, PARITAS_FIELD_REAL);
            assert_int_equal(field->count, 5);
            memcpy(&value, at + 3 * field->size, sizeof value);
            assert_true(value == 7.5);
        }
        if (strcmp(field->word, "status") == 0) {
            int value;
            assert_int_equal(field->type, PARITAS_FIELD_WORD);
            memcpy(&value, at, sizeof value);
            assert_string_equal(paritas_enumeration_word(field->enumeration, value), "no_progress");
        }
    }
}

TEST(a_field_has_the_size_and_the_descriptor_of_its_type)
{
    size_t n, n_enumerations;
    const paritas_record *all = paritas_records(&n);
    const paritas_enumeration *enumerations = paritas_enumerations(&n_enumerations);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].n_fields; k++) {
            const paritas_field *field = &all[i].fields[k];
            const char *record = all[i].name, *name = field->name;
            ASSERT_OF((field->enumeration != NULL) == (field->type == PARITAS_FIELD_WORD), record, name);
            ASSERT_OF((field->nested != NULL) == (field->type == PARITAS_FIELD_RECORD), record, name);
            ASSERT_OF(field->is_array ? field->count >= 1 : field->count == 1, record, name);
            switch (field->type) {
            case PARITAS_FIELD_REAL:
                ASSERT_OF(field->size == sizeof(double), record, name);
                break;
            case PARITAS_FIELD_UNSIGNED:
                ASSERT_OF(field->size == sizeof(unsigned) || field->size == sizeof(uint64_t), record, name);
                break;
            case PARITAS_FIELD_SIGNED:
            case PARITAS_FIELD_TRUTH:
                ASSERT_OF(field->size == sizeof(int), record, name);
                break;
            case PARITAS_FIELD_WORD:
                ASSERT_OF(field->size == sizeof(int), record, name);
                ASSERT_OF(field->enumeration >= enumerations &&
                              field->enumeration < enumerations + n_enumerations,
                          record, name);
                break;
            case PARITAS_FIELD_RECORD:
                ASSERT_OF(field->nested >= all && field->nested < all + n, record, name);
                ASSERT_OF(field->size == field->nested->size, record, name);
                break;
            case PARITAS_FIELD_TEXT:
                ASSERT_OF(field->size == 1 && field->is_array, record, name);
                break;
            default:
                fail_msg("%s.%s is of type %d", record, name, (int)field->type);
            }
        }
}

/* What JSON, CSV, SQLite and Python take for a name. */
static bool is_name(const char *word)
{
    if (!isalpha((unsigned char)word[0])) return false;
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return true;
}

TEST(words_of_a_record_are_names_and_tell_its_fields_apart)
{
    size_t n;
    const paritas_record *all = paritas_records(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].n_fields; k++) {
            const paritas_field *field = &all[i].fields[k];
            ASSERT_OF(field->doc[0] && field->unit, all[i].name, field->name);
            ASSERT_OF(!field->word[0] || is_name(field->word), all[i].name, field->name);
            for (size_t j = 0; j < k; j++) {
                const paritas_field *other = &all[i].fields[j];
                ASSERT_OF(strcmp(field->name, other->name) != 0, all[i].name, field->name);
                ASSERT_OF(!field->word[0] || strcmp(field->word, other->word) != 0, all[i].name, field->name);
            }
        }
}

/* ---- options ------------------------------------------------------------------------------------ */

#define OPTIONS_OF(type, LIST, doc) \
    static const type default_of_##type = PARITAS_OPTIONS_DEFAULTS(type, LIST);
ALL_OPTION_LISTS(OPTIONS_OF)
#define DEFAULTS_OF(type, LIST, doc) {#type, &default_of_##type, sizeof(type)},
static const struct {
    const char *name;
    const void *options;
    size_t size;
} defaults[] = {ALL_OPTION_LISTS(DEFAULTS_OF)};

static double number_at(const paritas_option *option, const void *options)
{
    const char *at = (const char *)options + option->offset;
    if (option->type == PARITAS_FIELD_REAL) return *(const double *)(const void *)at;
    if (option->size == sizeof(uint64_t)) return (double)*(const uint64_t *)(const void *)at;
    return (double)*(const int *)(const void *)at;
}

TEST(every_struct_of_options_is_described_with_its_defaults_which_its_own_check_accepts)
{
    paritas_context *context;
    size_t n;
    const paritas_option_list *all = paritas_option_lists(&n);
    assert_int_equal(n, COUNT(defaults));
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(all[i].name, defaults[i].name);
        assert_int_equal(all[i].size, defaults[i].size);
        assert_ptr_equal(paritas_option_list_find(all[i].name), &all[i]);
        for (size_t k = 0; k < all[i].n_options; k++) {
            const paritas_option *option = &all[i].options[k];
            ASSERT_OF(option->otherwise == number_at(option, defaults[i].options), all[i].name, option->name);
            ASSERT_OF((option->enumeration != NULL) == (option->type == PARITAS_FIELD_WORD), all[i].name,
                      option->name);
            ASSERT_OF(option->doc[0] && (!option->word[0] || strncmp(option->word, "--", 2) == 0),
                      all[i].name, option->name);
        }
        if (paritas_options_check(context, all[i].name, defaults[i].options) != PARITAS_OK)
            fail_msg("%s: %s", all[i].name, paritas_error_message(context));
    }
    assert_null(paritas_option_list_find("paritas_limit_result"));
    paritas_close(context);
}

/* Just inside and just outside each bound. */
TEST(an_option_is_refused_outside_its_bounds_alone)
{
    paritas_context *context;
    size_t n;
    const paritas_option_list *all = paritas_option_lists(&n);
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].n_options; k++) {
            const paritas_option *option = &all[i].options[k];
            unsigned char bytes[512];
            if (option->type != PARITAS_FIELD_REAL) continue;
            for (int side = 0; side < 2; side++) {
                const paritas_bound bound = side ? option->upper : option->lower;
                const double beyond = nextafter(bound.value, side ? INFINITY : -INFINITY);
                const double wrong = !bound.exists ? NAN : bound.open ? bound.value : beyond;
                memcpy(bytes, defaults[i].options, all[i].size);
                memcpy(bytes + option->offset, &wrong, sizeof wrong);
                assert_int_equal(paritas_options_check(context, all[i].name, bytes),
                                 PARITAS_INVALID_ARGUMENT);
                if (!strstr(paritas_error_message(context), option->name))
                    fail_msg("%s.%s: %s", all[i].name, option->name, paritas_error_message(context));
            }
        }
    paritas_close(context);
}

/* ---- enumerations ----------------------------------------------------------------------------- */

/* Each enumeration with its own function for words. */
#define NAME_OF(type, LIST, doc)                 \
    static const char *name_of_##type(int value) \
    {                                            \
        return type##_name((type)value);         \
    }
ALL_ENUMERATIONS(NAME_OF)

#define ENUMERATION_OF(type, LIST, doc) {#type, name_of_##type, 0 LIST(PARITAS_COUNT_ITEM)},
static const struct {
    const char *type;
    const char *(*name)(int value);
    size_t n;
} types[] = {ALL_ENUMERATIONS(ENUMERATION_OF)};

TEST(every_enumeration_of_the_headers_is_described_and_found_by_its_name)
{
    size_t n;
    const paritas_enumeration *all = paritas_enumerations(&n);
    assert_int_equal(n, COUNT(types));
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(all[i].name, types[i].type);
        assert_int_equal(all[i].n, types[i].n);
        assert_true(all[i].doc[0]);
        assert_ptr_equal(paritas_enumeration_find(types[i].type), &all[i]);
    }
    assert_null(paritas_enumeration_find("paritas_unheard_of"));
}

TEST(words_and_values_are_unique_and_lead_to_each_other)
{
    size_t n;
    const paritas_enumeration *all = paritas_enumerations(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].n; k++) {
            const paritas_word *one = &all[i].words[k];
            int value = one->value + 1;
            ASSERT_OF(strncmp(one->name, "PARITAS_", 8) == 0 && one->doc[0], all[i].name, one->name);
            for (size_t j = 0; j < k; j++) {
                const paritas_word *other = &all[i].words[j];
                ASSERT_OF(one->value != other->value, all[i].name, one->name);
                ASSERT_OF(strcmp(one->word, other->word) != 0, all[i].name, one->name);
            }
            assert_ptr_equal(paritas_enumeration_word(&all[i], one->value), one->word);
            ASSERT_OF(paritas_enumeration_value(&all[i], one->word, &value) == 1, all[i].name, one->name);
            ASSERT_OF(value == one->value, all[i].name, one->name);
            /* no constant of another enumeration has its name */
            for (size_t e = 0; e < i; e++)
                for (size_t j = 0; j < all[e].n; j++)
                    ASSERT_OF(strcmp(one->name, all[e].words[j].name) != 0, all[i].name, one->name);
        }
}

TEST(what_an_enumeration_lacks_is_not_found)
{
    size_t n;
    const paritas_enumeration *all = paritas_enumerations(&n);
    for (size_t i = 0; i < n; i++) {
        int value = 12345;
        assert_null(paritas_enumeration_word(&all[i], -12345));
        assert_int_equal(paritas_enumeration_value(&all[i], "no such word", &value), 0);
        assert_int_equal(value, 12345);
    }
}

TEST(functions_for_names_say_the_words)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        const paritas_enumeration *enumeration = paritas_enumeration_find(types[i].type);
        for (size_t k = 0; k < enumeration->n; k++)
            assert_string_equal(types[i].name(enumeration->words[k].value), enumeration->words[k].word);
        assert_string_equal(types[i].name(-12345), "unknown");
    }
    assert_string_equal(paritas_fit_status_name(PARITAS_FIT_NOT_A_MINIMUM), "not_a_minimum");
    assert_string_equal(paritas_test_statistic_name(PARITAS_STATISTIC_QTILDE), "qtilde");
    assert_string_equal(paritas_device_kind_name(PARITAS_DEVICE_OPENCL), "opencl");
    assert_string_equal(paritas_histosys_code_name(PARITAS_HISTOSYS_CODE_4P), "4p");
}

TEST(a_tally_has_a_place_for_every_outcome_of_a_fit)
{
    const paritas_record *tally = paritas_record_find("paritas_toys_tally");
    const paritas_enumeration *outcomes = paritas_enumeration_find("paritas_fit_status");
    assert_string_equal(tally->fields[0].word, "counts");
    assert_int_equal(tally->fields[0].count, outcomes->n);
    for (size_t k = 0; k < outcomes->n; k++) assert_int_equal(outcomes->words[k].value, k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_another_record_does_not_grow),
        cmocka_unit_test(every_record_of_the_headers_is_described_and_found_by_its_name),
        cmocka_unit_test(every_field_is_the_member_of_the_struct),
        cmocka_unit_test(fields_lie_within_their_record_in_order_and_leave_nothing_out),
        cmocka_unit_test(a_value_is_read_where_its_field_says),
        cmocka_unit_test(a_field_has_the_size_and_the_descriptor_of_its_type),
        cmocka_unit_test(words_of_a_record_are_names_and_tell_its_fields_apart),
        cmocka_unit_test(every_struct_of_options_is_described_with_its_defaults_which_its_own_check_accepts),
        cmocka_unit_test(an_option_is_refused_outside_its_bounds_alone),
        cmocka_unit_test(every_enumeration_of_the_headers_is_described_and_found_by_its_name),
        cmocka_unit_test(words_and_values_are_unique_and_lead_to_each_other),
        cmocka_unit_test(what_an_enumeration_lacks_is_not_found),
        cmocka_unit_test(functions_for_names_say_the_words),
        cmocka_unit_test(a_tally_has_a_place_for_every_outcome_of_a_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
