import { copyInSlices, Steps, type Sliced } from './json-slices.ts';
import { deepCopy, getField, isJsonObject, setField } from './json-value.ts';
import type { Json } from './object.ts';
import { quote } from './go-text.ts';
import type { ResolveSchema, Schema } from './schema.ts';
import { badRequestError } from './status.ts';
import {
  badPatchType,
  DIRECTIVE,
  goType,
  mergeList,
  orderByDirective,
  unclassified,
  type FieldMerge,
  type MergeObjects,
} from './strategic-merge-list.ts';

/**
 * Kubernetes' own merge patch: lists marked `merge` in the schema are merged by their key instead of replaced, and directives in
 * the patch say what cannot be said by values: `$patch: delete | replace`, `$retainKeys`, `$setElementOrder/<list>`,
 * `$deleteFromPrimitiveList/<list>`. Messages and quirks are upstream's.
 */

const RETAIN_KEYS = '$retainKeys';
const SET_ORDER = '$setElementOrder';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList';

function lookUp(schema: Schema, key: string, resolve: ResolveSchema): FieldMerge {
  const property = schema.properties && getField(schema.properties, key);
  const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const node = (property ?? additional) as Schema | undefined;
  if (!node) throw unclassified(`unable to find api field in struct ${schema.type ?? 'object'} for the json field ${quote(key)}`);
  const resolved = resolve(node);
  const strategies = (node['x-kubernetes-patch-strategy'] ?? resolved['x-kubernetes-patch-strategy'] ?? '').split(',');
  return {
    strategy: strategies.find((s) => s !== 'retainKeys') ?? '',
    mergeKey: node['x-kubernetes-patch-merge-key'] ?? resolved['x-kubernetes-patch-merge-key'] ?? '',
    schema: resolved.items ? resolve(resolved.items) : resolved,
  };
}

/** What stays of a patch's value that meets nothing to merge with: nothing, if it carries a directive. */
function withoutDirectives(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withoutDirectives(item)).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key]);
    if (kept === undefined) delete value[key];
    else setField(value, key, kept);
  }
  return value;
}

function discardNulls(value: Json): void {
  if (Array.isArray(value)) value.forEach(discardNulls);
  else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      if (value[key] === null) delete value[key];
      else discardNulls(value[key]);
    }
  }
}

function setNew(draft: Record<string, Json>, key: string, value: Json): void {
  const kept = withoutDirectives(value);
  if (kept === undefined) delete draft[key];
  else setField(draft, key, kept);
}

function applyRetainKeys(draft: Record<string, Json>, patch: Record<string, Json>): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const retained = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw badRequestError('invalid patch format of retainKeys');
  const keys = new Set<Json>(retained);
  for (const key in patch) {
    if (patch[key] === null || key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER)) continue;
    if (!keys.has(key)) throw badRequestError('invalid patch format of retainKeys');
  }
  for (const key of Object.keys(draft)) if (!keys.has(key)) delete draft[key];
}

function listNameOf(directive: string, prefix: string, message: string): string {
  const slash = directive.indexOf('/');
  if (slash < 0 || directive.slice(0, slash) !== prefix) throw badRequestError(message);
  return directive.slice(slash + 1);
}

function kindOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

class StrategicMerge {
  readonly #resolve: ResolveSchema;

  constructor(resolve: ResolveSchema) {
    this.#resolve = resolve;
  }

  readonly objects: MergeObjects = (draft, patch, schema) => {
    if (Object.hasOwn(patch, DIRECTIVE)) return this.#directive(patch);
    applyRetainKeys(draft, patch);
    this.#setElementOrders(draft, patch, schema);
    for (const key of Object.keys(patch)) {
      if (key.startsWith(DELETE_FROM_LIST)) this.#deleteFromList(draft, key, patch[key], schema);
      else this.#field(draft, key, patch[key], schema);
    }
    return draft;
  };

  /** The same with pauses, walking only through objects that are large. */
  *large(draft: Record<string, Json>, patch: Record<string, Json>, schema: Schema): Sliced<Record<string, Json>> {
    if (Object.hasOwn(patch, DIRECTIVE)) return this.#directive(patch);
    applyRetainKeys(draft, patch);
    this.#setElementOrders(draft, patch, schema);
    const steps = new Steps();
    for (const key of Object.keys(patch)) {
      const change = patch[key];
      if (steps.due(change)) yield;
      const current = getField(draft, key);
      if (key.startsWith(DELETE_FROM_LIST)) this.#deleteFromList(draft, key, change, schema);
      else if (steps.heavy && isJsonObject(current) && isJsonObject(change)) yield* this.#largeField(draft, key, change, schema);
      else this.#field(draft, key, change, schema);
    }
    return draft;
  }

