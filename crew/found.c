/* A list that only grows. The paths in it live as long as the list. */
#include "crew/found.h"

#include "crew/vec.h"

struct writ_crew_findings {
    struct writ_crew_finding *list;
    size_t n, cap;
    struct writ_arena *paths;
};

struct writ_crew_findings *
writ_crew_findings_new(void)
{
    struct writ_crew_findings *findings = writ_alloc(sizeof *findings);

    if (findings != NULL && (findings->paths = writ_arena_new(SIZE_MAX)) == NULL) {
        writ_free(findings);
        return NULL;
    }
    return findings;
}

void
writ_crew_findings_free(struct writ_crew_findings *findings)
{
    if (findings != NULL) {
        writ_arena_free(findings->paths);
        writ_free(findings->list);
        writ_free(findings);
    }
}

size_t
writ_crew_findings_count(const struct writ_crew_findings *findings)
{
    return findings->n;
}

const struct writ_crew_finding *
writ_crew_findings_at(const struct writ_crew_findings *findings, size_t at)
{
    WRIT_INVARIANT(at < findings->n);
    return &findings->list[at];
}

WRIT_RESULT
writ_found_add(struct writ_crew_findings *findings, const char *code, struct writ_view path)
{
    struct writ_view copy;

    if (findings == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_vec_room(&findings->list, &findings->cap, findings->n, sizeof *findings->list));
    copy = writ_view_copy(path, findings->paths);
    if (copy.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    findings->list[findings->n++] = (struct writ_crew_finding){code, copy};
    return WRIT_DONE;
}
