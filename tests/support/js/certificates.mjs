// certificates.mjs - authorities and certificates of servers, made by openssl.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files NAME.pem and NAME.key below a folder of the test: the authorities `ca` and `stranger`; of servers `good` for
 * that name, and `other`, `over` and `foreign`, which have another name, are expired, or of the other authority. */
export function certificates(t, host) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-tls-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const openssl = (...args) => {
    const run = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' });
    assert.equal(run.status, 0, `${args}\n${run.stderr}`);
  };
  const key = (name) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  const authority = (name) => openssl('req', '-x509', ...key(name), '-out', `${name}.pem`, '-subj', `/CN=${name}`,
    '-days', '2');
  // `openssl x509` of 3.4 and later makes none that is over
  const at = (day) => new Date(Date.now() + day * 86_400_000).toISOString().replace(/\.\d+|[-:T]/g, '');
  const server = (name, of, days, ca = 'ca') => {
    writeFileSync(join(dir, `${name}.ext`), `subjectAltName = DNS:${of}\n`);
    openssl('req', '-new', ...key(name), '-out', `${name}.csr`, '-subj', `/CN=${of}`);
    openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', `${ca}.pem`, '-keyfile', `${ca}.key`,
      '-in', `${name}.csr`, '-out', `${name}.pem`, '-startdate', at(-10), '-enddate', at(days),
      '-extfile', `${name}.ext`);
  };
  writeFileSync(join(dir, 'ca.cnf'), '[ca]\ndefault_ca = own\n[own]\ndatabase = ca.index\nnew_certs_dir = .\n' +
    'rand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\n[any]\ncommonName = supplied\n');
  writeFileSync(join(dir, 'ca.index'), '');
  authority('ca');
  authority('stranger');
  server('good', host, 2);
  server('other', 'db.example.com', 2);
  server('over', host, -1);
  server('foreign', host, 2, 'stranger');
  return { dir, path: (name) => join(dir, name) };
}
