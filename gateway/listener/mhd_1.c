/* mhd_1.c - libmicrohttpd 1.x. It refuses by itself the faults that older versions accept. */
#include "gateway/listener/mhd.h"

#define STRICTEST 3 /* MHD_OPTION_CLIENT_DISCIPLINE_LVL */

/* The option keeps its meaning in this and later versions of the same interface. */
WRIT_RESULT
writ_mhd_check(struct writ_err *err)
{
    uint32_t built = MHD_VERSION, running = MHD_get_version_bin();

    if (running >> 24 != built >> 24 || running < built) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "listener: libmicrohttpd is %s; this was built for %x.%x.%x and later ones of %x",
            MHD_get_version(), built >> 24, built >> 16 & 0xff, built >> 8 & 0xff, built >> 24);
    }
    return WRIT_DONE;
}

/* A daemon belongs to one loop. Only with this flag does MHD_add_connection announce a connection
 * before it returns, as it did before 1.0. */
unsigned
writ_mhd_flags(void)
{
    return MHD_USE_NO_THREAD_SAFETY;
}

struct MHD_OptionItem
writ_mhd_option(void)
{
    return (struct MHD_OptionItem){MHD_OPTION_CLIENT_DISCIPLINE_LVL, STRICTEST, NULL};
}

bool
writ_mhd_is_strict(struct writ_view raw, const struct writ_framing_head *head)
{
    (void)raw;
    (void)head;
    return true;
}

bool
writ_mhd_is_trailer(struct writ_view raw, const char *name)
{
    (void)raw;
    (void)name;
    return true;
}
