/* Checkpoints and proofs as text. They read back as written, every changed bit is noticed, and a
 * proof holds for its own leaf and log only. */
#include "support/unit.h"

#include "evidence/log/checkpoint.h"

#define TEXT_MAX 8192
#define LEAVES   5
#define INDEX    3

/* The example of c2sp.org/tlog-checkpoint. */
#define SOFA "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
/* Of its kind, the example of c2sp.org/tlog-proof. */
#define FANCY                                                                                      \
    "c2sp.org/tlog-proof@v1\n"                                                                     \
    "index 73894\n"                                                                                \
    "gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=\n"                                               \
    "B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA=\n"                                               \
    "\n"                                                                                           \
    "example.com/fancylog\n109482\nsFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=\n\n"               \
    "\xe2\x80\x94 example.com/fancylog AAAAAAAA\n"

START_TEST(checkpoint_reads_back_as_written)
{
    static const char *const texts[] = {SOFA, SOFA "one more\nand another\n",
        "a\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"};
    struct writ_checkpoint checkpoint;
    struct writ_buf buf = writ_buf_make(TEXT_MAX);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_ok(writ_checkpoint_read(writ_view_str(texts[i]), &checkpoint, NULL));
        writ_buf_clear(&buf);
        writ_checkpoint_put(&buf, &checkpoint);
        ck_assert_view(writ_buf_view(&buf), texts[i]);
    }
    ck_assert_ok(writ_checkpoint_read(WRIT_LIT(SOFA), &checkpoint, NULL));
    ck_assert_view(checkpoint.origin, "example.com/behind-the-sofa");
    ck_assert_uint_eq(checkpoint.size, 20852163);
    ck_assert_uint_eq(checkpoint.root.bytes[0], 0x0a);
    writ_buf_wipe(&buf);
}
END_TEST

START_TEST(checkpoint_read_of_another_form_is_refused)
{
#define ROOT "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    static const struct {
        const char *text;
        enum writ_code code;
    } cases[] = {
        {"", WRIT_E_PARSE},
        {"a\n1\n", WRIT_E_PARSE},
        {"a\n1\n" ROOT, WRIT_E_PARSE},
        {"\n1\n" ROOT "\n", WRIT_E_PARSE},
        {"a\n01\n" ROOT "\n", WRIT_E_PARSE},
        {"a\n-1\n" ROOT "\n", WRIT_E_PARSE},
        {"a\n\n" ROOT "\n", WRIT_E_PARSE},
        {"a\n9007199254740992\n" ROOT "\n", WRIT_E_LIMIT},
        {"a\n1\n" ROOT "\n\n", WRIT_E_PARSE},
        {"a\n1\n" ROOT "\nx", WRIT_E_PARSE},
        {"a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I\n", WRIT_E_PARSE},
        {"a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n", WRIT_E_PARSE},
        {"a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2IA\n", WRIT_E_PARSE},
    };
    struct writ_checkpoint checkpoint = {.size = 7};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_code(
            writ_checkpoint_read(writ_view_str(cases[i].text), &checkpoint, NULL), cases[i].code);
        ck_assert_uint_eq(checkpoint.size, 7);
    }
    ck_assert_ok(
        writ_checkpoint_read(WRIT_LIT("a\n9007199254740991\n" ROOT "\n"), &checkpoint, NULL));
}
END_TEST

START_TEST(proof_reads_back_as_written)
{
    struct writ_checkpoint_proof proof;
    struct writ_buf buf = writ_buf_make(TEXT_MAX);

    ck_assert_ok(writ_checkpoint_proof_read(WRIT_LIT(FANCY), &proof, NULL));
    ck_assert_uint_eq(proof.index, 73894);
    ck_assert_uint_eq(proof.inclusion.count, 2);
    ck_assert_uint_eq(proof.extra.len, 0);
    writ_checkpoint_proof_put(&buf, &proof);
    ck_assert_view(writ_buf_view(&buf), FANCY);

    proof.extra = WRIT_LIT("YWdl");
    writ_buf_clear(&buf);
    writ_checkpoint_proof_put(&buf, &proof);
    ck_assert_ok(writ_checkpoint_proof_read(writ_buf_view(&buf), &proof, NULL));
    ck_assert_view(proof.extra, "YWdl");
    writ_buf_wipe(&buf);
}
END_TEST

