/* An id is the FNV-1a hash of the UTF-16 units of a canonical text. It must stay byte-compatible
 * with the library that the vectors come from. */
#include "crew/correlation.h"

#include "base/text.h"
#include "base/utf8.h"
#include "evidence/json/jcs.h"

#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u

static uint64_t
step(uint64_t hash, uint32_t unit)
{
    return (hash ^ unit) * FNV_PRIME;
}

uint64_t
writ_correlation_hash(struct writ_view text)
{
    uint64_t hash = FNV_OFFSET;

    while (text.len > 0) {
        uint32_t point = (unsigned char)text.ptr[0];
        size_t len = point < 0x80 ? 1 : writ_utf8_character(text, &point);
        if (len == 0) {
            break; /* not UTF-8: a value of a crew has no such text */
        }
        if (point >= 0x10000) {
            hash = step(hash, 0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        hash = step(hash, point);
        text = writ_view_sub(text, len, text.len);
    }
    return hash;
}

WRIT_RESULT
writ_correlation_id(struct writ_buf *scratch, struct writ_view crew_id, struct writ_view role_id,
    struct writ_view agent_id, double attempt, uint64_t *ret)
{
    writ_buf_clear(scratch);
    writ_buf_str(scratch, "{\"agentId\":");
    writ_text_json(scratch, agent_id);
    writ_buf_str(scratch, ",\"attempt\":");
    writ_jcs_number(scratch, attempt);
    writ_buf_str(scratch, ",\"crewId\":");
    writ_text_json(scratch, crew_id);
    writ_buf_str(scratch, ",\"roleId\":");
    writ_text_json(scratch, role_id);
    writ_buf_byte(scratch, '}');
    WRIT_TRY(writ_buf_check(scratch, NULL));
    *ret = writ_correlation_hash(writ_buf_view(scratch));
    return WRIT_DONE;
}

struct writ_view
writ_correlation_put(uint64_t id, char ret[WRIT_CORRELATION_TEXT])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t at = WRIT_CORRELATION_TEXT; at-- > 0; id >>= 4) {
        ret[at] = digits[id & 15];
    }
    return writ_view(ret, WRIT_CORRELATION_TEXT);
}

bool
writ_correlation_read(struct writ_view text, uint64_t *ret)
{
    uint64_t id = 0;

    if (text.len != WRIT_CORRELATION_TEXT || !writ_hex_is(text)) {
        return false;
    }
    for (size_t at = 0; at < text.len; at++) {
        char c = text.ptr[at];
        id = id << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *ret = id;
    return true;
}

void
writ_crew_hash(struct writ_view text, char ret[16])
{
    writ_correlation_put(writ_correlation_hash(text), ret);
}

WRIT_RESULT
writ_crew_correlation(struct writ_view crew_id, struct writ_view role_id, struct writ_view agent_id,
    double attempt, char ret[16])
{
    writ_auto_buf scratch = writ_buf_make(SIZE_MAX);
    uint64_t id = 0;

    WRIT_TRY(writ_correlation_id(&scratch, crew_id, role_id, agent_id, attempt, &id));
    writ_correlation_put(id, ret);
    return WRIT_DONE;
}
