import type { FieldError } from '../../../../kube/field-error.ts';
import { semanticEqual } from '../../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Strategy, WriteContext } from '../../registry/resource.ts';
import { runInSlices } from '../../schema/slices.ts';
import { checkCel } from '../../admission/policy/check-cel.ts';
import { validateBuiltin, validationSteps, warnings } from '../../validation/index.ts';
import type { DecodeObject, ObjectDecoder } from '../decode/decode.ts';
import { withoutNulls, withoutNullsInSlices } from './without-nulls.ts';

type Prepare = (object: Json, old: Json, context: WriteContext) => void;

/** What makes one kind different from the rest. Everything left out is as most kinds of kube-apiserver have it. */
export interface KindBehaviour {
  nameRule?: Strategy['nameRule'];
  allowCreateOnUpdate?: boolean;
  allowUnconditionalUpdate?: boolean;
  /** metadata.generation counts the changes of everything but metadata and status. */
  tracksGeneration?: boolean;
  /** Whether a change of metadata alone counts for the generation too. */
  metadataCounts?: (object: KubeObject, old: KubeObject) => boolean;
  /** A status given on create is kept. */
  keepsStatus?: boolean;
  resetFields?: Strategy['resetFields'];
  gracePeriod?: Strategy['gracePeriod'];
  defaultPropagation?: Strategy['defaultPropagation'];
  /** `onCreate` and `onUpdate` may add fields: the object is decoded once more, so that fields always stand in the same order. */
  addsFields?: boolean;
  onCreate?: (object: Json, context: WriteContext) => void;
  /** Before the generation is decided, so that what it sets counts. */
  onUpdate?: Prepare;
  /** Per subresource, what happens to an update instead of keeping everything but the status. */
  subresources?: Record<string, Prepare>;
}

export interface StandardOptions {
  kind: { group: string; kind: string };
  decoder: ObjectDecoder;
  /** Has a status that only its subresource may write. */
  hasStatus: boolean;
  behaviour: KindBehaviour;
}

const IGNORED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

export function standardStrategy(options: StandardOptions): Strategy {
  const { kind, behaviour, hasStatus, decoder } = options;
  const strategy: Strategy = {
    decode: decoder.decode,
    decodeLarge: decoder.decodeLarge,
    prepareCreate: (object, context) => prepareCreate(options, object, context),
    prepareUpdate: (object, old, context) => prepareUpdate(options, object, old, context),
    validateCreate: (object, { subresource }) => validateBuiltin(kind, withoutNulls(object), undefined, { subresource, checkCel }),
    validateUpdate: (object, old, { subresource }) =>
      validateBuiltin(kind, withoutNulls(object), withoutNulls(old), { subresource, checkCel }),
    validateLarge: (object, old, { subresource }) => validateLarge(kind, object, old, subresource),
    warnings: (object, old) => warnings(kind, object, old),
    allowCreateOnUpdate: behaviour.allowCreateOnUpdate ?? false,
    allowUnconditionalUpdate: behaviour.allowUnconditionalUpdate ?? true,
    nameRule: behaviour.nameRule ?? 'dns-subdomain',
    resetFields: behaviour.resetFields ?? (hasStatus ? { '': ['status'], status: ['spec'] } : {}),
  };
  if (behaviour.gracePeriod) strategy.gracePeriod = behaviour.gracePeriod;
  if (behaviour.defaultPropagation) strategy.defaultPropagation = behaviour.defaultPropagation;
  return strategy;
}

async function validateLarge(
  kind: StandardOptions['kind'],
  object: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): Promise<FieldError[]> {
  const next: KubeObject = await runInSlices(withoutNullsInSlices(object));
  const before: KubeObject | undefined = await runInSlices(withoutNullsInSlices(old));
  return runInSlices(validationSteps(kind, next, before, { subresource, checkCel }));
}

function prepareCreate({ behaviour, hasStatus, decoder: { decode } }: StandardOptions, object: KubeObject, context: WriteContext): void {
  if (hasStatus && !behaviour.keepsStatus && object['status'] !== undefined) {
    const { apiVersion, kind } = object;
    copyField(object, decode({ apiVersion, kind, metadata: {} }, context.version), 'status');
  }
  if (behaviour.tracksGeneration) object.metadata.generation = 1;
  behaviour.onCreate?.(object, context);
  if (behaviour.addsFields) putInOrder(object, decode, context);
}

function prepareUpdate(
  { behaviour, hasStatus, decoder: { decode } }: StandardOptions,
  object: KubeObject,
  old: KubeObject,
  context: WriteContext,
): void {
  copyMetadata(object, old, 'generation');
  if (context.subresource !== '') {
    const prepare = behaviour.subresources?.[context.subresource];
    if (prepare) prepare(object, old, context);
    else keepAllBut(object, old, 'status');
    if (context.subresource === 'status' || context.subresource === 'binding') return;
  } else {
    if (hasStatus) copyField(object, old, 'status');
    behaviour.onUpdate?.(object, old, context);
    if (behaviour.addsFields) putInOrder(object, decode, context);
  }
  if (!behaviour.tracksGeneration) return;
  if (changed(object, old) || behaviour.metadataCounts?.(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function putInOrder(object: KubeObject, decode: DecodeObject, context: WriteContext): void {
  const ordered = decode(object, context.version);
  for (const field in ordered) if (field !== 'metadata') object[field] = ordered[field];
}

function changed(object: KubeObject, old: KubeObject): boolean {
  for (const field in object) if (!IGNORED.has(field) && !semanticEqual(object[field], old[field])) return true;
  for (const field in old) if (!IGNORED.has(field) && object[field] === undefined && !semanticEqual(undefined, old[field])) return true;
  return false;
}

/** Takes one field from another object, its absence included. */
export function copyField(object: Json, from: Json, field: string): void {
  if (from[field] === undefined) delete object[field];
  else object[field] = from[field];
}

export function copyMetadata(object: KubeObject, from: KubeObject, ...fields: (keyof KubeObject['metadata'])[]): void {
  for (const field of fields) copyField(object.metadata, from.metadata, field);
}

/** Takes every top-level field but metadata and the named one from the stored object: what a subresource may not touch. */
export function keepAllBut(object: KubeObject, old: KubeObject, writable: string): void {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field !== 'metadata' && field !== 'apiVersion' && field !== 'kind' && field !== writable) copyField(object, old, field);
  }
}

/** What newer kinds do with metadata on status updates: nothing of it but managed fields may change. */
export function keepMetadata(object: KubeObject, old: KubeObject): void {
  copyMetadata(object, old, 'labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp', 'generation');
}
