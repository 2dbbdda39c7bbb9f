/* pin.c - a digest is kept with the identity of its file, so that a restart of an unchanged program
 * costs one stat. A reading continues only on the very file that it began with. */
#include "gateway/io/pin.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536
#define REST_S     2 /* coarser than the clock of any file system */
#define US_PER_S   INT64_C(1000000)

static bool
is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void
writ_pin_wipe(struct writ_pin *pin)
{
    writ_digest_stream_wipe(&pin->stream);
    *pin = (struct writ_pin){.known = false};
}

static WRIT_RESULT
begin(struct writ_pin *pin, const struct stat *info, int64_t mono_us, struct writ_err *err)
{
    bool same = pin->since_us != 0 && is_same(&pin->first, info);
    int64_t since_us = same ? pin->since_us : mono_us;

    if (pin->stream.begun && is_same(&pin->reading, info)) {
        return WRIT_DONE;
    }
    writ_pin_wipe(pin);
    pin->first = pin->reading = *info;
    pin->since_us = since_us;
    pin->begun_us = mono_us;
    return writ_digest_stream_init(&pin->stream, err);
}

static WRIT_RESULT
fail_read(const char *path, struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_IO, "%s cannot be read: %s", path, strerrordesc_np(errno));
}

static WRIT_RESULT
read_on(struct writ_pin *pin, int fd, const char *path, size_t *in_budget, struct writ_err *err)
{
    char bytes[READ_BYTES];
    ssize_t got = 1;

    while (got != 0) {
        if (*in_budget == 0) {
            return (writ_result){WRIT_E_BUSY};
        }
        got = pread(fd, bytes, *in_budget < sizeof bytes ? *in_budget : sizeof bytes, pin->offset);
        if (got < 0 && errno != EINTR) {
            return fail_read(path, err);
        }
        if (got > 0) {
            WRIT_TRY(writ_digest_stream_add(&pin->stream, writ_view(bytes, (size_t)got), err));
            pin->offset += got;
            *in_budget -= (size_t)got;
        }
    }
    return WRIT_DONE;
}

/* Whether its times would tell a change after it was read. */
static bool
has_rested(const struct writ_pin *pin, const struct stat *info, const struct writ_clock *clock)
{
    return info->st_ctim.tv_sec + REST_S < writ_clock_wall_us(clock) / US_PER_S ||
           pin->begun_us - pin->since_us > REST_S * US_PER_S;
}

/* The file has been read to its end. */
static WRIT_RESULT
learn(struct writ_pin *pin, int fd, const char *path, const struct writ_clock *clock,
    struct writ_err *err)
{
    struct stat after;

    if (fstat(fd, &after) != 0 || !is_same(&pin->reading, &after)) {
        writ_pin_wipe(pin);
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s changed while it was read", path);
    }
    WRIT_TRY(writ_digest_stream_end(&pin->stream, &pin->found, err));
    pin->stream.begun = false;
    pin->offset = 0;
    pin->seen = after;
    pin->known = has_rested(pin, &after, clock);
    return WRIT_DONE;
}

writ_result
writ_pin_digest(struct writ_pin *pin, int fd, const char *path, const struct writ_clock *clock,
    size_t *in_budget, struct writ_digest *ret, struct writ_err *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a regular file", path);
    }
    if (!pin->known || !is_same(&pin->seen, &info)) {
        writ_result r = begin(pin, &info, writ_clock_mono_us(clock), err);

        r = writ_is_ok(r) ? read_on(pin, fd, path, in_budget, err) : r;
        if (!writ_is_ok(r)) {
            if (r.code != WRIT_E_BUSY) {
                writ_pin_wipe(pin);
            }
            return r;
        }
        WRIT_TRY(learn(pin, fd, path, clock, err));
    }
    *ret = pin->found;
    return WRIT_DONE;
}
