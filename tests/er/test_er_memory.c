/* Every allocation fails once, and once with all that follow: each time the answer is PARITAS_OUT_OF_MEMORY,
 * and nothing is left behind. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

#include "moon/er/er.h"
#include "refusing.h"

#include <sys/stat.h>
#include <zlib.h>

static char folder[] = "/tmp/paritas-er-memory-XXXXXX";
static struct page page;

static const char *within(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A gzip file of one stored block. */
static void write_packed(const char *name, const struct page *page)
{
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1};
    const uint16_t size = (uint16_t)page->length, other = (uint16_t)~size;
    const uint32_t end[2] = {(uint32_t)crc32(0, (const Bytef *)page->text, size), size};
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_true(page->length <= UINT16_MAX);
    fwrite(head, 1, sizeof head, file);
    fwrite(&size, 1, sizeof size, file);
    fwrite(&other, 1, sizeof other, file);
    fwrite(page->text, 1, size, file);
    fwrite(end, 1, sizeof end, file);
    assert_int_equal(fclose(file), 0);
}

static int open_once(void **state)
{
    (void)state;
    struct page attitude = {0}, table = {0};
    if (!mkdtemp(folder)) return 1;
    /* of a row each: more than there is room for at first */
    for (unsigned sweep = 1; sweep <= 600; sweep++) {
        page_row(&page, sweep, 0, NULL, 0);
        page_add(&page, "\n");
    }
    write_file(within("3D980201.TAB"), page.text);
    for (unsigned k = 0; k < 600; k++)
        page_add(&attitude, "1998-02-01T%02u:%02u:00,12,1,2\n", k / 60, k % 60);
    write_file(within("attitude.tab"), attitude.text);
    page_add(&table, "spectrum,polarity\n");
    for (unsigned k = 0; k < 1100; k++) page_add(&table, "%u,1\n", k);
    write_file(within("table.csv"), table.text);
    write_packed(within("table.gz"), &table);
    write_file(within("mag.tab"), "1998-02-01T00:00:00 32.0 5 0 0 5 0 0 0.1 1838 0 0 1838 0 0 1\n");
    page_free(&attitude);
    page_free(&table);
    return 0;
}

static int close_once(void **state)
{
    (void)state;
    static const char *const files[] = {"3D980201.TAB", "attitude.tab", "table.csv",
                                        "table.gz",     "mag.tab",      "written.tab"};
    for (size_t k = 0; k < COUNT(files); k++) unlink(within(files[k]));
    page_free(&page);
    return rmdir(folder);
}

static paritas_status parse_page(paritas_context *context)
{
    paritas_er_day *day;
    const paritas_status status = paritas_er_parse(context, page.text, page.length, "page", NULL, &day);
    assert_true((status == PARITAS_OK) == (day != NULL));
    paritas_er_day_free(day);
    return status;
}

static paritas_status read_file(paritas_context *context)
{
    paritas_er_day *day;
    const paritas_status status = paritas_er_read(context, within("3D980201.TAB"), NULL, &day);
    paritas_er_day_free(day);
    return status;
}

static paritas_status create_and_write(paritas_context *context)
{
    paritas_er_day *day;
    paritas_status status = paritas_er_day_create(context, 3, &day);
    assert_true((status == PARITAS_OK) == (day != NULL));
    if (!status) status = paritas_er_write(context, within("written.tab"), day, 0);
    paritas_er_day_free(day);
    return status;
}

static paritas_status read_attitude(paritas_context *context)
{
    paritas_er_attitude *attitude;
    const paritas_status status = paritas_er_attitude_read(context, within("attitude.tab"), &attitude);
    paritas_er_attitude_free(attitude);
    return status;
}

static paritas_status read_table(paritas_context *context, const char *name)
{
    paritas_er_geometry *geometry;
    const paritas_status status = paritas_er_geometry_read(context, within(name), &geometry);
    paritas_er_geometry_free(geometry);
    return status;
}

static paritas_status read_geometry(paritas_context *context)
{
    return read_table(context, "table.csv");
}

static paritas_status read_packed(paritas_context *context)
{
    return read_table(context, "table.gz");
}

static paritas_status read_mag(paritas_context *context)
{
    paritas_er_mag *mag;
    const paritas_status status = paritas_er_mag_read(context, within("mag.tab"), &mag);
    paritas_er_mag_free(mag);
    return status;
}

static paritas_status join_days(paritas_context *context)
{
    paritas_er_day *whole = NULL, *part;
    struct er_joined joined;
    paritas_status status = PARITAS_OK;
    for (int k = 0; k < 2 && !status; k++) {
        status = paritas_er_day_create(context, 3, &part);
        if (!status) status = er_join(context, &whole, part, &joined);
    }
    paritas_er_day_free(whole);
    return status;
}

static paritas_status find_files(paritas_context *context)
{
    paritas_er_files *files;
    paritas_status status = paritas_er_find(context, folder, 0, 0, 0, &files);
    paritas_er_files_free(files);
    if (!status) status = paritas_er_find(context, within("3D980201.TAB"), 0, 0, 0, &files);
    if (!status) paritas_er_files_free(files);
    return status;
}

TEST(a_failing_allocation_is_an_answer_everywhere)
{
    static const struct {
        paritas_status (*run)(paritas_context *context);
        long least; /* allocations it makes */
    } steps[] = {{parse_page, 60},   {read_file, 60},    {create_and_write, 20},
                 {read_attitude, 8}, {read_geometry, 4}, {read_packed, 5},
                 {read_mag, 8},      {join_days, 60},    {find_files, 8}};
    struct ledger ledger = {0};
    const paritas_allocator allocator = ledger_allocator(&ledger);
    paritas_context *context = open_context(&allocator);
    const long open = ledger.live;
    for (size_t k = 0; k < COUNT(steps); k++) {
        for (int for_good = 0; for_good < 2; for_good++) {
            long failed = 1;
            for (;; failed += REFUSED_STEP) {
                ledger.requests = 0;
                ledger.fail_at = failed;
                ledger.for_good = for_good;
                const paritas_status status = steps[k].run(context);
                assert_int_equal(ledger.live, open);
                if (ledger.requests < failed) {
                    assert_int_equal(status, PARITAS_OK);
                    break;
                }
                assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
            }
            assert_true(failed > steps[k].least);
        }
    }
    ledger.fail_at = 0;
    paritas_close(context);
    assert_int_equal(ledger.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_failing_allocation_is_an_answer_everywhere)};
    return cmocka_run_group_tests_name("day files: memory", tests, open_once, close_once);
}
