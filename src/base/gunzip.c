/* gunzip.c: inflates gzip members one after the other. A table of 2^length entries finds a code at once. */
#include "base/gunzip.h"
#include "base/crc32.h"

#include <stddef.h>
#include <string.h>

#define CODE_MOST 15 /* bits of a code */
#define LITERALS 288
#define DISTANCES 30
#define WINDOW ((size_t)32 * 1024)
#define MADE_MOST (3 * WINDOW)
#define MATCH_MOST 258

/* entries: symbol << 4 | length of its code; 0: no code. */
struct codes {
    unsigned bits;
    uint16_t entries[1 << CODE_MOST];
};

enum place { AT_MEMBER, AT_BLOCK, IN_STORED, IN_CODES, AT_TRAILER };

struct gunzip {
    paritas_allocator allocator;
    gunzip_take *take;
    void *user;
    enum gunzip_state state;
    enum place place;
    bool last_block;
    size_t members, stored; /* bytes left of a stored block */
    uint64_t bits;          /* the next bit lowest */
    unsigned n_bits, lent;  /* lent: bits of n_bits beyond the end of the file */
    size_t at, n, made, given;
    uint32_t sum; /* of the member's plain bytes */
    uint64_t size;
    struct crc32 crc;
    struct codes literals, distances;
    unsigned char in[16384], out[MADE_MOST];
};

struct gunzip *gunzip_open(paritas_context *context, gunzip_take *take, void *user)
{
    struct gunzip *z = paritas_allocate(context, 1, sizeof *z);
    if (!z) return NULL;
    memset(z, 0, offsetof(struct gunzip, crc));
    z->allocator = context->allocator;
    z->take = take;
    z->user = user;
    crc32_open(&z->crc);
    return z;
}

void gunzip_close(struct gunzip *gunzip)
{
    if (gunzip) paritas_release(&gunzip->allocator, gunzip);
}

enum gunzip_state gunzip_state(const struct gunzip *gunzip)
{
    return gunzip->state;
}

static bool refill(struct gunzip *z)
{
    if (z->at < z->n) return true;
    z->at = 0;
    z->n = z->take(z->user, z->in, sizeof z->in);
    return z->n > 0;
}

/* At least 48 bits; beyond the end zeros, which are lent. */
static void fill_bits(struct gunzip *z)
{
    while (z->n_bits <= 56) {
        if (refill(z))
            z->bits |= (uint64_t)z->in[z->at++] << z->n_bits;
        else
            z->lent += 8;
        z->n_bits += 8;
    }
}

static void drop_bits(struct gunzip *z, unsigned n)
{
    z->bits >>= n;
    z->n_bits -= n;
    if (z->n_bits < z->lent) z->state = GUNZIP_CUT;
}

/* n up to 32 */
static uint32_t take_bits(struct gunzip *z, unsigned n)
{
    if (z->n_bits < n) fill_bits(z);
    const uint32_t value = (uint32_t)(z->bits & ((UINT64_C(1) << n) - 1));
    drop_bits(z, n);
    return value;
}

static void fail(struct gunzip *z)
{
    if (z->state == GUNZIP_READING) z->state = GUNZIP_DAMAGED;
}

/* Canonical codes of n symbols from their lengths (RFC 1951, 3.2.2). False: no set of codes. A lone code may
 * leave others unused. */
static bool make_codes(struct codes *codes, const unsigned char *lengths, unsigned n)
{
    unsigned count[CODE_MOST + 1] = {0}, next[CODE_MOST + 2], used = 0, code = 0;
    for (unsigned i = 0; i < n; i++) count[lengths[i]]++;
    count[0] = 0;
    codes->bits = 1;
    for (unsigned length = 1; length <= CODE_MOST; length++) {
        code = (code + count[length - 1]) << 1;
        next[length] = code;
        used += count[length];
        if (count[length] != 0) codes->bits = length;
        if (code + count[length] > 1u << length) return false;
    }
    const bool whole = next[codes->bits] + count[codes->bits] == 1u << codes->bits;
    if (!whole && used > 1) return false;
    memset(codes->entries, 0, sizeof codes->entries[0] << codes->bits);
    for (unsigned i = 0; i < n; i++) {
        const unsigned length = lengths[i];
        if (length == 0) continue;
        unsigned reversed = 0;
        code = next[length]++;
        for (unsigned bit = 0; bit < length; bit++) reversed |= (code >> bit & 1) << (length - 1 - bit);
        for (unsigned at = reversed; at < 1u << codes->bits; at += 1u << length)
            codes->entries[at] = (uint16_t)(i << 4 | length);
    }
    return true;
}

