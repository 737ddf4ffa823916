import type { Json } from '../../../src/kube/object.ts';
import type { Base, Case, CaseSet, Change } from '../case.ts';

/** `[name, base, change]`; `more` says how, where that is not a plain create. */
export type Row = [name: string, base: string, change: Change, more?: Partial<Case>];

export const UPDATE: Partial<Case> = { operation: 'update' };
export const STATUS: Partial<Case> = { operation: 'update', subresource: 'status' };

export function caseSet(bases: Record<string, Base>, rows: Row[]): CaseSet {
  return { bases, cases: rows.map(([name, base, change, more = {}]) => ({ name, base, change, ...more })) };
}

export function namespaced(group: string, version: string, resource: string, kind: string, name: string, body: Json): Base {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const { metadata, ...rest } = body;
  return {
    collection: `${prefix}/namespaces/default/${resource}`,
    object: { apiVersion, kind, metadata: { name, namespace: 'default', ...metadata }, ...rest },
  };
}

export function clusterScoped(group: string, version: string, resource: string, kind: string, name: string, body: Json): Base {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const { metadata, ...rest } = body;
  return { collection: `${prefix}/${resource}`, object: { apiVersion, kind, metadata: { name, ...metadata }, ...rest } };
}
