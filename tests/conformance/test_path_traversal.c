/* `under` against traversal payloads: an accepted path lies, taken literally, inside the
 * directory. The oracle resolves a path in another way: it rebuilds it on a stack of components. */
#include "policy/model/path.h"
#include "support/unit.h"
#include "support/vectors.h"

#define DIRECTORY      "/srv/sandbox"
#define COMPONENTS_MAX 4096
#define PAYLOADS_LEAST 1000

struct tally {
    size_t payloads, accepted;
};

/* True when the literal path, resolved component by component, lies in the directory and never
 * leaves it on the way. */
static bool
stays_inside(struct writ_view path)
{
    static struct writ_view stack[COMPONENTS_MAX];
    size_t depth = 0;

    if (path.len == 0 || path.ptr[0] != '/') {
        return false;
    }
    for (size_t at = 0; at < path.len;) {
        struct writ_view part = writ_view_sub(path, at + 1, path.len);
        part = writ_view_sub(part, 0, writ_view_find(part, '/'));
        at += part.len + 1;
        if (writ_view_is(part, "..")) {
            depth -= depth > 0 ? 1 : 0;
            if (depth < 2) {
                return false;
            }
        } else if (part.len > 0 && !writ_view_is(part, ".")) {
            ck_assert_uint_lt(depth, COMPONENTS_MAX);
            stack[depth++] = part;
        }
    }
    return depth >= 2 && writ_view_is(stack[0], "srv") && writ_view_is(stack[1], "sandbox");
}

static void
check_path(struct writ_view path, struct tally *tally)
{
    static const char *const parents[] = {
        "/../", "/..;", "/.. ", "/..:", "/..?", "/..#", "&#46;&#46;"};
    bool under =
        writ_path_is_under(path, &(const struct writ_view){DIRECTORY, sizeof DIRECTORY - 1}, 1);

    ck_assert_msg(!under || stays_inside(path), "accepted: %.*s", WRIT_VIEW_ARG(path));
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        ck_assert_msg(!under || writ_view_search(path, writ_view_str(parents[i])) == path.len,
            "accepted: %.*s", WRIT_VIEW_ARG(path));
    }
    tally->accepted += under ? 1 : 0;
}

/* The payload with {FILE} replaced, behind several beginnings. */
static void
check_payload(struct writ_view payload, struct tally *tally)
{
    static const char *const beginnings[] = {
        DIRECTORY "/", DIRECTORY, "", "/", DIRECTORY "/a/", DIRECTORY "-evil/"};
    size_t file = writ_view_search(payload, WRIT_LIT("{FILE}"));

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        writ_auto_buf path = writ_buf_make(1 << 16);
        writ_buf_str(&path, beginnings[i]);
        writ_buf_put(&path, writ_view_sub(payload, 0, file));
        if (file < payload.len) {
            writ_buf_str(&path, "etc/passwd");
            writ_buf_put(&path, writ_view_sub(payload, file + 6, payload.len));
        }
        ck_assert_ok(writ_buf_check(&path, NULL));
        check_path(writ_buf_view(&path), tally);
    }
    tally->payloads++;
}

static void
check_file(const char *name, struct writ_view content, void *arg)
{
    (void)name;
    while (content.len > 0) {
        size_t end = writ_view_find(content, '\n');
        check_payload(writ_view_sub(content, 0, end), arg);
        content = writ_view_sub(content, end + 1, content.len);
    }
}

START_TEST(under_of_each_payload_stays_in_the_directory)
{
    struct tally tally = {0};

    ck_assert_uint_eq(writ_vectors_each("path-traversal", ".txt", check_file, &tally), 2);
    ck_assert_uint_ge(tally.payloads, PAYLOADS_LEAST);
    ck_assert_uint_gt(tally.accepted, 0); /* some are harmless names, and not all may be refused */
    ck_assert_uint_lt(tally.accepted, tally.payloads);
}
END_TEST

WRIT_UNIT_MAIN("path_traversal", under_of_each_payload_stays_in_the_directory)
