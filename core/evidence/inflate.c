#include "evidence/inflate.h"

#define CODE_MAX    15  /* bits of a code */
#define LITERALS    288 /* codes for bytes, the end of a block, and lengths */
#define DISTANCES   30
#define LENGTHS     19 /* codes for lengths of codes */
#define END         256
#define STORED_MAX  65535
#define ADLER_PRIME 65521U
#define ADLER_BATCH 5552 /* bytes until the sums could overflow */

/* What is left to read, bit by bit: the lowest bit of a byte first (RFC 1951 3.1.1). */
struct input {
    struct writ_view rest;
    uint32_t bits;
    unsigned count;
    bool ended; /* more was asked for than there is */
};

/* Codes by their length: how many there are, and what they stand for, in order (3.2.2). */
struct codes {
    uint16_t count[CODE_MAX + 1];
    uint16_t symbol[LITERALS];
};

static uint32_t
take(struct input *in, unsigned n)
{
    uint32_t value;

    while (in->count < n) {
        if (in->rest.len == 0) {
            in->ended = true;
            return 0;
        }
        in->bits |= (uint32_t)(unsigned char)in->rest.ptr[0] << in->count;
        in->rest = writ_view_sub(in->rest, 1, in->rest.len);
        in->count += 8;
    }
    value = in->bits & ((UINT32_C(1) << n) - 1);
    in->bits >>= n;
    in->count -= n;
    return value;
}

/* False: more codes of some length than can be told apart. Fewer are fine: they stand for nothing.
 */
static bool
make_codes(const uint8_t *lengths, unsigned n, struct codes *ret)
{
    uint16_t next[CODE_MAX + 2] = {0};
    int left = 1;

    *ret = (struct codes){0};
    for (unsigned i = 0; i < n; i++) {
        ret->count[lengths[i]]++;
    }
    ret->count[0] = 0;
    for (unsigned len = 1; len <= CODE_MAX; len++) {
        left = 2 * left - ret->count[len];
        if (left < 0) {
            return false;
        }
        next[len + 1] = (uint16_t)(next[len] + ret->count[len]);
    }
    for (unsigned i = 0; i < n; i++) {
        if (lengths[i] != 0) {
            ret->symbol[next[lengths[i]]++] = (uint16_t)i;
        }
    }
    return true;
}

/* The next symbol, or -1 for a code that stands for nothing. */
static int
decode(struct input *in, const struct codes *codes)
{
    int code = 0, first = 0, index = 0;

    for (unsigned len = 1; len <= CODE_MAX; len++) {
        code |= (int)take(in, 1);
        if (code - first < codes->count[len]) {
            return in->ended ? -1 : codes->symbol[index + code - first];
        }
        index += codes->count[len];
        first = (first + codes->count[len]) << 1;
        code <<= 1;
    }
    return -1;
}

/* `length` bytes from `distance` bytes before, which may be written by this very copy. */
static bool
copy(struct writ_buf *ret, size_t start, size_t distance, size_t length)
{
    if (distance > ret->len - start) {
        return false;
    }
    for (size_t i = 0; i < length && ret->failed == WRIT_E_UNSET; i++) {
        writ_buf_byte(ret, ret->ptr[ret->len - distance]);
    }
    return true;
}

