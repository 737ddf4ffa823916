import type { KubeObject } from '../../../../kube/object.ts';
import type { Strategy, WriteContext } from '../../registry/resource.ts';
import type { DecodeObject } from '../decode/decode.ts';
import { sameJson } from './same-json.ts';

export interface StandardOptions {
  decode: DecodeObject;
  /** Has a status that only its subresource may write. */
  hasStatus: boolean;
  /** metadata.generation counts the changes of everything but metadata and status. */
  tracksGeneration: boolean;
}

/** What most kinds of kube-apiserver do; kinds override what they do differently. */
export function standardStrategy(options: StandardOptions): Strategy {
  const { decode, hasStatus, tracksGeneration } = options;
  return {
    decode,
    prepareCreate(object, context) {
      if (hasStatus) resetStatus(object, decode, context);
      if (tracksGeneration) object.metadata.generation = 1;
    },
    prepareUpdate(object, old, context) {
      object.metadata.generation = old.metadata.generation;
      if (object.metadata.generation === undefined) delete object.metadata.generation;
      if (context.subresource !== '') {
        keepAllBut(object, old, ['status']);
        return;
      }
      if (hasStatus) copyField(object, old, 'status');
      if (tracksGeneration && changedBesides(object, old, IGNORED)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validateCreate: () => [],
    validateUpdate: () => [],
    allowUnconditionalUpdate: true,
    nameRule: 'dns-subdomain',
    resetFields: hasStatus ? { '': ['status'], status: ['spec'] } : {},
  };
}

const IGNORED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Replaces the status by an empty one, as the decoder makes it for an object that brings none. */
export function resetStatus(object: KubeObject, decode: DecodeObject, context: WriteContext): void {
  if (object['status'] === undefined) return;
  const { apiVersion, kind } = object;
  const empty = decode({ apiVersion, kind, metadata: {} }, context.version);
  copyField(object, empty, 'status');
}

/** Takes one field from another object, its absence included. */
export function copyField(object: KubeObject, from: KubeObject, field: string): void {
  if (from[field] === undefined) delete object[field];
  else object[field] = from[field];
}

/** Takes every top-level field but metadata and the named ones from the stored object: what a subresource may not touch. */
export function keepAllBut(object: KubeObject, old: KubeObject, writable: string[]): void {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field !== 'metadata' && field !== 'apiVersion' && field !== 'kind' && !writable.includes(field)) copyField(object, old, field);
  }
}

function changedBesides(object: KubeObject, old: KubeObject, ignored: ReadonlySet<string>): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!ignored.has(field) && !sameJson(object[field], old[field])) return true;
  }
  return false;
}
