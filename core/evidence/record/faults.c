/* A list of faults with a fixed length. A fault beyond it is counted, so an incomplete list never
 * looks complete. */
#include "evidence/record/faults.h"

void
writ_faults_add(struct writ_faults *faults, const char *pointer, const char *what)
{
    if (faults->count == WRIT_FAULTS_MAX) {
        faults->more = true;
        return;
    }
    faults->list[faults->count++] = (struct writ_fault){pointer, what};
}

void
writ_faults_put(const struct writ_faults *faults, struct writ_buf *buf)
{
    for (size_t i = 0; i < faults->count; i++) {
        writ_buf_str(buf, i > 0 ? "; " : "");
        writ_buf_str(buf, faults->list[i].pointer);
        writ_buf_byte(buf, ' ');
        writ_buf_str(buf, faults->list[i].what);
    }
    if (faults->more) {
        writ_buf_str(buf, "; and more");
    }
}