START_TEST(proof_read_of_another_form_is_refused)
{
#define HEAD "c2sp.org/tlog-proof@v1\n"
    static const char *const bad[] = {"", HEAD, "c2sp.org/tlog-proof@v2\nindex 0\n\nx\n",
        HEAD "index 00\n\nx\n", HEAD "index\n\nx\n", HEAD "extra *\nindex 0\n\nx\n",
        HEAD "extra YWdl", HEAD "index 0\nAAAA\n\nx\n", HEAD "index 0\n\n", HEAD "index 0\n",
        HEAD "index 0\n" ROOT, HEAD "index 9007199254740992\n\nx\n"};
    struct writ_checkpoint_proof proof = {.index = 7};
    struct writ_buf buf = writ_buf_make(WRIT_NOTE_BYTES_MAX + 1);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(
            writ_checkpoint_proof_read(writ_view_str(bad[i]), &proof, NULL), WRIT_E_PARSE);
    }
    writ_buf_str(&buf, HEAD "index 0\n");
    for (size_t i = 0; i < WRIT_TREE_PROOF_MAX + 1; i++) {
        writ_buf_str(&buf, ROOT "\n");
    }
    ck_assert_code(writ_checkpoint_proof_read(writ_buf_view(&buf), &proof, NULL), WRIT_E_LIMIT);
    writ_buf_cut(&buf, buf.len - sizeof ROOT);
    writ_buf_str(&buf, "\nx\n");
    ck_assert_uint_eq(proof.index, 7);
    ck_assert_ok(writ_checkpoint_proof_read(writ_buf_view(&buf), &proof, NULL));
    while (buf.len <= WRIT_NOTE_BYTES_MAX) {
        writ_buf_byte(&buf, '\n');
    }
    ck_assert_code(writ_checkpoint_proof_read(writ_buf_view(&buf), &proof, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&buf);
}
END_TEST

/* A small log of leaves 0, 1, ... and a proof of the one at INDEX. */
struct log {
    struct writ_note_key *key;
    struct writ_signer *signer;
    struct writ_digest leaf[LEAVES];
    struct writ_buf note;
    struct writ_checkpoint_proof proof;
};

static WRIT_RESULT
log_node(void *ctx, unsigned level, uint64_t index, struct writ_digest *ret, struct writ_err *err)
{
    struct log *log = ctx;
    struct writ_tree_edge edge = {0};

    for (uint64_t i = 0; i < UINT64_C(1) << level; i++) {
        WRIT_TRY(writ_tree_append(&edge, &log->leaf[(index << level) + i], err));
    }
    return writ_tree_root(&edge, ret, err);
}

/* Signs a checkpoint of the log under this origin. */
static void
log_sign(struct log *log, struct writ_view origin)
{
    struct writ_tree_source source = {log_node, log};
    struct writ_checkpoint checkpoint = {.origin = origin, .size = LEAVES};
    struct writ_buf text = writ_buf_make(TEXT_MAX);
    struct writ_tree_edge edge;

    ck_assert_ok(writ_tree_edge_of(&source, LEAVES, &edge, NULL));
    ck_assert_ok(writ_tree_root(&edge, &checkpoint.root, NULL));
    writ_checkpoint_put(&text, &checkpoint);
    writ_buf_clear(&log->note);
    writ_buf_put(&log->note, writ_buf_view(&text));
    writ_buf_byte(&log->note, '\n');
    ck_assert_ok(writ_note_sign(writ_buf_view(&text), log->key, log->signer, 0, &log->note, NULL));
    log->proof.note = writ_buf_view(&log->note);
    writ_buf_wipe(&text);
}

static void
log_begin(struct log *log)
{
    struct writ_tree_source source = {log_node, log};

    log->note = writ_buf_make(TEXT_MAX);
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &log->signer, NULL));
    ck_assert_ok(writ_note_key_of(
        WRIT_LIT("log.example"), WRIT_NOTE_ED25519, writ_signer_jwk(log->signer), &log->key, NULL));
    for (size_t i = 0; i < LEAVES; i++) {
        char byte = (char)i;
        ck_assert_ok(writ_tree_leaf(writ_view(&byte, 1), &log->leaf[i], NULL));
    }
    log->proof.index = INDEX;
    ck_assert_ok(writ_tree_prove_inclusion(&source, INDEX, LEAVES, &log->proof.inclusion, NULL));
    log_sign(log, WRIT_LIT("log.example"));
}

