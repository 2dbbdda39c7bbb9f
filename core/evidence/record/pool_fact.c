/* Members in the order of canonical JSON. */
#include "evidence/record/pool_fact.h"

#include "base/clock.h"
#include "evidence/json/write.h"

#define MOST ((int64_t)1 << 53) /* canonical JSON states integers up to here */

/* What a pool takes, this reads: metadata of any form. */
static const struct writ_json_limits limits = {
    .bytes = WRIT_POOL_FACT_BYTES_MAX,
    .depth = WRIT_JSON_DEPTH_MAX,
    .values = WRIT_POOL_FACT_BYTES_MAX,
    .name_bytes = WRIT_POOL_FACT_BYTES_MAX,
    .string_bytes = WRIT_POOL_FACT_BYTES_MAX,
    .number_bytes = 256,
};

static const struct writ_json no_tags = {.type = WRIT_JSON_ARRAY, .span = 1};

WRIT_RESULT
writ_pool_fact_digest(struct writ_view bytes, struct writ_arena *arena, struct writ_pool_fact *ret,
    struct writ_err *err)
{
    const struct writ_json *value = NULL, *tags;
    struct writ_digest digest, of_tags;

    WRIT_TRY(writ_json_read(bytes, &limits, arena, &value, err));
    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_PARSE, "an insight is not an object");
    }
    tags = writ_json_get(value, WRIT_LIT("tags"));
    WRIT_TRY(writ_digest_bytes(bytes, &digest, err));
    WRIT_TRY(writ_digest_json(tags != NULL ? tags : &no_tags, bytes.len + 2, &of_tags, err));
    ret->digest = digest;
    ret->tags = of_tags;
    return WRIT_DONE;
}

WRIT_RESULT
writ_pool_fact_put(
    const struct writ_pool_fact *fact, bool removed, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char digest[WRIT_DIGEST_TEXT], tags[WRIT_DIGEST_TEXT];

    writ_digest_text(&fact->digest, digest);
    writ_digest_text(&fact->tags, tags);
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "agent_id", fact->agent_id);
    writ_write_text(&w, "digest", writ_view_str(digest));
    if (removed) {
        writ_write_count(&w, "insight", fact->insight);
    } else {
        writ_write_time_if(&w, "expires_at", fact->expires_us);
        if (fact->key.len > 0) {
            writ_write_text(&w, "key", fact->key);
        }
    }
    writ_write_text(&w, "tags", writ_view_str(tags));
    writ_write_text(&w, "tenant", fact->tenant);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

static struct writ_view
text_at(const struct writ_json *object, const char *name)
{
    return writ_json_string(writ_json_get(object, writ_view_str(name)));
}

/* The members that a put alone has, or a removal. */
static bool
read_rest(const struct writ_json *data, bool removed, struct writ_pool_fact *ret)
{
    int64_t insight = 0;

    if (!removed) {
        ret->key = text_at(data, "key");
        return (ret->key.len == 0 || writ_digest_is(ret->key)) &&
               writ_is_ok(writ_time_read(text_at(data, "expires_at"), &ret->expires_us));
    }
    if (!writ_is_ok(
            writ_json_integer(writ_json_get(data, WRIT_LIT("insight")), 0, MOST, &insight))) {
        return false;
    }
    ret->insight = (uint64_t)insight;
    return true;
}

WRIT_RESULT
writ_pool_fact_read(
    const struct writ_json *data, bool removed, struct writ_pool_fact *ret, struct writ_err *err)
{
    struct writ_pool_fact fact = {
        .tenant = text_at(data, "tenant"), .agent_id = text_at(data, "agent_id")};

    if (fact.tenant.ptr == NULL || fact.agent_id.len == 0 ||
        !writ_is_ok(writ_digest_read(text_at(data, "digest"), &fact.digest, NULL)) ||
        !writ_is_ok(writ_digest_read(text_at(data, "tags"), &fact.tags, NULL)) ||
        !read_rest(data, removed, &fact)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a record of an insight is not readable");
    }
    *ret = fact;
    return WRIT_DONE;
}
