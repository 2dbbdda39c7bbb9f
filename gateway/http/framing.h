/* framing.h - checks HTTP/1.1 request heads. No I/O.
 *
 * libmicrohttpd splits a head into lines and fields and accepts many faults. These functions refuse
 * such heads, before a handler runs or a body is read, so that no party before or behind the
 * gateway can read a request differently. RFC 9112 is the grammar; where it lets a server choose,
 * the answer is no. docs/security-limits.md has the faults that leave no trace here. */
#ifndef WRIT_GATEWAY_FRAMING_H
#define WRIT_GATEWAY_FRAMING_H

#include "evidence/record/reason.h"
#include "gateway/http/header.h"

#define WRIT_FRAMING_FIELDS_MAX 100  /* fields of one head */
#define WRIT_FRAMING_TARGET_MAX 2048 /* bytes of path and query */
#define WRIT_FRAMING_METHOD_MAX 32   /* bytes of a method */
#define WRIT_FRAMING_HOST_MAX   262  /* bytes of a Host value */

/** A head as libmicrohttpd splits it. All views are borrowed. */
struct writ_framing_head {
    struct writ_view method, target, version;
    const struct writ_header *headers; /* values with or without their outer white space */
    size_t count;
};

/** An accepted head. Views point into the head that was read. */
struct writ_framing {
    enum writ_method method; /* NONE: a well-formed method that no route takes */
    struct writ_view path;   /* begins with '/'; no escapes, no empty or dot segments */
    struct writ_view query;  /* after '?', undecoded */
    struct writ_view host;   /* never empty */
    struct writ_view origin, content_type, content_encoding; /* ptr NULL: not there */
    uint64_t content_length;                                 /* 0 when not stated */
    bool chunked;
    bool expects_continue;
    bool http_1_0;
};

/** Why a head is refused. */
struct writ_framing_fault {
    unsigned status; /* 400 .. 505 */
    enum writ_reason reason;
    const char *detail; /* the exact fault, without any byte of the request; static */
};

/**
 * Judges a head.
 *
 * @param ret    written only on success
 * @param fault  written only on refusal
 *
 * @return WRIT_OK, or WRIT_E_INVALID with `fault`. Thread-safe.
 */
WRIT_RESULT writ_framing_read(const struct writ_framing_head *head, struct writ_framing *ret,
    struct writ_framing_fault *fault);

/** True for a trailer field that may be dropped: not one that concerns the end of the message, the
 * caller, or the meaning of the request. */
bool writ_framing_is_harmless_trailer(struct writ_view name);

/** True for application/json, with no parameter but charset=utf-8. */
bool writ_framing_is_json(struct writ_view content_type);

/** Splits a Host value (accepted by writ_framing_read) into the name and the port; an IPv6 literal
 * keeps its brackets. `ret_port` is empty without one. */
void writ_framing_split_host(
    struct writ_view host, struct writ_view *ret_name, struct writ_view *ret_port);

/** True for a well-formed Host value: a registered name or literal address, with an optional
 * port. */
bool writ_framing_is_host(struct writ_view host);

/** True when `name` is a token (RFC 9110 5.6.2). */
bool writ_framing_is_token(struct writ_view name);

/** True when `value` has no control bytes but tabs (RFC 9110 5.5). */
bool writ_framing_is_value(struct writ_view value);

#endif
