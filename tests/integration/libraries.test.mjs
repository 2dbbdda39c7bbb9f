// The installed libraries as a third party has them: an installation, pkg-config, a compiler. deploy/contents runs it
// with the packages of the folder WRIT_PACKAGES in place of an installation.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { flags, install, installed, must, unpack } from '../support/js/installation.mjs';

const source = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const SKIP = /asan|tsan/.test(process.env.WRIT_BUILD_DIR ?? '') && 'a plain program cannot load sanitized libraries';
const PAGE = readFileSync(join(source, 'docs/credentials.md'), 'utf8');
const TOKEN = /```text\n(\S+)\n/.exec(PAGE)[1];
const JWKS = /```json\n(\{"keys".*)\n/.exec(PAGE)[1];

let folder, prefix;
before(() => {
  if (SKIP) return;
  folder = mkdtempSync(join(tmpdir(), 'writ-libraries-'));
  prefix = join(folder, 'prefix');
  if (process.env.WRIT_PACKAGES) unpack(process.env.WRIT_PACKAGES, prefix);
  else install(process.env.WRIT_BUILD_DIR, prefix);
});
after(() => folder && rmSync(folder, { recursive: true }));

/** Builds the C text with the packages, runs it, and returns its output. */
function run(name, packages, text, ...args) {
  const program = join(folder, name);
  writeFileSync(`${program}.c`, text);
  must('cc', ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-o', program, `${program}.c`,
    ...packages.flatMap((p) => flags(prefix, p))]);
  return must(program, args, { env: { LD_LIBRARY_PATH: dirname(installed(prefix, /libwrit-verify\.so$/)) } });
}

const BEGIN = `#include <writ/jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static struct writ_err err;
static void must(writ_result result) {
  if (result.code != WRIT_OK) { fprintf(stderr, "%s\\n", err.text); exit(1); }
}
`;

test('jansson.h: arguments go into verify.h as a json_t, and claims come out as one', { skip: SKIP }, () => {
  const said = run('verify', ['writ-verify', 'writ-jansson'], `#include <writ/verify.h>
${BEGIN}
int main(int argc, char *argv[]) {
  json_t *arguments = json_pack("{s:s,s:f,s:s}", "to", "DE89370400440532013000", "amount", 12.5, "currency", "EUR");
  struct writ_verify *verify = NULL;
  struct writ_verify_answer answer = {0};
  struct writ_verify_call call = {.tool = {"transfer", 8}, .any_issuer = true, .any_agent = true, .any_tenant = true,
    .audience = {"http://127.0.0.1:9000/mcp", 25}, .now_s = 1782363630};
  char *text = NULL;
  size_t len = 0;
  (void)argc;
  must(writ_jansson_write(arguments, &text, &len, &err));
  call.arguments = (struct writ_view){text, len};
  must(writ_verify_new(&verify, &err));
  must(writ_verify_keys(verify, (struct writ_view){argv[1], strlen(argv[1])}, &err));
  must(writ_verify_credential(verify, (struct writ_view){argv[2], strlen(argv[2])}, &call, &answer, &err));
  json_t *claims = json_pack("{s:b,s:o,s:o,s:o}", "ok", answer.ok, "agent", writ_jansson_claim(answer.agent_id),
    "tenant", writ_jansson_claim(answer.tenant), "state", writ_jansson_claim(answer.target_state_digest));
  json_dumpf(claims, stdout, JSON_SORT_KEYS);
  json_decref(claims);
  json_decref(arguments);
  free(text);
  writ_verify_wipe(&answer);
  writ_verify_free(verify);
}`, JWKS, TOKEN);
  assert.deepEqual(JSON.parse(said), { ok: true, agent: 'batch', tenant: 'acme', state: null });
});

test('jansson.h: values of crew.h come out as a json_t that goes in again', { skip: SKIP }, () => {
  const said = run('crew', ['writ', 'writ-jansson'], `#include <writ/crew.h>
${BEGIN}
int main(void) {
  json_t *task = json_pack("{s:s,s:[i,f,n]}", "title", "caf\\u00e9", "numbers", 7, 0.1), *back = NULL, *absent = task;
  struct writ_crew_value *value = NULL;
  struct writ_crew_err crew_err = {0};
  char *text = NULL;
  size_t len = 0;
  must(writ_jansson_write(task, &text, &len, &err));
  must(writ_crew_value_read((struct writ_view){text, len}, NULL, &value, &crew_err));
  must(writ_jansson_read(writ_crew_value_text(value), &back, &err));
  must(writ_jansson_read(writ_crew_value_text(NULL), &absent, &err));
  printf("%s %d %d\\n", text, json_equal(task, back), absent == NULL);
  free(text);
  json_decref(task);
  json_decref(back);
  writ_crew_value_free(value);
}`);
  assert.equal(said, '{"numbers":[7,0.1,null],"title":"café"} 1 1\n');
});

test('without jansson.h no header and no other package needs jansson', { skip: SKIP }, () => {
  const file = join(folder, 'without.c');
  writeFileSync(file, '#include <writ/verify.h>\n#include <writ/crew.h>\n#include <writ/plugins.h>\n');
  const read = must('cc', ['-M', file, ...flags(prefix, 'writ-verify'), ...flags(prefix, 'writ')]);
  assert.doesNotMatch(read, /jansson/);
  for (const name of ['writ', 'writ-verify']) assert.ok(!flags(prefix, name).includes('-ljansson'), name);
  assert.ok(flags(prefix, 'writ-jansson').includes('-ljansson'));
});

const LIBRARIES = [['verify', ['libc', 'libcrypto', 'libz'], ['-lwrit-verify']],
  ['jansson', ['libc', 'libcrypto', 'libjansson'], ['-lwrit-jansson', '-ljansson']]];
for (const [name, needs, linked] of LIBRARIES) {
  test(`libwrit-${name} needs ${needs.join(', ')}, and shows the functions of its header alone`, { skip: SKIP }, () => {
    const library = installed(prefix, new RegExp(`libwrit-${name}\\.so$`));
    const needed = [...must('readelf', ['-d', library]).matchAll(/NEEDED.*\[(.*?)\]/g)].map((m) =>
      m[1].replace(/\.so.*/, ''));
    // link-time optimization may leave less to need
    const least = process.env.WRIT_PACKAGES ? needs.filter((n) => needed.includes(n)) : needs;
    assert.deepEqual(needed.filter((n) => !n.startsWith('ld-')).sort(), least);
    const named = (...options) => flags(prefix, `writ-${name}`, ...options).filter((flag) => flag.startsWith('-l'));
    assert.deepEqual(named(), linked);
    const all = named('--static').map((flag) => flag.replace('-l', 'lib'));
    assert.ok(needs.every((n) => n === 'libc' || all.includes(n)), all.join(' '));
    const header = readFileSync(join(source, `include/writ/${name}.h`), 'utf8');
    const declared = [...header.matchAll(/^(?:WRIT_RESULT|void|size_t) (writ_\w+)\(/gm)].map((m) => m[1]);
    const shown = must('nm', ['-D', '--defined-only', library]);
    assert.deepEqual([...shown.matchAll(/ T (\w+)/g)].map((m) => m[1]).sort(), declared.sort());
  });
}