/* The next symbol; needs 15 bits. */
static unsigned take_symbol(struct gunzip *z, const struct codes *codes)
{
    const unsigned entry = codes->entries[z->bits & ((1u << codes->bits) - 1)];
    if (entry == 0 && z->n_bits - z->lent < codes->bits)
        z->state = GUNZIP_CUT;
    else if (entry == 0)
        fail(z);
    drop_bits(z, entry & 15);
    return entry >> 4;
}

static void skip_text(struct gunzip *z)
{
    while (z->state == GUNZIP_READING && take_bits(z, 8) != 0) {
    }
}

static void begin_member(struct gunzip *z)
{
    enum { HEADER_SUM = 2, EXTRA = 4, NAME = 8, COMMENT = 16, UNKNOWN = 0xE0 };
    if (z->members > 0 && z->n_bits == z->lent && !refill(z)) {
        z->state = GUNZIP_END;
        return;
    }
    const uint32_t magic = take_bits(z, 16), method = take_bits(z, 8), flags = take_bits(z, 8);
    if (z->state == GUNZIP_READING && (magic != 0x8b1f || method != 8 || (flags & UNKNOWN))) {
        /* zeros after a member are padding */
        z->state = z->members > 0 && magic == 0 ? GUNZIP_END : GUNZIP_DAMAGED;
        return;
    }
    take_bits(z, 32); /* time */
    take_bits(z, 16); /* compressor, system */
    if (flags & EXTRA)
        for (uint32_t left = take_bits(z, 16); left > 0 && z->state == GUNZIP_READING; left--)
            take_bits(z, 8);
    if (flags & NAME) skip_text(z);
    if (flags & COMMENT) skip_text(z);
    if (flags & HEADER_SUM) take_bits(z, 16);
    z->members++;
    z->sum = 0;
    z->size = 0;
    z->place = AT_BLOCK;
}

/* Lengths of a block's codes, themselves coded (RFC 1951, 3.2.7). */
static bool take_lengths(struct gunzip *z, unsigned n, unsigned char *lengths)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char first[19] = {0};
    const unsigned coded = take_bits(z, 4) + 4;
    for (unsigned i = 0; i < coded; i++) first[order[i]] = (unsigned char)take_bits(z, 3);
    if (!make_codes(&z->literals, first, 19)) return false;
    for (unsigned i = 0; i < n && z->state == GUNZIP_READING;) {
        fill_bits(z);
        const unsigned symbol = take_symbol(z, &z->literals);
        if (symbol < 16) {
            lengths[i++] = (unsigned char)symbol;
            continue;
        }
        if (symbol == 16 && i == 0) return false;
        const unsigned char value = symbol == 16 ? lengths[i - 1] : 0;
        unsigned times = symbol == 16   ? take_bits(z, 2) + 3
                         : symbol == 17 ? take_bits(z, 3) + 3
                                        : take_bits(z, 7) + 11;
        if (times > n - i) return false;
        while (times-- > 0) lengths[i++] = value;
    }
    return z->state == GUNZIP_READING;
}

static bool dynamic_codes(struct gunzip *z)
{
    unsigned char lengths[LITERALS + 32];
    const unsigned literals = take_bits(z, 5) + 257, distances = take_bits(z, 5) + 1;
    return literals <= 286 && distances <= DISTANCES && take_lengths(z, literals + distances, lengths) &&
           lengths[256] != 0 && make_codes(&z->literals, lengths, literals) &&
           make_codes(&z->distances, lengths + literals, distances);
}