static void
log_end(struct log *log)
{
    writ_buf_wipe(&log->note);
    writ_note_key_free(log->key);
    writ_signer_free(log->signer);
}

static writ_result
verify(const struct writ_checkpoint_proof *proof, const struct writ_digest *leaf,
    const struct writ_note_key *key, struct writ_checkpoint *ret)
{
    struct writ_checkpoint checkpoint;

    WRIT_TRY(writ_checkpoint_verify(proof->note, &key, 1, &checkpoint, NULL));
    WRIT_TRY(writ_tree_check_inclusion(
        leaf, proof->index, checkpoint.size, &proof->inclusion, &checkpoint.root, NULL));
    *ret = checkpoint;
    return WRIT_DONE;
}

static writ_result
log_verify(const struct log *log, struct writ_checkpoint *ret)
{
    return verify(&log->proof, &log->leaf[INDEX], log->key, ret);
}

START_TEST(proof_check_holds_for_its_leaf_and_log_only)
{
    struct log log = {0};
    struct log other = {0};
    struct writ_checkpoint checkpoint = {0};
    const struct writ_note_key *keys[2];

    log_begin(&log);
    log_begin(&other);
    ck_assert_ok(log_verify(&log, &checkpoint));
    ck_assert_uint_eq(checkpoint.size, LEAVES);
    ck_assert_code(verify(&log.proof, &log.leaf[INDEX], other.key, &checkpoint), WRIT_E_ABSENT);
    ck_assert_code(verify(&log.proof, &log.leaf[0], log.key, &checkpoint), WRIT_E_MISMATCH);
    keys[0] = other.key;
    keys[1] = log.key;
    ck_assert_ok(writ_checkpoint_verify(log.proof.note, keys, 2, &checkpoint, NULL));
    ck_assert_code(
        writ_checkpoint_verify(log.proof.note, keys, 1, &checkpoint, NULL), WRIT_E_ABSENT);
    ck_assert_code(
        writ_checkpoint_verify(log.proof.note, keys, 0, &checkpoint, NULL), WRIT_E_ABSENT);
    log.proof.index--;
    ck_assert_code(log_verify(&log, &checkpoint), WRIT_E_MISMATCH);
    log_end(&other);
    log_end(&log);
}
END_TEST

START_TEST(checkpoint_check_of_another_log_is_refused)
{
    struct log log = {0};
    struct writ_checkpoint checkpoint = {.size = 7};

    log_begin(&log);
    log_sign(&log, WRIT_LIT("other.example"));
    ck_assert_code(log_verify(&log, &checkpoint), WRIT_E_MISMATCH);
    ck_assert_uint_eq(checkpoint.size, 7);
    log_end(&log);
}
END_TEST

/* Signs the log's checkpoint as a witness of this name. `ret` is its key. */
static void
cosign(struct log *log, const char *name, enum writ_note_type type, struct writ_note_key **ret)
{
    struct writ_signer *signer = NULL;
    struct writ_note note;

    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(writ_note_key_of(writ_view_str(name), type, writ_signer_jwk(signer), ret, NULL));
    ck_assert_ok(writ_note_read(writ_buf_view(&log->note), &note, NULL));
    ck_assert_ok(writ_note_sign(note.text, *ret, signer, 7, &log->note, NULL));
    writ_signer_free(signer);
}

static enum writ_reason
judged(const struct log *log, const struct writ_note_key *const *witnesses, size_t n, size_t quorum)
{
    const struct writ_note_key *key = log->key;
    struct writ_checkpoint_trust trust = {&key, 1, witnesses, n, quorum};
    struct writ_checkpoint checkpoint = {.size = 7};
    enum writ_reason why = WRIT_REASON_NONE;

    ck_assert_ok(writ_checkpoint_judge(writ_buf_view(&log->note), &trust, &checkpoint, &why, NULL));
    ck_assert_uint_eq(checkpoint.size, why == WRIT_REASON_EVIDENCE_OK ? LEAVES : 7);
    return why;
}

