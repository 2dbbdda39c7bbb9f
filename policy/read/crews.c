/* The texts of a crew are read once, with the configuration, and pinned by their digest: what runs
 * is what the policy_digest names, whatever happens to the files later. */
#include "policy/read/crews.h"

#include "base/folder.h"
#include "base/text.h"
#include "evidence/json/write.h"

#define SUFFIX ".json"

/* Reads one file into the arena. False: there is a finding. */
static bool
read_text(
    struct writ_options *o, const struct writ_yaml *option, const char *path, struct writ_view *ret)
{
    writ_auto_buf text = writ_buf_make(WRIT_CREW_FILE_MAX);
    struct writ_err err = {0};

    if (!writ_is_ok(writ_text_file(path, WRIT_CREW_FILE_MAX, &text, &err))) {
        WRIT_OPTION_FAULT(o, option, "%s", err.text);
        return false;
    }
    *ret = writ_view_copy(writ_buf_view(&text), o->arena);
    o->nomem = o->nomem || ret->ptr == NULL;
    return ret->ptr != NULL;
}

static bool
read_nested(struct writ_options *o, const struct writ_yaml *option, const char *folder,
    struct writ_view name, struct writ_crew_file *ret)
{
    writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct writ_view key = writ_view_sub(name, 0, name.len - (sizeof SUFFIX - 1));

    writ_buf_str(&path, folder);
    writ_buf_byte(&path, '/');
    writ_buf_put(&path, name);
    writ_buf_byte(&path, '\0');
    if (!writ_is_ok(writ_buf_check(&path, NULL))) {
        WRIT_OPTION_FAULT(o, option, "the path of a file in it is too long");
        return false;
    }
    ret->name = writ_view_copy(key, o->arena);
    o->nomem = o->nomem || ret->name.ptr == NULL;
    return read_text(o, option, path.ptr, &ret->text);
}

static bool
read_registry(struct writ_options *o, const struct writ_yaml *option, struct writ_view folder,
    struct writ_crew_config *crew)
{
    struct writ_view *names = NULL;
    struct writ_crew_file *nested;
    struct writ_err err = {0};
    size_t n = 0;

    if (!writ_is_ok(writ_folder_names(
            folder.ptr, SUFFIX, WRIT_CREW_FILES_MAX, o->arena, &names, &n, &err))) {
        WRIT_OPTION_FAULT(o, option, "%s", err.text);
        return false;
    }
    nested = writ_option_memory(o, n + 1, sizeof *nested);
    for (size_t i = 0; nested != NULL && i < n; i++) {
        if (!read_nested(o, option, folder.ptr, names[i], &nested[i])) {
            return false;
        }
    }
    crew->nested = nested;
    crew->nested_n = n;
    return nested != NULL;
}

/* {"agents":...,"nested":[{"key":...,"shape":...},...],"shape":...} */
static WRIT_RESULT
digest_texts(const struct writ_crew_config *crew, struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make((size_t)(WRIT_CREW_FILES_MAX + 3) * 6 * WRIT_CREW_FILE_MAX);

    writ_buf_str(&text, "{\"agents\":");
    writ_text_json(&text, crew->agents.text);
    writ_buf_str(&text, ",\"nested\":[");
    for (size_t i = 0; i < crew->nested_n; i++) {
        writ_buf_str(&text, i > 0 ? ",{\"key\":" : "{\"key\":");
        writ_text_json(&text, crew->nested[i].name);
        writ_buf_str(&text, ",\"shape\":");
        writ_text_json(&text, crew->nested[i].text);
        writ_buf_byte(&text, '}');
    }
    writ_buf_str(&text, "],\"shape\":");
    writ_text_json(&text, crew->shape.text);
    writ_buf_byte(&text, '}');
    WRIT_TRY(writ_buf_check(&text, NULL));
    return writ_digest_bytes(writ_buf_view(&text), ret, NULL);
}

const struct writ_crew_config *
writ_crews_read(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_reviewer *raw)
{
    struct writ_crew_config *crew = writ_option_memory(o, 1, sizeof *crew);

    if (crew == NULL || raw->crew.len == 0) {
        return NULL;
    }
    *crew = (struct writ_crew_config){.shape = {.name = raw->crew},
        .agents = {.name = raw->agents},
        .shared = raw->shared,
        .keep_log_us = raw->keep_log_us,
        .node = writ_option_of(node, "crew")};
    if (!read_text(o, crew->node, raw->crew.ptr, &crew->shape.text) ||
        (raw->agents.len > 0 &&
            !read_text(o, writ_option_of(node, "agents"), raw->agents.ptr, &crew->agents.text)) ||
        (raw->registry.len > 0 &&
            !read_registry(o, writ_option_of(node, "registry"), raw->registry, crew))) {
        return NULL;
    }
    o->nomem = o->nomem || !writ_is_ok(digest_texts(crew, &crew->digest));
    return crew;
}

WRIT_RESULT
writ_crews_pin(const struct writ_crew_config *crew, struct writ_digest *digest)
{
    char text[2 * WRIT_DIGEST_TEXT];
    struct writ_buf both = writ_buf_over(text, sizeof text);
    char one[WRIT_DIGEST_TEXT];

    writ_digest_text(digest, one);
    writ_buf_str(&both, one);
    writ_digest_text(&crew->digest, one);
    writ_buf_str(&both, one);
    return writ_digest_bytes(writ_buf_view(&both), digest, NULL);
}
