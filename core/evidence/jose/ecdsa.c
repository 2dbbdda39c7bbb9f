/* Converts between r || s and DER. Only the shortest DER form is accepted, so every signature has
 * exactly one spelling in each form. */
#include "evidence/jose/ecdsa.h"

#define HALF         (WRIT_ECDSA_RAW / 2)
#define TAG_INTEGER  0x02
#define TAG_SEQUENCE 0x30

/* One INTEGER: at most one leading zero byte, and only to keep the number positive. */
static size_t
put_integer(const uint8_t half[HALF], uint8_t *ret)
{
    size_t skip = 0;
    size_t at = 0;

    while (skip < HALF - 1 && half[skip] == 0) {
        skip++;
    }
    ret[at++] = TAG_INTEGER;
    ret[at++] = (uint8_t)(HALF - skip + (half[skip] >= 0x80));
    if (half[skip] >= 0x80) {
        ret[at++] = 0;
    }
    while (skip < HALF) {
        ret[at++] = half[skip++];
    }
    return at;
}

size_t
writ_ecdsa_to_der(const uint8_t raw[WRIT_ECDSA_RAW], uint8_t ret[WRIT_ECDSA_DER_MAX])
{
    size_t at = 2;

    at += put_integer(raw, ret + at);
    at += put_integer(raw + HALF, ret + at);
    ret[0] = TAG_SEQUENCE;
    ret[1] = (uint8_t)(at - 2); /* at most 70: always the short form of a length */
    return at;
}

/* Takes one INTEGER off the front of `der` into 32 bytes. */
static bool
take_integer(struct writ_view *der, uint8_t ret[HALF])
{
    const uint8_t *bytes = (const uint8_t *)der->ptr;
    size_t len;
    size_t skip;

    if (der->len < 3 || bytes[0] != TAG_INTEGER) {
        return false;
    }
    len = bytes[1];
    if (len == 0 || len > HALF + 1 || len > der->len - 2 || bytes[2] >= 0x80) {
        return false;
    }
    skip = bytes[2] == 0 && len > 1 ? 1 : 0;
    if ((skip == 1 && bytes[3] < 0x80) || len - skip > HALF) {
        return false; /* an unneeded zero byte, or a number too large */
    }
    for (size_t i = 0; i < HALF; i++) {
        size_t from_end = HALF - i;
        ret[i] = from_end <= len - skip ? bytes[2 + len - from_end] : 0;
    }
    *der = writ_view_sub(*der, 2 + len, der->len);
    return true;
}

WRIT_RESULT
writ_ecdsa_from_der(struct writ_view der, uint8_t ret[WRIT_ECDSA_RAW])
{
    const uint8_t *bytes = (const uint8_t *)der.ptr;
    uint8_t raw[WRIT_ECDSA_RAW];

    if (der.len < 2 || bytes[0] != TAG_SEQUENCE || bytes[1] != der.len - 2) {
        WRIT_FAIL(NULL, WRIT_E_PARSE, "not a DER signature");
    }
    der = writ_view_sub(der, 2, der.len);
    if (!take_integer(&der, raw) || !take_integer(&der, raw + HALF) || der.len != 0) {
        WRIT_FAIL(NULL, WRIT_E_PARSE, "not a DER signature");
    }
    for (size_t i = 0; i < WRIT_ECDSA_RAW; i++) {
        ret[i] = raw[i];
    }
    return WRIT_DONE;
}
