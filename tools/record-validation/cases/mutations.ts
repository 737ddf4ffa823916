import type { Json, KubeObject } from '../../../src/kube/object.ts';
import type { Base, Case, CaseSet, Change } from '../case.ts';

/** What the server sets or defaults before it validates, so that its answer is about another object than the one that was sent. */
const SET_BY_SERVER = [
  /Service .*\/spec\/(clusterIP|clusterIPs|ipFamilies|type)\b/,
  /Service .*\/spec\/ports\b.*(nodePort|has an item twice)/,
  /Node .*\/spec\/podCIDR/,
  /Namespace update .*\/spec\/finalizers/,
  /CertificateSigningRequest update .*\/spec\//,
  /Pod .*\/spec\/terminationGracePeriodSeconds is negative/,
  /CSIDriver .*\/spec\/volumeLifecycleModes is empty/,
  /Job create .*\/spec\/(selector|manualSelector|template\/metadata)\b/,
  // Its expressions are compiled by whoever has a compiler.
  /ValidatingAdmissionPolicy .*expression/,
];

/** Every field of the richest base of every kind, spoiled one at a time, in a create and in an update. */
export function mutationsOf(sets: Record<string, CaseSet>): CaseSet {
  const bases: Record<string, Base> = {};
  const size = (base: Base | undefined): number => (base === undefined ? 0 : JSON.stringify([base.object, base.status]).length);
  for (const base of Object.values(sets).flatMap((set) => Object.values(set.bases))) {
    const { apiVersion, kind } = base.object;
    const name = `${apiVersion} ${kind}`;
    if (!base.volatile && size(base) > size(bases[name])) bases[name] = base;
  }
  return {
    bases,
    cases: (stored) =>
      Object.entries(stored)
        .flatMap(([name, object]) => casesOf(name, object))
        .filter(({ name, base, operation = 'create', subresource = '' }) => {
          const text = `${stored[base].kind} ${operation} ${subresource} ${name}`;
          return !SET_BY_SERVER.some((pattern) => pattern.test(text));
        }),
    skipOthers: true,
  };
}

const NOT_MUTATED = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function casesOf(base: string, object: KubeObject): Case[] {
  const main = Object.keys(object).filter((field) => !NOT_MUTATED.has(field));
  const found: Case[] = [];
  for (const field of main) {
    for (const [name, change] of spoil(object[field], `/${escape(field)}`)) {
      found.push({ name, base, change }, { name, base, change, operation: 'update' });
    }
  }
  if (object['status'] !== undefined) {
    for (const [name, change] of spoil(object['status'], '/status')) {
      found.push({ name, base, change, operation: 'update', subresource: 'status' });
    }
  }
  return found;
}

function escape(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function spoil(value: Json, pointer: string): [name: string, change: Change][] {
  const to = (what: string, next: Json): [string, Change] => [`${pointer} ${what}`, { [pointer]: next }];
  if (typeof value === 'string') return [to('is odd', 'Bad Value!'), to('is other', 'other')];
  if (typeof value === 'number') return [to('is negative', -1), to('is more', value + 1), to('is huge', 2_000_000_000)];
  if (typeof value === 'boolean') return [to('is flipped', !value)];
  if (Array.isArray(value)) {
    const inside = value.flatMap((item, i) => spoil(item, `${pointer}/${i}`));
    const twice: [string, Change][] = value.length === 0 ? [] : [[`${pointer} has an item twice`, { [`${pointer}/-`]: value[0] }]];
    return [to('is empty', []), ...twice, ...inside];
  }
  return Object.entries<Json>(value).flatMap(([key, item]) => spoil(item, `${pointer}/${escape(key)}`));
}
