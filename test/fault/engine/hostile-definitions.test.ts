import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { Answer } from '../../support/api-target.ts';
import { expectQuietLoop, whileMeasured, whileQuiet } from '../../support/event-loop-promise.ts';
import { startMeasuredEngine, type MeasuredEngine } from '../../support/measured-engine.ts';

/** Promise: what a tenant writes into a definition (schemas, patterns, rules) cannot hold up the others, neither when it is created nor when it is used. */
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MANY = Number(process.env.TENANTRY_FAULT_ROUNDS ?? 1) > 1 ? 200 : 40;

let engine: MeasuredEngine;
let made = 0;

beforeAll(async () => {
  engine = await startMeasuredEngine();
  const { plural } = await define({
    type: 'object',
    properties: { a: { type: 'string', pattern: '^a+$' } },
    'x-kubernetes-validations': [{ rule: 'self.a != ""' }],
  });
  for (let i = 0; i < 20; i++) await create(plural, `warm${i}`, { a: 'aaa' });
  // The code must be warm: what is measured is the work, not the compiler.
  for (let i = 0; i < 3; i++) await define(manyFields(500));
}, 60_000);
afterAll(() => engine.stop(), 30_000);

async function define(spec: Json): Promise<{ answer: Answer; plural: string }> {
  const plural = `hostiles${made++}`;
  const answer = await engine.target.request('POST', DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, singular: `${plural}x`, kind: `Kind${plural}`, listKind: `Kind${plural}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  });
  if (answer.status === 201) {
    const path = `/apis/example.com/v1/namespaces/default/${plural}`;
    while ((await engine.target.request('GET', path)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { answer, plural };
}

function create(plural: string, name: string, spec: Json): Promise<Answer> {
  const body = { apiVersion: 'example.com/v1', kind: `Kind${plural}`, metadata: { name }, spec };
  return engine.target.request('POST', `/apis/example.com/v1/namespaces/default/${plural}`, body);
}

function repeat<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

function manyFields(count: number): Json {
  const field = {
    type: 'object',
    description: 'd'.repeat(100),
    properties: {
      a: { type: 'string', description: 'e'.repeat(100) },
      b: { type: 'integer', format: 'int32' },
      c: { type: 'array', items: { type: 'string' } },
    },
  };
  return { type: 'object', properties: Object.fromEntries(repeat(count, (i) => [`field${i}`, field])) };
}

const nested = (depth: number): Json => (depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } });
const tree = (depth: number, junctor: string): Json =>
  depth === 0 ? { minLength: 1 } : { [junctor]: [tree(depth - 1, junctor), tree(depth - 1, junctor)] };
const ruled = (rule: string, properties: Json): Json => ({ type: 'object', properties, 'x-kubernetes-validations': [{ rule }] });
const texts = { l: { type: 'array', items: { type: 'string' } } };

interface Hostile {
  name: string;
  spec: Json;
  /** How the definition is answered. */
  status: number;
  message?: RegExp;
  /** What is then created, and how that is answered. */
  object?: Json;
  objectStatus?: number;
}

const cases: Hostile[] = [
  {
    name: 'a CRD of 730 KB',
    spec: manyFields(1900),
    status: 201,
    object: Object.fromEntries(repeat(1900, (i) => [`field${i}`, { a: 'b', b: 1, c: ['x'] }])),
    objectStatus: 201,
  },
  { name: 'properties 400 deep', spec: nested(400), status: 422, message: /nested more than/ },
  { name: 'a tree of 4,096 allOf', spec: { type: 'string', ...tree(11, 'allOf') }, status: 201, object: 'x', objectStatus: 201 },
  { name: 'a tree of 4,096 anyOf', spec: { type: 'string', ...tree(11, 'anyOf') }, status: 201, object: 'x', objectStatus: 201 },
  {
    name: 'an enumeration of 20,000 values, missed 10,000 times',
    spec: { type: 'array', items: { type: 'string', enum: repeat(20_000, (i) => `v${i}`) } },
    status: 201,
    object: repeat(10_000, (i) => `nope${i}`),
    objectStatus: 422,
  },
  {
    name: 'catastrophic patterns',
    spec: { type: 'object', properties: { p: { type: 'string', pattern: '^(a+)+$' }, q: { type: 'string', pattern: '(x+x+)+y' } } },
    status: 201,
    object: { p: `${'a'.repeat(50_000)}!`, q: 'x'.repeat(50_000) },
    objectStatus: 422,
  },
  {
    name: 'a pattern that repeats a million times',
    spec: { type: 'string', pattern: '((a{100}){100}){100}' },
    status: 422,
    message: /regular expression/,
  },
  {
    name: 'nested comprehensions without bounds',
    spec: ruled('self.l.all(a, self.l.all(b, self.l.all(c, a != b || b != c)))', texts),
    status: 422,
    message: /estimated rule cost exceeds budget/,
  },
  {
    name: 'a rule over a list of 40,000',
    spec: ruled("self.l.all(a, a != 'q')", texts),
    status: 201,
    object: { l: repeat(40_000, (i) => `x${i}`) },
    objectStatus: 201,
  },
  {
    name: 'a catastrophic pattern in a rule',
    spec: ruled("self.s.matches('^(a+)+$')", { s: { type: 'string', maxLength: 100_000 } }),
    status: 201,
    object: { s: `${'a'.repeat(90_000)}!` },
    objectStatus: 422,
  },
  {
    name: 'a rule that builds long texts',
    spec: ruled("(self.s + self.s + self.s + self.s).replace('a', 'bbbbbbbb').size() > 1", { s: { type: 'string', maxLength: 100_000 } }),
    status: 201,
    object: { s: 'a'.repeat(90_000) },
    objectStatus: 201,
  },
  {
    name: 'a rule that finds 180,000 matches',
    spec: ruled("(self.s + self.s).findAll('a').size() > 1", { s: { type: 'string', maxLength: 100_000 } }),
    status: 201,
    object: { s: 'a'.repeat(90_000) },
    objectStatus: 201,
  },
  {
    name: 'rules that take a long text apart',
    spec: ruled("(self.s + self.s).split('').size() > 1 && strings.quote(self.s).upperAscii().trim() != ''", {
      s: { type: 'string', maxLength: 100_000 },
    }),
    status: 201,
    object: { s: 'a'.repeat(90_000) },
    objectStatus: 201,
  },
  {
    name: 'a rule of 4,000 comparisons',
    spec: ruled(repeat(4000, (i) => `self.s == 'v${i}'`).join(' || '), { s: { type: 'string', maxLength: 10 } }),
    status: 422,
    message: /too many parts/,
  },
  {
    name: 'a rule of 150 conditions',
    spec: ruled(`${repeat(150, (i) => `self.s == '${i}' ? true : `).join('')}false`, { s: { type: 'string', maxLength: 10 } }),
    status: 201,
    object: { s: '149' },
    objectStatus: 201,
  },
  {
    name: 'objects of 59,000 values without a schema',
    spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    status: 201,
    object: Object.fromEntries(repeat(11_800, (i) => [`k${i}`, { a: 'x', b: [] }])),
    objectStatus: 201,
  },
  { name: 'a rule 1,000 parentheses deep', spec: ruled(`${'('.repeat(1000)}true${')'.repeat(1000)}`, texts), status: 422 },
];

describe('a hostile definition', () => {
  it.each(cases)('$name', { timeout: 60_000 }, async ({ name, spec, status, message, object, objectStatus }) => {
    const { answer, plural } = await whileQuiet(engine, `the definition: ${name}`, () => define(spec));
    expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBe(status);
    if (message !== undefined) expect(answer.body.message).toMatch(message);
    if (object === undefined) return;
    const created = await whileQuiet(engine, `its object: ${name}`, (round) => create(plural, `one${round}`, object));
    expect(created.status, JSON.stringify(created.body).slice(0, 300)).toBe(objectStatus);
    expect(JSON.stringify(created.body).length).toBeLessThan(4_000_000);
  });

  it(`${MANY} definitions, published`, { timeout: 120_000 }, async () => {
    const { report } = await whileMeasured(engine, async () => {
      for (let i = 0; i < MANY; i++) expect((await define(manyFields(20))).answer.status).toBe(201);
      for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/example.com/v1', '/apis', DEFINITIONS]) {
        expect((await engine.target.request('GET', path)).status).toBe(200);
      }
    });
    expectQuietLoop(report, 'many definitions');
  });
});
