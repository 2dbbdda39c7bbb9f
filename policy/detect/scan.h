/* scan.h - what the finders of one text share: for the files of this folder alone. */
#ifndef WRIT_POLICY_SCAN_H
#define WRIT_POLICY_SCAN_H

#include "policy/detect/detector.h"

/** A text in one of its forms. */
struct writ_scan {
    const struct writ_detector_set *set;
    struct writ_view text, member;
    const uint32_t *at; /* of each byte of it, and of its end: the offset in the text as given;
                           NULL: it is the text as given */
    writ_detector_fn *each;
    void *ctx;
    bool stopped;
    enum writ_code failed; /* WRIT_E_UNSET: no failure */
};

/** Reports a part of scan->text, when the detector is wanted. */
void writ_scan_found(struct writ_scan *scan, size_t id, size_t offset, size_t length);

/* Finders: each looks for the detectors of some families, in time that grows with the text. */
void writ_scan_tokens(struct writ_scan *scan);
void writ_scan_jwt(struct writ_scan *scan);
void writ_scan_pem(struct writ_scan *scan);
void writ_scan_url(struct writ_scan *scan);
void writ_scan_assignment(struct writ_scan *scan);
void writ_scan_card(struct writ_scan *scan);
void writ_scan_iban(struct writ_scan *scan);
void writ_scan_email(struct writ_scan *scan);
void writ_scan_host(struct writ_scan *scan);
void writ_scan_hidden(struct writ_scan *scan);
void writ_scan_prompt(struct writ_scan *scan);

/* Classes of ASCII characters. */
static inline bool
writ_scan_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool
writ_scan_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline bool
writ_scan_alnum(char c)
{
    return writ_scan_digit(c) || writ_scan_letter(c);
}

/** The byte at `i`; 0 beyond the end, and for i == SIZE_MAX, which is before the beginning. */
static inline char
writ_scan_byte(struct writ_view text, size_t i)
{
    return i < text.len ? text.ptr[i] : '\0';
}

#endif
