/* vaara_finding.h - the finding about one document of the profile vaara-v0 (vaara.h). Pure. */
#ifndef WRIT_EVIDENCE_VAARA_FINDING_H
#define WRIT_EVIDENCE_VAARA_FINDING_H

#include "evidence/record/binding.h"
#include "evidence/record/faults.h"

/** The kind of a document. */
enum writ_vaara_kind {
    WRIT_VAARA_NONE = 0,
    WRIT_VAARA_DECISION,
    WRIT_VAARA_OUTCOME,
    WRIT_VAARA_SEAL,
    WRIT_VAARA_AUTHORIZATION,
    WRIT_VAARA_GRANT,
    WRIT_VAARA_CALL,
    WRIT_VAARA_BINDING,
    WRIT_VAARA_DUPLICATE,
    WRIT_VAARA_VERDICT,
    WRIT_VAARA_ATTESTATION,
    WRIT_VAARA_RECEIPT,
};

/** A finding. Zero means no. */
struct writ_vaara_finding {
    enum writ_vaara_kind kind;
    bool holds;                        /* valid, and its verdict is a yes */
    bool authentic;                    /* every signature in it verifies */
    enum writ_reason reason;           /* of grant, call, binding and duplicate; else NONE */
    enum writ_binding_verdict verdict; /* of binding and duplicate */
    uint32_t failed;                   /* of verdict, attestation and receipt: failed checks */
    struct writ_faults *faults; /* in the arena; NULL: none. Their pointers begin in `record`,
                                   those of an authorization and a call in the document */
    const struct writ_json *document;
};

/** Adds a fault, in the arena; the finding no longer holds. WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_finding_fault(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const char *pointer, const char *what, struct writ_err *err);

/** Adds faults that were collected elsewhere. WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_finding_faults(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const struct writ_faults *faults, struct writ_err *err);

#endif