  *#largeField(draft: Record<string, Json>, key: string, change: Record<string, Json>, schema: Schema): Sliced<void> {
    const field = lookUp(schema, key, this.#resolve);
    setField(draft, key, field.strategy === 'replace' ? change : yield* this.large(draft[key], change, field.schema));
  }

  #directive(patch: Record<string, Json>): Record<string, Json> {
    const directive = patch[DIRECTIVE];
    if (directive === 'delete') return {};
    if (directive !== 'replace') throw badPatchType(directive, patch);
    delete patch[DIRECTIVE];
    return patch;
  }

  #field(draft: Record<string, Json>, key: string, change: Json, schema: Schema): void {
    if (change === null) {
      delete draft[key];
      return;
    }
    const current = getField(draft, key);
    if (current === undefined || kindOf(current) !== kindOf(change)) {
      discardNulls(change);
      setNew(draft, key, change);
    } else if (isJsonObject(current)) {
      const field = lookUp(schema, key, this.#resolve);
      setField(draft, key, field.strategy === 'replace' ? change : this.objects(current, change, field.schema));
    } else if (Array.isArray(current)) {
      const field = lookUp(schema, key, this.#resolve);
      setField(draft, key, field.strategy === 'merge' ? mergeList(current, change, field, this.objects) : change);
    } else setNew(draft, key, change);
  }

  #deleteFromList(draft: Record<string, Json>, directive: string, values: Json, schema: Schema): void {
    const key = listNameOf(directive, DELETE_FROM_LIST, 'invalid patch format of primitive list');
    const current = getField(draft, key);
    if (values === null) delete draft[key];
    else if (Array.isArray(current) && Array.isArray(values)) {
      const field = lookUp(schema, key, this.#resolve);
      const holdsObjects = [...current, ...values].some(isJsonObject);
      setField(
        draft,
        key,
        holdsObjects ? mergeList(current, values, field, this.objects) : current.filter((item) => !values.includes(item)),
      );
    }
  }

  /** Lists with an order directive are merged and ordered first; they leave the patch, so that the rest does not see them. */
  #setElementOrders(draft: Record<string, Json>, patch: Record<string, Json>, schema: Schema): void {
    for (const directive of Object.keys(patch)) {
      if (!directive.startsWith(SET_ORDER)) continue;
      const order = patch[directive];
      delete patch[directive];
      if (!Array.isArray(order)) throw unclassified(`expected a []interface {}, but received a ${goType(order)}`);
      const key = listNameOf(directive, SET_ORDER, 'invalid patch format of setElementOrder list');
      const current = getField(draft, key);
      const change = getField(patch, key);
      for (const list of [current, change]) {
        if (list !== undefined && !Array.isArray(list)) throw unclassified(`expected a []interface {}, but received a ${goType(list)}`);
      }
      const field = lookUp(schema, key, this.#resolve);
      const ordered = orderByDirective(
        current,
        change && { items: change, kept: () => withoutDirectives(change) },
        order,
        field,
        this.objects,
      );
      if (ordered === undefined) continue;
      setField(draft, key, ordered);
      delete patch[key];
    }
  }
}

/**
 * Applies a strategic merge patch. Neither the object nor the patch is changed, and the result shares nothing with them.
 * @throws StatusError as kube-apiserver: BadRequest for malformed directives, otherwise 500 with upstream's text
 */
export function applyStrategicMergePatch(
  object: Record<string, Json>,
  patch: Json,
  schema: Schema,
  resolve: ResolveSchema,
): Record<string, Json> {
  if (!isJsonObject(patch)) throw noObject(patch);
  return new StrategicMerge(resolve).objects(deepCopy(object), deepCopy(patch), resolve(schema));
}

/** The same with pauses, for large objects and patches. */
export function* strategicMergeSteps(
  object: Record<string, Json>,
  patch: Json,
  schema: Schema,
  resolve: ResolveSchema,
): Sliced<Record<string, Json>> {
  if (!isJsonObject(patch)) throw noObject(patch);
  const [draft, change] = [yield* copyInSlices(object), yield* copyInSlices(patch)];
  return yield* new StrategicMerge(resolve).large(draft, change, resolve(schema));
}

function noObject(patch: Json): Error {
  return badRequestError(
    `json: cannot unmarshal ${Array.isArray(patch) ? 'array' : typeof patch} into Go value of type map[string]interface {}`,
  );
}