/* 3.2.5: lengths and distances, and how many bits more they have. */
static bool
read_pair(
    struct input *in, int symbol, const struct codes *distances, struct writ_buf *ret, size_t start)
{
    static const uint16_t length_base[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31,
        35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[] = {1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    unsigned at = (unsigned)symbol - END - 1;
    size_t length, distance;
    int far;

    if (at >= sizeof length_bits) {
        return false;
    }
    length = length_base[at] + take(in, length_bits[at]);
    far = decode(in, distances);
    if (far < 0 || far >= DISTANCES) {
        return false;
    }
    distance = distance_base[far] + take(in, far < 4 ? 0 : (unsigned)far / 2 - 1);
    return !in->ended && copy(ret, start, distance, length);
}

static bool
read_coded(struct input *in, const struct codes *literals, const struct codes *distances,
    struct writ_buf *ret, size_t start)
{
    while (ret->failed == WRIT_E_UNSET) {
        int symbol = decode(in, literals);

        if (symbol < 0) {
            return false;
        }
        if (symbol == END) {
            return true;
        }
        if (symbol < END) {
            writ_buf_byte(ret, (char)symbol);
        } else if (!read_pair(in, symbol, distances, ret, start)) {
            return false;
        }
    }
    return true; /* the buffer tells */
}

/* 3.2.6 */
static bool
read_fixed(struct input *in, struct writ_buf *ret, size_t start)
{
    struct codes literals, distances;
    uint8_t lengths[LITERALS];

    for (unsigned i = 0; i < LITERALS; i++) {
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    (void)make_codes(lengths, LITERALS, &literals);
    for (unsigned i = 0; i < DISTANCES; i++) {
        lengths[i] = 5;
    }
    (void)make_codes(lengths, DISTANCES, &distances);
    return read_coded(in, &literals, &distances, ret, start);
}

/* 3.2.7: the lengths of both sets of codes, in codes of their own. */
static bool
read_lengths(struct input *in, const struct codes *codes, unsigned n, uint8_t *ret)
{
    unsigned i = 0;

    while (i < n) {
        int symbol = decode(in, codes);
        unsigned times = 1;
        uint8_t value = (uint8_t)symbol;

        if (symbol < 0 || (symbol == 16 && i == 0)) {
            return false;
        }
        if (symbol == 16) {
            value = ret[i - 1];
            times = 3 + take(in, 2);
        } else if (symbol >= 17) {
            value = 0;
            times = symbol == 17 ? 3 + take(in, 3) : 11 + take(in, 7);
        }
        if (times > n - i) {
            return false;
        }
        while (times-- > 0) {
            ret[i++] = value;
        }
    }
    return true;
}

static bool
read_dynamic(struct input *in, struct writ_buf *ret, size_t start)
{
    static const uint8_t order[LENGTHS] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned literals_n = 257 + take(in, 5), distances_n = 1 + take(in, 5);
    unsigned lengths_n = 4 + take(in, 4);
    uint8_t lengths[LITERALS + 2 * DISTANCES] = {0};
    struct codes literals, distances;

    if (in->ended || literals_n > 286 || distances_n > DISTANCES) {
        return false;
    }
    for (unsigned i = 0; i < lengths_n; i++) {
        lengths[order[i]] = (uint8_t)take(in, 3);
    }
    if (!make_codes(lengths, LENGTHS, &literals) ||
        !read_lengths(in, &literals, literals_n + distances_n, lengths) || lengths[END] == 0) {
        return false;
    }
    return make_codes(lengths, literals_n, &literals) &&
           make_codes(lengths + literals_n, distances_n, &distances) &&
           read_coded(in, &literals, &distances, ret, start);
}

/* 3.2.4 */
static bool
read_stored(struct input *in, struct writ_buf *ret)
{
    uint32_t len, check;

    in->bits = 0; /* to the next whole byte: less than one is left, as bits are taken one by one */
    in->count = 0;
    len = take(in, 16);
    check = take(in, 16);
    if (in->ended || (len ^ check) != 0xffff || len > in->rest.len) {
        return false;
    }
    writ_buf_put(ret, writ_view_sub(in->rest, 0, len));
    in->rest = writ_view_sub(in->rest, len, in->rest.len);
    return true;
}

static bool
read_blocks(struct input *in, struct writ_buf *ret, size_t start)
{
    bool good = true, last = false;

    while (good && !last && ret->failed == WRIT_E_UNSET) {
        last = take(in, 1) == 1;
        switch (take(in, 2)) {
        case 0:
            good = read_stored(in, ret);
            break;
        case 1:
            good = read_fixed(in, ret, start);
            break;
        case 2:
            good = read_dynamic(in, ret, start);
            break;
        default:
            good = false;
        }
        good = good && !in->ended;
    }
    return good;
}

/* RFC 1950 9 */
static uint32_t
adler(struct writ_view bytes)
{
    uint32_t a = 1, b = 0;

    while (bytes.len > 0) {
        struct writ_view batch = writ_view_sub(bytes, 0, ADLER_BATCH);

        for (size_t i = 0; i < batch.len; i++) {
            a += (unsigned char)batch.ptr[i];
            b += a;
        }
        a %= ADLER_PRIME;
        b %= ADLER_PRIME;
        bytes = writ_view_sub(bytes, batch.len, bytes.len);
    }
    return b << 16 | a;
}

static uint32_t
big_endian(struct writ_view bytes)
{
    uint32_t value = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        value = value << 8 | (unsigned char)bytes.ptr[i];
    }
    return value;
}

WRIT_RESULT
writ_inflate_read(struct writ_view bytes, struct writ_buf *ret, struct writ_err *err)
{
    struct input in = {.rest = writ_view_sub(bytes, 2, bytes.len)};
    uint32_t head = big_endian(writ_view_sub(bytes, 0, 2));
    size_t start = ret->len;

    /* deflate, a window of at most 32 KiB, no dictionary */
    if (bytes.len < 2 || (head >> 8 & 0x0f) != 8 || head >> 12 > 7 || head % 31 != 0 ||
        (head & 0x20) != 0 || !read_blocks(&in, ret, start)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not of zlib's format");
    }
    WRIT_TRY(writ_buf_check(ret, err));
    if (in.rest.len != 4 ||
        big_endian(in.rest) != adler(writ_view(ret->ptr + start, ret->len - start))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the checksum is another one");
    }
    return WRIT_DONE;
}

static void
put_short(struct writ_buf *buf, uint32_t value)
{
    writ_buf_byte(buf, (char)(value & 0xff));
    writ_buf_byte(buf, (char)(value >> 8 & 0xff));
}

void
writ_inflate_put_stored(struct writ_buf *buf, struct writ_view bytes)
{
    uint32_t sum = adler(bytes);

    writ_buf_put(buf, WRIT_LIT("\x78\x01"));
    do {
        struct writ_view block = writ_view_sub(bytes, 0, STORED_MAX);

        bytes = writ_view_sub(bytes, block.len, bytes.len);
        writ_buf_byte(buf, bytes.len == 0 ? 1 : 0);
        put_short(buf, (uint32_t)block.len);
        put_short(buf, ~(uint32_t)block.len);
        writ_buf_put(buf, block);
    } while (bytes.len > 0);
    for (int shift = 24; shift >= 0; shift -= 8) {
        writ_buf_byte(buf, (char)(sum >> shift & 0xff));
    }
}
