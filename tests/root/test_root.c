/* Histograms from ROOT files: numbers of every class and compression, folders, cycles, and files that are
 * damaged anywhere. make_histograms.py wrote the file and says what is in it. */
#define _GNU_SOURCE /* mkdtemp */
#include "refusing.h"

#include "root/root_file.h"

#include <unistd.h>

#define HISTOGRAMS PARITAS_SOURCE_DIR "/tests/root/histograms.root"
#define BUFFERED PARITAS_SOURCE_DIR "/tests/root/buffered.root"

enum { BINS = 30, CELLS = BINS + 2, LARGEST = 1 << 20 };

static const char *const readable[] = {
    "packed", "TH1C", "TH1S", "TH1I", "TH1L", "TH1F", "plain", "labels", "outer/inner/cycled"};

static char folder[] = "/tmp/paritas_root_XXXXXX", copy[64];
static struct ledger ledger;
static size_t largest; /* request for memory */
static paritas_context context;

static void *allocate(void *user, size_t size)
{
    if (size > largest) largest = size;
    return ledger_allocate(user, size);
}

static int start(void **state)
{
    (void)state;
    context = (paritas_context){.allocator = ledger_allocator(&ledger)};
    context.allocator.allocate = allocate;
    if (!mkdtemp(folder)) return 1;
    snprintf(copy, sizeof copy, "%s/copy.root", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(copy);
    return rmdir(folder);
}

static int fresh(void **state)
{
    (void)state;
    ledger = (struct ledger){.for_good = true};
    largest = 0;
    context.message[0] = '\0';
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    return ledger.live != 0;
}

static struct root_file *open_file(const char *path)
{
    struct root_file *file;
    ASSERT_OK(&context, root_file_open(&context, path, &file));
    return file;
}

/* ---- what is read ---- */

static void check_numbers(const struct root_histogram *histogram, bool squares)
{
    assert_int_equal(histogram->n_bins, BINS);
    assert_int_equal(histogram->squares != NULL, squares);
    for (int i = 0; i < CELLS; i++) {
        assert_true(histogram->contents[i] == 3 * i - 4);
        if (squares) assert_true(histogram->squares[i] == (i + 1) * (i + 1));
    }
    for (int i = 0; i < BINS; i++) assert_true(histogram->edges[i] == -1.0 + i * (1.5 / BINS));
    assert_true(histogram->edges[BINS] == 0.5);
}

TEST(every_class_and_compression_gives_its_numbers)
{
    struct root_file *file = open_file(HISTOGRAMS);
    struct arena arena;
    struct root_histogram histogram;
    arena_open(&arena, &context.allocator);
    for (size_t k = 0; k < 7; k++) {
        ASSERT_OK(&context, root_histogram_read(&context, file, readable[k], &arena, &histogram));
        check_numbers(&histogram, strcmp(readable[k], "packed") == 0);
        assert_int_equal(histogram.single, strcmp(readable[k], "TH1F") == 0);
    }
    arena_free(&arena);
    root_file_close(file);
}

TEST(edges_of_any_width_are_read_beside_labels_contours_and_functions)
{
    static const double edges[] = {0.0, 0.5, 2.0, 2.25, 8.0};
    struct root_file *file = open_file(HISTOGRAMS);
    struct arena arena;
    struct root_histogram histogram;
    arena_open(&arena, &context.allocator);
    ASSERT_OK(&context, root_histogram_read(&context, file, "labels", &arena, &histogram));
    assert_int_equal(histogram.n_bins, 4);
    assert_true(histogram.single);
    for (int i = 0; i < 6; i++) {
        assert_true(histogram.contents[i] == 3 * i - 4);
        assert_true(histogram.squares[i] == (i + 1) * (i + 1));
    }
    for (int i = 0; i < 5; i++) assert_true(histogram.edges[i] == edges[i]);
    arena_free(&arena);
    root_file_close(file);
}

TEST(the_highest_cycle_of_a_name_is_its_object)
{
    struct root_file *file = open_file(HISTOGRAMS);
    struct arena arena;
    struct root_histogram histogram;
    arena_open(&arena, &context.allocator);
    ASSERT_OK(&context, root_histogram_read(&context, file, "/outer//inner/cycled", &arena, &histogram));
    assert_int_equal(histogram.n_bins, 1);
    assert_true(histogram.contents[1] == 11.0);
    arena_free(&arena);
    root_file_close(file);
}

TEST(entries_in_a_buffer_are_in_the_bins_where_root_puts_them)
{
    static const char *const names[] = {"once",  "counts",  "squares", "weights", "unweighted",
                                        "edges", "rounded", "TH1C",    "TH1S",    "TH1I",
                                        "TH1L",  "inside",  "already"};
    struct root_file *file = open_file(BUFFERED);
    struct arena arena;
    arena_open(&arena, &context.allocator);
    for (size_t k = 0; k < COUNT(names); k++) {
        struct root_histogram found, wanted;
        char binned[32];
        snprintf(binned, sizeof binned, "%s_binned", names[k]);
        ASSERT_OK(&context, root_histogram_read(&context, file, names[k], &arena, &found));
        ASSERT_OK(&context, root_histogram_read(&context, file, binned, &arena, &wanted));
        assert_int_equal(found.n_bins, wanted.n_bins);
        assert_int_equal(found.squares != NULL, wanted.squares != NULL);
        for (uint32_t i = 0; i < found.n_bins + 2; i++) {
            if (found.contents[i] != wanted.contents[i])
                fail_msg("%s, cell %u: %g, ROOT %g", names[k], i, found.contents[i], wanted.contents[i]);
            if (found.squares) assert_true(found.squares[i] == wanted.squares[i]);
        }
    }
    arena_free(&arena);
    root_file_close(file);
}

TEST(objects_of_any_class_are_there_or_not)
{
    static const char *const there[] = {"two", "outer", "outer/inner", "empty", "lzma", "outer/inner/cycled"};
    static const char *const missing[] = {
        "", "/", "tw", "twoo", "outer/", "a/b", "outer/cycled", "two/a", "empty/packed", "packed;1"};
    struct root_file *file = open_file(HISTOGRAMS);
    for (size_t i = 0; i < COUNT(there); i++) assert_true(root_file_has(file, there[i]));
    for (size_t i = 0; i < COUNT(missing); i++) assert_false(root_file_has(file, missing[i]));
    assert_string_equal(context.message, "");
    root_file_close(file);
    root_file_close(NULL);
}

/* ---- what is refused ---- */

static void refuses_in(const char *path, struct root_file *file, const char *name, paritas_status status,
                       const char *words)
{
    struct arena arena;
    struct root_histogram histogram;
    arena_open(&arena, &context.allocator);
    assert_int_equal(root_histogram_read(&context, file, name, &arena, &histogram), status);
    const size_t length = strlen(path);
    assert_memory_equal(context.message, path, length);
    assert_memory_equal(context.message + length, ": ", 2);
    assert_string_equal(context.message + length + 2, words);
    arena_free(&arena);
}

static void refuses(struct root_file *file, const char *name, paritas_status status, const char *words)
{
    refuses_in(HISTOGRAMS, file, name, status, words);
}

TEST(a_refusal_names_the_file_the_object_and_the_way_out)
{
#define REWRITE "; zlib can be read: rewrite the file by `hadd -f101 new.root old.root`"
    struct root_file *file = open_file(HISTOGRAMS);
    refuses(file, "lzma", PARITAS_INVALID_INPUT, "lzma: compressed by lzma" REWRITE);
    refuses(file, "lz4", PARITAS_INVALID_INPUT, "lz4: compressed by lz4" REWRITE);
    refuses(file, "zstd", PARITAS_INVALID_INPUT, "zstd: compressed by zstd" REWRITE);
    refuses(file, "old", PARITAS_INVALID_INPUT, "old: compressed by the old method CS" REWRITE);
    refuses(file, "two", PARITAS_INVALID_INPUT,
            "two: a histogram of one dimension is wanted; this is a TH2F: use TH1F or TH1D");
    refuses(
        file, "pack", PARITAS_NOT_FOUND,
        "there is no \"pack\": the folder of \"pack\" has, for example, \"outer\", \"packed\", \"plain\"");
    refuses(file, "outer/Inner/x", PARITAS_NOT_FOUND,
            "there is no \"outer/Inner/x\": the folder of \"Inner/x\" has, for example, \"inner\"");
    refuses(file, "empty/x", PARITAS_NOT_FOUND, "there is no \"empty/x\": the folder of \"x\" is empty");
    refuses(file, "two/x", PARITAS_NOT_FOUND, "there is no \"two/x\": \"two\" is a TH2F, no folder");
    root_file_close(file);
}

TEST(a_buffer_without_bins_or_with_damage_is_refused)
{
#define UNCHOSEN ": ROOT has not chosen its bins yet: call BufferEmpty(1) before you write it"
#define DAMAGED \
    ": the histogram is damaged, or no ROOT wrote it: rewrite the file by `hadd -f101 new.root old.root`"
    struct root_file *file = open_file(BUFFERED);
    refuses_in(BUFFERED, file, "chosen", PARITAS_INVALID_INPUT, "chosen" UNCHOSEN);
    refuses_in(BUFFERED, file, "grows", PARITAS_INVALID_INPUT, "grows" UNCHOSEN);
    refuses_in(BUFFERED, file, "long", PARITAS_INVALID_INPUT, "long" DAMAGED);
    refuses_in(BUFFERED, file, "half", PARITAS_INVALID_INPUT, "half" DAMAGED);
    refuses_in(BUFFERED, file, "nan", PARITAS_INVALID_INPUT, "nan" DAMAGED);
    refuses_in(BUFFERED, file, "weight", PARITAS_INVALID_INPUT,
               "weight: an entry in its buffer has a weight that is no finite number");
    root_file_close(file);
}

TEST(what_is_no_file_of_root_is_refused)
{
    struct root_file *file;
    assert_int_equal(root_file_open(&context, "/nowhere/a.root", &file), PARITAS_UNREADABLE);
    assert_string_equal(context.message, "/nowhere/a.root: No such file or directory");
    assert_int_equal(root_file_open(&context, folder, &file), PARITAS_INVALID_INPUT);
    assert_int_equal(root_file_open(&context, PARITAS_SOURCE_DIR "/CMakeLists.txt", &file),
                     PARITAS_INVALID_INPUT);
    assert_string_equal(context.message, PARITAS_SOURCE_DIR "/CMakeLists.txt: this is no ROOT file");
    assert_null(file);
}

/* ---- damage ---- */

/* Files, and histograms of each that damage may reach. */
struct sound {
    const char *path;
    const char *const *names;
    size_t n;
};

static const char *const with_buffer[] = {"plain", "weights"};
static const struct sound sound[] = {{HISTOGRAMS, readable, COUNT(readable)},
                                     {BUFFERED, with_buffer, COUNT(with_buffer)}};

/* Whatever the file is: each histogram is read whole or refused by name, in little memory. */
static void read_all(const struct sound *from, const char *path, bool opens)
{
    struct root_file *file;
    const size_t length = strlen(path);
    paritas_status status = root_file_open(&context, path, &file);
    for (size_t k = 0; k < from->n && !status; k++) {
        struct arena arena;
        struct root_histogram histogram;
        arena_open(&arena, &context.allocator);
        const paritas_status read = root_histogram_read(&context, file, from->names[k], &arena, &histogram);
        assert_true(read == PARITAS_OK || read == PARITAS_INVALID_INPUT || read == PARITAS_NOT_FOUND);
        if (read) assert_memory_equal(context.message, path, length);
        double sum = 0.0;
        for (uint32_t i = 0; !read && i <= histogram.n_bins; i++)
            sum += histogram.contents[i + 1] + histogram.edges[i] +
                   (histogram.squares ? histogram.squares[i + 1] : 0.0);
        assert_true(sum == sum || sum != sum); /* sanitizers have seen every number */
        arena_free(&arena);
    }
    if (!opens) assert_int_equal(status, PARITAS_INVALID_INPUT);
    if (status) assert_memory_equal(context.message, path, length);
    root_file_close(file);
    assert_int_equal(ledger.live, 0);
    assert_true(largest < LARGEST);
}

static char *read_file(const char *path, size_t *size)
{
    static char bytes[65536];
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    *size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    assert_true(*size > 1000 && *size < sizeof bytes);
    return bytes;
}

static FILE *write_copy(const char *bytes, size_t size)
{
    FILE *stream = fopen(copy, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fflush(stream), 0);
    return stream;
}

TEST(a_file_that_was_cut_anywhere_is_refused)
{
    for (size_t k = 0; k < COUNT(sound); k++) {
        size_t size;
        const char *const bytes = read_file(sound[k].path, &size);
        FILE *stream = write_copy(bytes, size);
        read_all(&sound[k], copy, true);
        while (size-- > 0) {
            assert_int_equal(ftruncate(fileno(stream), (off_t)size), 0);
            read_all(&sound[k], copy, false);
        }
        fclose(stream);
    }
}

static void change_anywhere(const struct sound *from)
{
    static const unsigned char changes[] = {0x01, 0x40, 0x80, 0xff};
    size_t size;
    const char *const bytes = read_file(from->path, &size);
    FILE *stream = write_copy(bytes, size);
    for (size_t at = 0; at < size; at++) {
        for (size_t k = 0; k <= COUNT(changes); k++) {
            const char changed = k < COUNT(changes) ? (char)(bytes[at] ^ changes[k]) : bytes[at];
            assert_int_equal(pwrite(fileno(stream), &changed, 1, (off_t)at), 1);
            if (k < COUNT(changes)) read_all(from, copy, true);
        }
    }
    fclose(stream);
}

TEST(a_file_that_was_changed_anywhere_is_read_or_refused)
{
    for (size_t k = 0; k < COUNT(sound); k++) change_anywhere(&sound[k]);
}

TEST(without_memory_nothing_is_left)
{
    for (long n = 1;; n++) {
        fresh(NULL);
        ledger.fail_at = n;
        struct root_file *file;
        struct arena arena;
        struct root_histogram histogram;
        arena_open(&arena, &context.allocator);
        paritas_status status = root_file_open(&context, HISTOGRAMS, &file);
        if (!status) status = root_histogram_read(&context, file, "outer/inner/cycled", &arena, &histogram);
        if (!status) status = root_histogram_read(&context, file, "packed", &arena, &histogram);
        root_file_close(file);
        arena_free(&arena);
        assert_int_equal(ledger.live, 0);
        if (!status) break;
        assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
        assert_string_equal(context.message, "memory could not be allocated");
    }
}

int main(void)
{
#define CASE(claim) cmocka_unit_test_setup_teardown(claim, fresh, nothing_is_left)
    const struct CMUnitTest tests[] = {
        CASE(every_class_and_compression_gives_its_numbers),
        CASE(edges_of_any_width_are_read_beside_labels_contours_and_functions),
        CASE(the_highest_cycle_of_a_name_is_its_object),
        CASE(entries_in_a_buffer_are_in_the_bins_where_root_puts_them),
        CASE(objects_of_any_class_are_there_or_not),
        CASE(a_refusal_names_the_file_the_object_and_the_way_out),
        CASE(a_buffer_without_bins_or_with_damage_is_refused),
        CASE(what_is_no_file_of_root_is_refused),
        CASE(a_file_that_was_cut_anywhere_is_refused),
        CASE(a_file_that_was_changed_anywhere_is_read_or_refused),
        CASE(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("ROOT files", tests, start, end);
}
