// What writ init proposes, against an independent validator of JSON Schema: for made-up schemas and values, a value
// that the proposed rule lets through is one that the schema allows; and of the values that the schema allows, most
// pass. The sources of chance are seeds, which a failure names.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BIN, writ } from '../support/js/gateway.mjs';
import { resolve } from '../support/npm/peers.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const { default: Ajv } = await import(resolve('ajv/dist/2020.js'));
const TOOLS = 150, VALUES = 24;
const PATTERNS = ['^[a-c]+$', 'b', '^a', 'c$', '^\\d{1,3}$', '^[\\w.-]{2,4}$', '^(a|b)+$', '^a(?!b)', '\\S', '^.{0,2}$',
  '^[^a]*$', '^\\u0061', 'x{2,}'];
const TEXTS = ['', 'a', 'b', 'ab', 'abc', 'abcd', 'xx', 'a b', 'ä', '1', '12', '1234', 'a.b', 'a\nb', '😀', 'cc'];
const NUMBERS = [0, 1, -1, 2, 3, 1.5, 2.5, 10, 11, -10, 100, 1e9];

/** xorshift32 */
function chance(seed) {
  let x = seed;
  const next = (n) => {
    x ^= x << 13; x ^= x >>> 17; x ^= x << 5;
    return (x >>> 0) % n;
  };
  return { next, pick: (list) => list[next(list.length)], often: (percent) => next(100) < percent };
}

/** A schema. What is optional or may be null is no object: no constraint can say that a member of such an object is
 * required, and the server checks that. */
function schemaOf(c, depth, scalar = false) {
  const kind = scalar || depth === 0 ? c.next(6) : c.next(11);
  const text = () => ({ type: 'string', ...(c.often(40) && { minLength: c.next(3) }),
    ...(c.often(60) && { maxLength: 1 + c.next(4) }), ...(c.often(30) && { pattern: c.pick(PATTERNS) }),
    ...(c.often(10) && { not: { enum: [c.pick(TEXTS), c.pick(TEXTS)] } }) });
  const number = () => ({ type: c.pick(['integer', 'number']), ...(c.often(50) && { minimum: c.pick(NUMBERS) }),
    ...(c.often(50) && { maximum: c.pick(NUMBERS) }), ...(c.often(15) && { exclusiveMinimum: c.pick(NUMBERS) }),
    ...(c.often(15) && { exclusiveMaximum: c.pick(NUMBERS) }) });
  switch (kind) {
    case 0: return text();
    case 1: return number();
    case 2: return { type: 'boolean' };
    case 3: return { enum: [c.pick(TEXTS), c.pick(NUMBERS), c.pick([null, true, 'a', [1], { k: 'v' }])] };
    case 4: return { ...text(), type: ['string', 'null'] };
    case 5: return c.pick([{ const: c.pick(TEXTS) }, { $ref: '#/$defs/short' }, { type: ['integer', 'string'] },
      { allOf: [text(), { maxLength: 3 }] }]);
    case 6: return { type: 'array', items: schemaOf(c, depth - 1), ...(c.often(50) && { maxItems: c.next(4) }),
      ...(c.often(30) && { minItems: c.next(2) }) };
    case 7: return { type: 'array', prefixItems: [schemaOf(c, 0), schemaOf(c, 0)], items: false, minItems: c.next(3) };
    case 8: return { anyOf: c.often(50) ? [schemaOf(c, 0), { type: 'null' }]
      : [schemaOf(c, depth - 1), schemaOf(c, depth - 1)] };
    default: {
      const required = { p: schemaOf(c, depth - 1), ...(c.often(50) && { q: schemaOf(c, depth - 1) }) };
      return { type: 'object', properties: { ...required, ...(c.often(50) && { r: schemaOf(c, 0, true) }) },
        required: Object.keys(required), ...(c.often(70) && { additionalProperties: c.often(50) }) };
    }
  }
}

/** A value that a schema mostly allows, or something else. */
function valueOf(c, schema, root, depth = 0) {
  if (c.often(depth === 0 ? 15 : 8)) return c.pick([null, true, 'a', '', 7, [], {}, [1], { p: 1 }, { z: 'z' }]);
  if (schema.$ref) return valueOf(c, root.$defs.short, root, depth);
  if (schema.anyOf) return valueOf(c, c.pick(schema.anyOf), root, depth + 1);
  if (schema.allOf) return valueOf(c, schema.allOf[0], root, depth + 1);
  if (schema.enum) return c.pick(schema.enum);
  if ('const' in schema) return schema.const;
  switch ([schema.type].flat()[c.next([schema.type].flat().length)]) {
    case 'string': return c.pick(TEXTS);
    case 'integer': case 'number': return c.pick(NUMBERS);
    case 'boolean': return c.often(50);
    case 'null': return null;
    case 'array': {
      const at = (i) => schema.prefixItems?.[i] ?? (schema.items || { type: 'integer' });
      return Array.from({ length: c.next(4) }, (_, i) => valueOf(c, at(i), root, depth + 1));
    }
    default: {
      const made = Object.fromEntries(Object.entries(schema.properties)
        .filter(([name]) => c.often(schema.required.includes(name) ? 95 : 50))
        .map(([name, member]) => [name, valueOf(c, member, root, depth + 1)]));
      return c.often(5) ? { ...made, extra: 1 } : made;
    }
  }
}

for (const seed of [1, 20261123, 4242, 77]) {
  test(`proposed_rules_of_seed_${seed}_let_nothing_through_that_the_schema_refuses`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-proposals-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const c = chance(seed);
    const tools = Array.from({ length: TOOLS }, (_, i) => ({ name: `get_${i}`, annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', properties: { x: schemaOf(c, 3) }, required: ['x'],
        $defs: { short: { type: 'string', maxLength: 2 } } } }));
    const up = await startUpstream(t, { tools });
    const child = spawn(BIN, ['init', `s=${up.url}`, '--out', dir + '/gate'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.equal(code, 0, err);

    const ajv = new Ajv({ strict: false });
    const cases = tools.flatMap(({ name, inputSchema }) => {
      const validate = ajv.compile(inputSchema);
      return Array.from({ length: VALUES }, () => {
        const args = { x: valueOf(c, inputSchema.properties.x, inputSchema) };
        return { name, args, valid: validate(args), schema: inputSchema.properties.x };
      });
    });
    const file = join(dir, 'cases.json');
    writeFileSync(file, JSON.stringify({ config: 'gate/writ.yaml', cases: cases.map(({ name, args }) =>
      ({ name, call: { agent: 'agent', tool: `s/${name}`, arguments: args }, expect: 'allow' })) }));
    const run = writ(['policy', 'test', file, '--json'], { cwd: dir });
    const verdicts = JSON.parse(run.out).results;
    assert.equal(verdicts.length, cases.length);
    let both = 0, valid = 0;
    verdicts.forEach((verdict, i) => {
      const allowed = verdict.passed;
      const { args, schema } = cases[i];
      assert.ok(!allowed || cases[i].valid, `seed ${seed}: ${JSON.stringify(args)} passes ${JSON.stringify(schema)}`);
      valid += cases[i].valid;
      both += allowed;
    });
    t.diagnostic(`${cases.length} values, ${valid} valid, ${both} of these pass (${Math.round(100 * both / valid)} %)`);
    assert.ok(both > 0.75 * valid, `only ${both} of ${valid} valid values pass`);
  });
}
