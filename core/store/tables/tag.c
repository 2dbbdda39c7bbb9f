/* Tags are compared and stored with the highest byte first, so that their order on disk is that of
 * their numbers. */
#include "store/tables/tag.h"

struct writ_tag
writ_tag_read(const uint8_t bytes[WRIT_TAG_BYTES])
{
    struct writ_tag tag = {0, 0};

    for (size_t i = 0; i < 8; i++) {
        tag.high = tag.high << 8 | bytes[i];
        tag.low = tag.low << 8 | bytes[8 + i];
    }
    return tag;
}

void
writ_tag_put(struct writ_tag tag, uint8_t ret[WRIT_TAG_BYTES])
{
    for (size_t i = 0; i < 8; i++) {
        ret[i] = (uint8_t)(tag.high >> (56 - 8 * i));
        ret[8 + i] = (uint8_t)(tag.low >> (56 - 8 * i));
    }
}

struct writ_tag
writ_tag_of(const struct writ_digest *digest)
{
    return writ_tag_read(digest->bytes);
}

struct writ_tag
writ_tag_number(uint64_t number)
{
    return (struct writ_tag){0, number};
}

bool
writ_tag_equal(struct writ_tag a, struct writ_tag b)
{
    return a.high == b.high && a.low == b.low;
}

WRIT_RESULT
writ_tag_name(struct writ_view name, struct writ_tag *ret, struct writ_err *err)
{
    struct writ_digest digest;

    WRIT_TRY(writ_digest_bytes(name, &digest, err));
    *ret = writ_tag_of(&digest);
    return WRIT_DONE;
}

WRIT_RESULT
writ_tag_intent(struct writ_view tenant, struct writ_view intent_ref,
    struct writ_view idempotency_key, struct writ_tag *ret, struct writ_err *err)
{
    /* the lengths separate parts whose concatenation would be the same */
    uint64_t lengths[] = {tenant.len, intent_ref.len};
    struct writ_view pieces[] = {
        writ_view(lengths, sizeof lengths), tenant, intent_ref, idempotency_key};
    struct writ_digest digest;

    WRIT_TRY(writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], &digest, err));
    *ret = writ_tag_of(&digest);
    return WRIT_DONE;
}
