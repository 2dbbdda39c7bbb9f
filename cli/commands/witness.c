/* writ ledger witness: has another party sign the last checkpoint (c2sp.org/tlog-witness). A
 * signature is verified with the witness's key before it is used. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/trust.h"
#include "gateway/http/fetch.h"
#include "store/read/proofs.h"
#include "store/trusted/keydir.h"

#define URL_MAX      2048
#define REQUEST_MAX  (WRIT_NOTE_BYTES_MAX + 8192)
#define TIMEOUT_MS   10000
#define STATUS_OK    200
#define STATUS_OTHER 409 /* the witness has seen another size and states it */

struct asking {
    const struct writ_cli *cli;
    struct writ_keyring *ring;
    struct writ_proofs *proofs;
    struct writ_trust witness;
    struct writ_checkpoint head;
    struct writ_view note;
    struct writ_buf answer;
};

static void
asking_wipe(struct asking *a)
{
    writ_proofs_close(a->proofs);
    writ_keyring_free(a->ring);
    writ_trust_wipe(&a->witness);
    writ_buf_wipe(&a->answer);
}

/* Appends the request: the size that the witness has seen, the proof that the log grew from there,
 * and the checkpoint. */
static WRIT_RESULT
put_request(struct asking *a, uint64_t old, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_tree_source source = writ_proofs_source(a->proofs);
    struct writ_tree_proof proof;

    WRIT_TRY(writ_tree_prove_consistency(&source, old, a->head.size, &proof, err));
    writ_buf_str(ret, "old ");
    writ_buf_u64(ret, old);
    writ_buf_byte(ret, '\n');
    for (size_t i = 0; i < proof.count; i++) {
        writ_base64_put(ret, writ_view(proof.digests[i].bytes, WRIT_DIGEST_BYTES));
        writ_buf_byte(ret, '\n');
    }
    writ_buf_byte(ret, '\n');
    writ_buf_put(ret, a->note);
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
post(struct asking *a, uint64_t old, long *ret_status, struct writ_err *err)
{
    writ_auto_buf url = writ_buf_make(URL_MAX);
    writ_auto_buf body = writ_buf_make(REQUEST_MAX);
    struct writ_fetch_request request = {.type = "Content-Type: text/plain; charset=utf-8"};

    writ_buf_put(&url, writ_cli_operand(a->cli, 1));
    writ_buf_str(&url, "/add-checkpoint");
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    WRIT_TRY(put_request(a, old, &body, err));
    request.body = body.ptr;
    writ_buf_clear(&a->answer);
    return writ_fetch_ask(url.ptr, &request, TIMEOUT_MS, NULL, ret_status, &a->answer, err);
}

/* First claims size 0; a witness that knows the log answers with its size, and the request is
 * repeated. */
static WRIT_RESULT
cosign(struct asking *a, struct writ_err *err)
{
    uint64_t old = 0;
    long status = 0;

    a->answer = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    WRIT_TRY(post(a, 0, &status, err));
    if (status == STATUS_OTHER) {
        struct writ_view said = writ_buf_view(&a->answer);

        said = writ_view_sub(said, 0, writ_view_find(said, '\n'));
        if (!writ_is_ok(writ_text_u64(said, 0, WRIT_TREE_SIZE_MAX, &old))) {
            WRIT_FAIL(err, WRIT_E_PARSE, "the witness does not state the size that it has seen");
        }
        if (old > a->head.size && writ_cli_has(a->cli, "checkpoint")) {
            WRIT_FAIL(err, WRIT_E_MISMATCH,
                "the checkpoint is of %llu records, and the witness has seen %llu: take a newer "
                "one",
                (unsigned long long)a->head.size, (unsigned long long)old);
        }
        if (old > a->head.size) {
            WRIT_FAIL(err, WRIT_E_MISMATCH,
                "ROLLBACK: the ledger has %llu records, and the witness has seen %llu",
                (unsigned long long)a->head.size, (unsigned long long)old);
        }
        WRIT_TRY(post(a, old, &status, err));
    }
    if (status != STATUS_OK) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the witness did not sign: it answered %ld", status);
    }
    return WRIT_DONE;
}

/* Puts the signature of the witness under the checkpoint, if it verifies under one of its keys. */
static WRIT_RESULT
put_signed(const struct asking *a, struct writ_buf *ret, uint64_t *ret_time_s, struct writ_err *err)
{
    struct writ_note note, asked;

    WRIT_TRY(writ_note_read(a->note, &asked, err));
    writ_buf_put(ret, a->note);
    writ_buf_put(ret, writ_buf_view(&a->answer));
    WRIT_TRY(writ_buf_check(ret, err));
    WRIT_TRY(writ_note_read(writ_buf_view(ret), &note, err));
    /* a blank line would make the earlier signatures part of another text */
    if (!writ_view_equal(note.text, asked.text)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the witness returned more than signatures");
    }
    for (size_t i = 0; i < a->witness.n; i++) {
        writ_result result;

        result = writ_note_verify(&note, a->witness.keys[i], ret_time_s, err);
        if (result.code != WRIT_E_ABSENT) {
            return result;
        }
    }
    WRIT_FAIL(err, WRIT_E_MISMATCH, "the witness signed with another key");
}

static WRIT_RESULT
run(struct asking *a, struct writ_err *err)
{
    const struct writ_cli *cli = a->cli;
    writ_auto_buf given =
        writ_buf_make(WRIT_NOTE_BYTES_MAX + 1); /* more than the limit, to name it */
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    uint64_t time_s = 0;

    WRIT_TRY(writ_trust_read_witnesses(writ_cli_get(cli, "witness").ptr, &a->witness, err));
    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &a->ring, err));
    WRIT_TRY(writ_proofs_open(writ_cli_operand(cli, 0).ptr, a->ring, &a->proofs, err));
    if (writ_cli_has(cli, "checkpoint")) {
        const char *path = writ_cli_get(cli, "checkpoint").ptr;

        WRIT_TRY(writ_cli_read(path, WRIT_NOTE_BYTES_MAX, &given, err));
        WRIT_TRY(writ_fail_in(err, writ_proofs_pin(a->proofs, writ_buf_view(&given), err), path));
    }
    WRIT_TRY(writ_proofs_head(a->proofs, &a->head, &a->note, err));
    WRIT_TRY(cosign(a, err));
    WRIT_TRY(put_signed(a, &note, &time_s, err));
    writ_cli_put(writ_buf_view(&note));
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_witness(const struct writ_cli *cli)
{
    WRIT_AUTO(struct asking, asking_wipe) a = {.cli = cli};
    struct writ_err err = {0};
    writ_result result;

    if (cli->json) {
        return writ_cli_usage(cli, "a checkpoint is a text, without --json");
    }
    result = run(&a, &err);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
