import type { FieldError } from '../../../kube/field-error.ts';
import { quote } from '../../../kube/go-text.ts';
import { semanticEqual } from '../../../kube/json-value.ts';
import { isQualifiedName } from '../../../kube/names.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError } from '../../../kube/status.ts';
import { hasRules, RuleNode } from '../cel/rule-validation.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { decodeBySchema } from '../schema/decode.ts';
import { invalidValue } from '../schema/findings.ts';
import { MetadataTypeError, readObjectMeta } from '../schema/object-meta.ts';
import { SchemaNode } from '../schema/schema-node.ts';
import { runBriefly } from '../schema/brief-work.ts';
import { Pace, runInSlices, runToEnd, type Sliced } from '../schema/slices.ts';
import { checkCustomObject } from './custom-check.ts';
import type { CustomResourceDefinition, DefinitionVersion } from './definition.ts';

/** What the strategy knows of one version, prepared when a request first uses it. */
export interface VersionShape {
  version: DefinitionVersion;
  kind: string;
  apiVersion: string;
  /** Undefined when nothing is pruned or checked: an old CRD without schema. */
  node?: SchemaNode;
  /** Undefined when the schema has no rules. */
  rules?: RuleNode;
  prunes: boolean;
  hasStatus: boolean;
}

/** The strategy of all versions of a custom resource. */
export function customStrategy(definition: CustomResourceDefinition): Strategy {
  const shapes = new Map<string, VersionShape>();
  const shapeOf = (version: string): VersionShape => {
    let shape = shapes.get(version);
    if (shape === undefined) {
      shape = makeShape(definition, version);
      shapes.set(version, shape);
    }
    return shape;
  };
  const anyStatus = definition.spec.versions.some((version) => Boolean(version.subresources?.status));
  return {
    decode: (object, version, onUnknown) => runToEnd(decodeCustom(shapeOf(version), object, onUnknown)),
    decodeLarge: (object, version, onUnknown) => runInSlices(decodeCustom(shapeOf(version), object, onUnknown)),
    prepareCreate(object, context) {
      if (shapeOf(context.version).hasStatus) delete object.status;
      object.metadata.generation = 1;
    },
    prepareUpdate: (object, old, context) => prepareUpdate(shapeOf(context.version), object, old, context),
    validateCreate: (object, context) => runToEnd(checkCustomObject(shapeOf(context.version), object, undefined, '')),
    validateUpdate: (object, old, context) => runToEnd(checkCustomObject(shapeOf(context.version), object, old, context.subresource)),
    validateLarge: (object, old, context) => runBriefly(checkCustomObject(shapeOf(context.version), object, old, context.subresource)),
    warnings: finalizerWarnings,
    allowUnconditionalUpdate: false,
    nameRule: 'dns-subdomain',
    resetFields: anyStatus ? { '': ['status'], status: ['spec'] } : {},
  };
}

function makeShape(definition: CustomResourceDefinition, name: string): VersionShape {
  const version = definition.spec.versions.find((candidate) => candidate.name === name);
  if (version === undefined) {
    throw new Error(`Cannot serve version "${name}" of "${definition.metadata.name}": the definition has no such version; reload it`);
  }
  const schema = version.schema?.openAPIV3Schema;
  const node = schema ? new SchemaNode(schema) : undefined;
  return {
    version,
    kind: definition.status?.acceptedNames?.kind || definition.spec.names.kind,
    apiVersion: `${definition.spec.group}/${name}`,
    node,
    rules: node !== undefined && hasRules(node.schema) ? new RuleNode(node, true) : undefined,
    prunes: definition.spec.preserveUnknownFields !== true,
    hasStatus: Boolean(version.subresources?.status),
  };
}

/** Unknown fields that are told apart; who sends more learns enough from these. */
const MOST_UNKNOWN = 1000;

/** Prunes, defaults and reads metadata. @throws StatusError BadRequest */
export function* decodeCustom(shape: VersionShape, object: Json, onUnknown?: (path: string) => void): Sliced<KubeObject> {
  const unknown: { metadata: string[]; fields: string[] } = { metadata: [], fields: [] };
  try {
    const metadata = readObjectMeta(object.metadata, (path) => unknown.metadata.push(`metadata.${path}`));
    if (shape.prunes) {
      const onUnknownField =
        onUnknown === undefined
          ? undefined
          : (path: string): void => void (unknown.fields.length < MOST_UNKNOWN && unknown.fields.push(path));
      yield* decodeBySchema(shape.node, object, { onUnknown: onUnknownField, pace: new Pace() });
    }
    object.metadata = metadata;
  } catch (error) {
    if (!(error instanceof MetadataTypeError)) throw error;
    const version = shape.version.name;
    throw badRequestError(`${shape.kind} in version ${quote(version)} cannot be handled as a ${shape.kind}: ${error.message}`);
  }
  if (onUnknown !== undefined) for (const path of [...unknown.metadata.sort(), ...unknown.fields.sort()]) onUnknown(path);
  return object;
}

function prepareUpdate(shape: VersionShape, object: KubeObject, old: KubeObject, context: WriteContext): void {
  if (context.subresource === 'status') {
    keepAllButStatus(object, old);
    return;
  }
  if (shape.hasStatus) copyField(object, old, 'status');
  object.metadata.generation = old.metadata.generation;
  if (changedBesidesMetadata(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  else if (object.metadata.generation === undefined) delete object.metadata.generation;
}

function copyField(object: KubeObject, from: KubeObject, field: string): void {
  if (Object.hasOwn(from, field)) object[field] = from[field];
  else delete object[field];
}

/** Through its subresource only the status changes; of the metadata, only what records who changed it. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field !== 'status' && field !== 'metadata') copyField(object, old, field);
  }
  const { managedFields, resourceVersion } = object.metadata;
  object.metadata = { ...old.metadata };
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
}

function changedBesidesMetadata(object: KubeObject, old: KubeObject): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field !== 'metadata' && !semanticEqual(object[field], old[field])) return true;
  }
  return false;
}

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function finalizerWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = (object.metadata.finalizers ?? []).filter((name) => !before.has(name)).sort();
  return added.flatMap((name) => {
    const prefix = `metadata.finalizers: ${quote(name)}: `;
    const notices = isQualifiedName(name).map((complaint) => prefix + complaint);
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return notices;
    const path = name.includes('.') ? ' including a path (/)' : '';
    const advice = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    return [...notices, prefix + advice];
  });
}

/** An object whose kind or version is not the resource's own. */
export function checkTypeMeta(shape: VersionShape, object: KubeObject): FieldError[] {
  const found: FieldError[] = [];
  if (object.kind !== shape.kind) found.push(invalidValue('kind', object.kind, `must be ${shape.kind}`));
  if (object.apiVersion !== shape.apiVersion) found.push(invalidValue('apiVersion', object.apiVersion, `must be ${shape.apiVersion}`));
  return found;
}