static bool fixed_codes(struct gunzip *z)
{
    unsigned char lengths[LITERALS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    bool made = make_codes(&z->literals, lengths, LITERALS);
    memset(lengths, 5, 32);
    return made && make_codes(&z->distances, lengths, 32);
}

static void begin_block(struct gunzip *z)
{
    z->last_block = take_bits(z, 1);
    const uint32_t kind = take_bits(z, 2);
    bool good = true;
    if (kind == 0) {
        take_bits(z, z->n_bits % 8);
        z->stored = take_bits(z, 16);
        good = (take_bits(z, 16) ^ 0xffff) == z->stored;
        z->place = IN_STORED;
    } else {
        good = kind == 1 ? fixed_codes(z) : kind == 2 && dynamic_codes(z);
        z->place = IN_CODES;
    }
    if (!good) fail(z);
}

static void end_block(struct gunzip *z)
{
    z->place = z->last_block ? AT_TRAILER : AT_BLOCK;
}

static void copy_stored(struct gunzip *z)
{
    while (z->stored > 0 && z->made < MADE_MOST && z->state == GUNZIP_READING) {
        const unsigned char byte = (unsigned char)take_bits(z, 8);
        if (z->state != GUNZIP_READING) return;
        z->out[z->made++] = byte;
        z->stored--;
    }
    if (z->stored == 0) end_block(z);
}

/* Lengths and distances of matches: least, and extra bits (RFC 1951, 3.2.5). */
static const uint16_t length_least[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const unsigned char length_extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                               2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

static void copy_match(struct gunzip *z, unsigned symbol)
{
    if (symbol >= 29) {
        fail(z);
        return;
    }
    const size_t length = length_least[symbol] + take_bits(z, length_extra[symbol]);
    const unsigned code = take_symbol(z, &z->distances), extra = code < 4 ? 0 : code / 2 - 1;
    if (code >= DISTANCES) fail(z);
    const size_t distance = (code < 4 ? code : (2 + (code & 1u)) << extra) + 1 + take_bits(z, extra);
    if (distance > z->made || distance > z->size + (z->made - z->given)) fail(z);
    if (z->state != GUNZIP_READING) return;
    unsigned char *const to = z->out + z->made;
    const unsigned char *const from = to - distance; /* may overlap */
    for (size_t i = 0; i < length; i++) to[i] = from[i];
    z->made += length;
}

static void copy_codes(struct gunzip *z)
{
    while (z->made + MATCH_MOST <= MADE_MOST && z->state == GUNZIP_READING) {
        if (z->n_bits < 48) fill_bits(z);
        const unsigned symbol = take_symbol(z, &z->literals);
        if (z->state != GUNZIP_READING) return;
        if (symbol < 256) {
            z->out[z->made++] = (unsigned char)symbol;
        } else if (symbol == 256) {
            end_block(z);
            return;
        } else {
            copy_match(z, symbol - 257);
        }
    }
}

static void end_member(struct gunzip *z)
{
    take_bits(z, z->n_bits % 8);
    const uint32_t sum = take_bits(z, 32), size = take_bits(z, 32);
    if (sum != z->sum || size != (uint32_t)z->size) fail(z);
    z->place = AT_MEMBER;
}

/* Some more plain bytes, counted and summed. */
static void make_some(struct gunzip *z)
{
    if (z->made > 2 * WINDOW) { /* all given: keep what matches may reach */
        memmove(z->out, z->out + z->made - WINDOW, WINDOW);
        z->made = z->given = WINDOW;
    }
    static void (*const steps[])(struct gunzip *) = {begin_member, begin_block, copy_stored, copy_codes,
                                                     end_member};
    const size_t before = z->made;
    steps[z->place](z);
    z->sum = crc32_append(&z->crc, z->sum, z->out + before, z->made - before);
    z->size += z->made - before;
}

size_t gunzip_read(struct gunzip *gunzip, char *out, size_t room)
{
    while (gunzip->given == gunzip->made && gunzip->state == GUNZIP_READING) make_some(gunzip);
    const size_t left = gunzip->made - gunzip->given, taken = left < room ? left : room;
    memcpy(out, gunzip->out + gunzip->given, taken);
    gunzip->given += taken;
    return taken;
}
