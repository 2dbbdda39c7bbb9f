/* The version of libmicrohttpd. The listener runs with the version that it was built for, and with
 * later ones of the same series only. */
#include "support/unit.h"

#include "gateway/listener/mhd.h"

/* The libmicrohttpd that runs, as far as mhd_0_9_75.c or mhd_1.c can see. */
static const char *version;

const char *
MHD_get_version(void)
{
    return version;
}

#if MHD_VERSION >= 0x01000000
static uint32_t number;

uint32_t
MHD_get_version_bin(void)
{
    return number;
}

static bool
fits(uint32_t with)
{
    number = with;
    version = "of a test";
    return writ_is_ok(writ_mhd_check(NULL));
}

START_TEST(mhd_check_accepts_the_built_version_and_later_ones_of_its_series)
{
    ck_assert(fits(MHD_VERSION));
    ck_assert(fits(MHD_VERSION + 0x100));
    ck_assert(fits(MHD_VERSION + 0x10000));
    ck_assert(!fits(MHD_VERSION - 0x100));
    ck_assert(!fits(0x00097500));
    ck_assert(!fits(0x02000000));
}
END_TEST
#else
static bool
fits(const char *with)
{
    version = with;
    return writ_is_ok(writ_mhd_check(NULL));
}

START_TEST(mhd_check_accepts_the_built_version_and_later_ones_of_its_series)
{
    ck_assert(fits("0.9.75"));
    ck_assert(!fits("0.9.74"));
    ck_assert(!fits("0.9.76"));
    ck_assert(!fits("1.0.1"));
}
END_TEST
#endif

WRIT_UNIT_MAIN("mhd", mhd_check_accepts_the_built_version_and_later_ones_of_its_series)
