/* evidence.h - the ledger that the corpora of fuzz_receipt and fuzz_bundle are of (ledger_sample).
 */
#ifndef WRIT_TESTS_EVIDENCE_H
#define WRIT_TESTS_EVIDENCE_H

#define WRIT_EVIDENCE_KEY                                                                          \
    "writ-ledger/019efd26-3480-7006-bd3c-64c5d8fe01b2+a"                                           \
    "284ee6e+Aa4Kd8IwwJ7ZoJzfpV8890qYi/lZEPK1NIrEo0586AuM"
#define WRIT_EVIDENCE_SIZE 10

#endif
