/* SHA-256: the examples of FIPS 180-4, the same by the processor's instructions and without, and however the
 * bytes come. */
#include "common.h"

#include "base/digest.h"

static const struct {
    const char *text, *hex;
} examples[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

TEST(the_standards_examples_have_their_digests)
{
    for (size_t k = 0; k < 2 * COUNT(examples); k++) {
        struct sha256 digest;
        char hex[65];
        if (k % 2)
            sha256_open(&digest);
        else
            sha256_open_plain(&digest);
        sha256_append(&digest, examples[k / 2].text, strlen(examples[k / 2].text));
        sha256_close(&digest, hex);
        assert_string_equal(hex, examples[k / 2].hex);
    }
}

TEST(a_million_letters_in_pieces_of_any_size_have_their_digest)
{
    static char letters[1000000];
    memset(letters, 'a', sizeof letters);
    for (size_t piece = 1; piece < 200; piece += 7) {
        struct sha256 digest;
        char hex[65];
        if (piece % 2)
            sha256_open(&digest);
        else
            sha256_open_plain(&digest);
        for (size_t at = 0; at < sizeof letters; at += piece)
            sha256_append(&digest, letters + at, at + piece < sizeof letters ? piece : sizeof letters - at);
        sha256_close(&digest, hex);
        assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(both_ways_agree_at_every_length)
{
    unsigned char bytes[400];
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(k * 151 + k / 7);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        struct sha256 digest[2];
        char hex[2][65];
        sha256_open(&digest[0]);
        sha256_open_plain(&digest[1]);
        for (unsigned way = 0; way < 2; way++) {
            sha256_append(&digest[way], bytes, length / 3);
            sha256_append(&digest[way], bytes + length / 3, length - length / 3);
            sha256_close(&digest[way], hex[way]);
        }
        assert_string_equal(hex[0], hex[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standards_examples_have_their_digests),
        cmocka_unit_test(a_million_letters_in_pieces_of_any_size_have_their_digest),
        cmocka_unit_test(both_ways_agree_at_every_length),
    };
    return cmocka_run_group_tests_name("SHA-256", tests, NULL, NULL);
}
