/* Invariant (1): the time and counter of each id are greater than those of the one before. */
#include "base/id.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#define ID_BYTES    16
#define STOCK_IDS   16
#define COUNTER_MAX 0xfff /* 12 bits of rand_a as a counter: RFC 9562 6.2 method 1 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_ms;  /* guarded by lock */
static uint16_t last_seq; /* guarded by lock */

WRIT_RESULT
writ_random(void *ret, size_t len, struct writ_err *err)
{
    unsigned char *to = ret;
    size_t done = 0;

    while (done < len) {
        ssize_t got = getrandom(to + done, len - done, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            WRIT_FAIL(
                err, WRIT_E_CRYPTO, "the system gives no random bytes: %s", strerrordesc_np(errno));
        }
        done += (size_t)got;
    }
    return WRIT_DONE;
}

/* Random bytes of this thread for its next ids: one system call for many. They are not secret, but
 * a future id must not be predictable; so used bytes are wiped. */
static WRIT_RESULT
take_random(unsigned char ret[ID_BYTES], struct writ_err *err)
{
    static _Thread_local unsigned char stock[STOCK_IDS * ID_BYTES];
    static _Thread_local size_t left;
    unsigned char *taken;

    if (left == 0) {
        WRIT_TRY(writ_random(stock, sizeof stock, err));
        left = STOCK_IDS;
    }
    taken = stock + --left * ID_BYTES;
    memcpy(ret, taken, ID_BYTES);
    writ_wipe(taken, ID_BYTES);
    return WRIT_DONE;
}

/* The next pair of time and counter. keeps (1), also when the clock steps back: time then stands
 * still, and a full counter advances it by one. */
static void
take_slot(uint64_t now_ms, uint16_t start, uint64_t *ret_ms, uint16_t *ret_seq)
{
    (void)pthread_mutex_lock(&lock);
    if (now_ms > last_ms) {
        last_ms = now_ms;
        last_seq = start;
    } else if (last_seq < COUNTER_MAX) {
        last_seq++;
    } else {
        last_ms++;
        last_seq = start;
    }
    *ret_ms = last_ms;
    *ret_seq = last_seq;
    (void)pthread_mutex_unlock(&lock);
}

static void
put_text(const unsigned char id[ID_BYTES], char ret[WRIT_ID_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    char *to = ret;

    for (size_t i = 0; i < ID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *to++ = '-';
        }
        *to++ = digits[id[i] >> 4];
        *to++ = digits[id[i] & 15];
    }
    *to = '\0';
}

WRIT_RESULT
writ_id_new(const struct writ_clock *clock, char ret[WRIT_ID_TEXT], struct writ_err *err)
{
    unsigned char id[ID_BYTES];
    int64_t wall_us = writ_clock_wall_us(clock);
    uint16_t seq;
    uint64_t ms;

    WRIT_TRY(take_random(id, err));
    /* the counter starts in its lower half, so that a burst has room before time must move */
    seq = (uint16_t)((id[6] << 8 | id[7]) & (COUNTER_MAX >> 1));
    take_slot(wall_us > 0 ? (uint64_t)wall_us / 1000 : 0, seq, &ms, &seq);

    for (size_t i = 0; i < 6; i++) {
        id[i] = (unsigned char)(ms >> (40 - 8 * i) & 255);
    }
    id[6] = (unsigned char)(0x70 | seq >> 8);
    id[7] = (unsigned char)(seq & 255);
    id[8] = (unsigned char)(0x80 | (id[8] & 0x3f));
    put_text(id, ret);
    return WRIT_DONE;
}

/* The value of a hexadecimal digit in lower case; -1: it is none. */
static int
digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
writ_id_time(struct writ_view id, int64_t *ret_us)
{
    int64_t ms = 0;

    if (id.len != WRIT_ID_TEXT - 1) {
        return false;
    }
    for (size_t i = 0; i < id.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        int digit = digit_of(id.ptr[i]);

        if (dash ? id.ptr[i] != '-' : digit < 0) {
            return false;
        }
        ms = i < 13 && !dash ? ms << 4 | digit : ms;
    }
    if (id.ptr[14] != '7') {
        return false;
    }
    *ret_us = ms * 1000;
    return true;
}
