/* ECDSA signatures between the raw form of JOSE and DER. The conversion is exact in both
 * directions, and other encodings are refused. */
#include "support/unit.h"

#include "evidence/jose/ecdsa.h"

#include <string.h>

struct row {
    const char *raw, *der; /* hex */
};

#define ZEROS_31 "00000000000000000000000000000000000000000000000000000000000000"
#define FFS_32   "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

static const struct row rows[] = {
    {ZEROS_31 "01" ZEROS_31 "7f", "300602010102017f"},
    {ZEROS_31 "80" ZEROS_31 "ff", "30080202008002020"
                                  "0ff"},
    {ZEROS_31 "00" ZEROS_31 "00", "3006020100020100"},
    {FFS_32 FFS_32, "3046022100" FFS_32 "022100" FFS_32},
    {"01" ZEROS_31 "7f" ZEROS_31, "30440220"
                                  "01" ZEROS_31 "0220"
                                  "7f" ZEROS_31},
};

static size_t
unhex(const char *hex, uint8_t *ret)
{
    size_t len = strlen(hex) / 2;

    ck_assert_ok(writ_hex_read(writ_view_str(hex), ret, len));
    return len;
}

START_TEST(ecdsa_raw_signature_round_trips_through_der)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t raw[WRIT_ECDSA_RAW], back[WRIT_ECDSA_RAW];
        uint8_t want[WRIT_ECDSA_DER_MAX], der[WRIT_ECDSA_DER_MAX];
        size_t want_len = unhex(rows[i].der, want);

        ck_assert_uint_eq(unhex(rows[i].raw, raw), WRIT_ECDSA_RAW);
        ck_assert_uint_eq(writ_ecdsa_to_der(raw, der), want_len);
        ck_assert_mem_eq(der, want, want_len);
        ck_assert_ok(writ_ecdsa_from_der(writ_view(der, want_len), back));
        ck_assert_mem_eq(back, raw, WRIT_ECDSA_RAW);
    }
}
END_TEST

static const char *const not_der[] = {
    "", "30", "3000", "3003020101", /* one number */
    "3106020101020101",             /* no SEQUENCE */
    "3006020101030101",             /* no INTEGER */
    "3006020101020101"
    "00", /* a byte behind */
    "3007020101020101"
    "00",                 /* a byte behind, within */
    "3005020101020101",   /* cut */
    "308106020101020101", /* long form of a short length */
    "300702020001020101", /* a zero too many */
    "3006020181020101",   /* negative */
    "30050201010200",     /* no digits */
    "3027"
    "0222"
    "000000" ZEROS_31 "020101", /* too long */
    "3026"
    "022101" ZEROS_31 "00"
    "020101", /* 33 significant bytes */
};

START_TEST(ecdsa_read_of_inexact_der_is_refused)
{
    for (size_t i = 0; i < sizeof(not_der) / sizeof(not_der[0]); i++) {
        uint8_t der[128], ret[WRIT_ECDSA_RAW], before[WRIT_ECDSA_RAW];
        size_t len = unhex(not_der[i], der);

        memset(ret, 0xa5, sizeof(ret));
        memset(before, 0xa5, sizeof(before));
        ck_assert_msg(
            writ_ecdsa_from_der(writ_view(der, len), ret).code == WRIT_E_PARSE, "%s", not_der[i]);
        ck_assert_mem_eq(ret, before, sizeof(ret));
    }
}
END_TEST

WRIT_UNIT_MAIN(
    "ecdsa", ecdsa_raw_signature_round_trips_through_der, ecdsa_read_of_inexact_der_is_refused)