START_TEST(checkpoint_check_requires_the_given_number_of_witnesses)
{
    struct log log = {0}, other = {0};
    struct writ_note_key *made[5] = {0};
    const struct writ_note_key *keys[5];

    log_begin(&log);
    log_begin(&other);
    cosign(&log, "a.example", WRIT_NOTE_COSIGNATURE, &made[0]);
    cosign(&log, "a.example", WRIT_NOTE_COSIGNATURE, &made[1]); /* after a rotation */
    cosign(&other, "b.example", WRIT_NOTE_COSIGNATURE, &made[2]);
    cosign(&log, "c.example", WRIT_NOTE_ED25519, &made[3]); /* as a log signs */
    cosign(&log, "d.example", WRIT_NOTE_COSIGNATURE, &made[4]);
    for (size_t i = 0; i < 5; i++) {
        keys[i] = made[i];
    }
    ck_assert_uint_eq(writ_checkpoint_witnesses(keys, 0), 0);
    ck_assert_uint_eq(writ_checkpoint_witnesses(keys, 5), 4);
    ck_assert_int_eq(judged(&log, NULL, 0, 0), WRIT_REASON_EVIDENCE_OK);
    ck_assert_int_eq(judged(&log, keys, 1, 1), WRIT_REASON_EVIDENCE_OK);
    ck_assert_int_eq(judged(&log, keys, 2, 1), WRIT_REASON_EVIDENCE_OK);
    ck_assert_int_eq(judged(&log, keys, 2, 2), WRIT_REASON_CHECKPOINT_UNWITNESSED);
    ck_assert_int_eq(judged(&log, keys, 4, 2), WRIT_REASON_CHECKPOINT_UNWITNESSED);
    ck_assert_int_eq(judged(&log, keys, 5, 2), WRIT_REASON_EVIDENCE_OK);
    ck_assert_int_eq(judged(&log, keys, 5, 3), WRIT_REASON_CHECKPOINT_UNWITNESSED);
    ck_assert_int_eq(judged(&log, NULL, 0, 1), WRIT_REASON_CHECKPOINT_UNWITNESSED);
    for (size_t i = 0; i < 5; i++) {
        writ_note_key_free(made[i]);
    }
    log_end(&other);
    log_end(&log);
}
END_TEST

START_TEST(checkpoint_check_with_a_bad_witness_signature_is_refused)
{
    struct log log = {0};
    struct writ_note_key *key = NULL;
    const struct writ_note_key *keys[1];

    log_begin(&log);
    cosign(&log, "a.example", WRIT_NOTE_COSIGNATURE, &key);
    keys[0] = key;
    ck_assert_int_eq(judged(&log, keys, 1, 1), WRIT_REASON_EVIDENCE_OK);
    log.note.ptr[log.note.len - 20] = log.note.ptr[log.note.len - 20] == 'A' ? 'B' : 'A';
    ck_assert_int_eq(judged(&log, keys, 1, 1), WRIT_REASON_CHECKPOINT_INVALID);
    ck_assert_int_eq(judged(&log, NULL, 0, 0), WRIT_REASON_EVIDENCE_OK); /* no witness required */
    writ_note_key_free(key);
    log_end(&log);
}
END_TEST

START_TEST(proof_check_of_every_changed_bit_fails)
{
    struct log log = {0};
    struct writ_checkpoint checkpoint;
    struct writ_buf file = writ_buf_make(TEXT_MAX);

    log_begin(&log);
    writ_checkpoint_proof_put(&file, &log.proof);
    for (size_t bit = 0; bit < file.len * 8; bit++) {
        char changed = (char)(1 << bit % 8);

        file.ptr[bit / 8] = (char)(file.ptr[bit / 8] ^ changed);
        ck_assert(!writ_is_ok(writ_checkpoint_proof_read(writ_buf_view(&file), &log.proof, NULL)) ||
                  !writ_is_ok(log_verify(&log, &checkpoint)));
        file.ptr[bit / 8] = (char)(file.ptr[bit / 8] ^ changed);
    }
    ck_assert_ok(writ_checkpoint_proof_read(writ_buf_view(&file), &log.proof, NULL));
    ck_assert_ok(log_verify(&log, &checkpoint));
    writ_buf_wipe(&file);
    log_end(&log);
}
END_TEST

WRIT_UNIT_MAIN("checkpoint", checkpoint_reads_back_as_written,
    checkpoint_read_of_another_form_is_refused, proof_reads_back_as_written,
    proof_read_of_another_form_is_refused, proof_check_holds_for_its_leaf_and_log_only,
    checkpoint_check_of_another_log_is_refused,
    checkpoint_check_requires_the_given_number_of_witnesses,
    checkpoint_check_with_a_bad_witness_signature_is_refused,
    proof_check_of_every_changed_bit_fails)
