import { copyInSlices, stringifyInSlices, type Sliced } from './json-slices.ts';
import { deepCopy, deepEqual, getField, isJsonObject, setField } from './json-value.ts';
import type { Json } from './object.ts';
import { badRequestError, failure, requestTooLargeError, StatusError } from './status.ts';

/** One operation of an RFC 6902 patch, read leniently: what is missing is found when the operation is applied. */
export interface JsonPatchOperation {
  op?: Json;
  path?: Json;
  from?: Json;
  value?: Json;
}

const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 * 1024 * 1024;
const FIELDS = ['op', 'path', 'from', 'value'];

/**
 * Checks that a decoded body is a JSON patch. Unknown fields of operations are reported the way field validation words them.
 * @throws StatusError BadRequest or RequestEntityTooLarge
 */
export function decodeJsonPatch(body: Json, onUnknown?: (message: string) => void): JsonPatchOperation[] {
  const prefix = onUnknown ? 'error decoding patch: ' : '';
  const target = onUnknown ? '[]handlers.jsonPatchOp' : 'jsonpatch.Patch';
  if (!Array.isArray(body)) throw badRequestError(`${prefix}json: cannot unmarshal ${goKind(body)} into Go value of type ${target}`);
  body.forEach((operation, index) => {
    if (!isJsonObject(operation)) {
      const element = onUnknown ? 'handlers.jsonPatchOp' : 'jsonpatch.Operation';
      throw badRequestError(`${prefix}json: cannot unmarshal ${goKind(operation)} into Go value of type ${element}`);
    }
    for (const field in operation) if (!FIELDS.includes(field)) onUnknown?.(`json patch unknown field "[${index}].${field}"`);
  });
  if (body.length > MAX_OPERATIONS) {
    const detail = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${body.length}`;
    throw requestTooLargeError(detail);
  }
  return body;
}

function goKind(value: Json): string {
  if (value === null) return 'null';
  return isJsonObject(value) ? 'object' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Why an operation does not apply. The API answers with one sentence for all of them; this is kept as the cause. */
class DoesNotApply extends Error {}

type Container = Record<string, Json> | Json[];

function isContainer(value: Json): value is Container {
  return typeof value === 'object' && value !== null;
}

function toIndex(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw new DoesNotApply(`strconv.Atoi: parsing "${key}": invalid syntax`);
  return Number(key);
}

/** Negative indexes count from the end. */
function position(key: string, length: number): number {
  const index = toIndex(key);
  if (index >= length || index < -length) throw new DoesNotApply(`Unable to access invalid index: ${index}: invalid index referenced`);
  return index < 0 ? index + length : index;
}

function read(container: Container, key: string): Json {
  return Array.isArray(container) ? container[position(key, container.length)] : getField(container, key);
}

function add(container: Container, key: string, value: Json): void {
  if (!Array.isArray(container)) setField(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(position(key, container.length + 1), 0, value);
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(position(key, container.length), 1);
  else if (!Object.hasOwn(container, key)) throw new DoesNotApply(`Unable to remove nonexistent key: ${key}: missing value`);
  else delete container[key];
}

const unescapeToken = (token: string): string => token.replace(/~1/g, '/').replace(/~0/g, '~');

/** The container a pointer's last token is looked up in. */
function locate(root: Json, pointer: string): { container: Container; key: string } | undefined {
  const tokens = pointer.split('/');
  if (tokens.length < 2 || !isContainer(root)) return undefined;
  let container: Container = root;
  for (const token of tokens.slice(1, -1)) {
    let next: Json;
    try {
      next = read(container, unescapeToken(token));
    } catch {
      return undefined;
    }
    if (!isContainer(next)) return undefined;
    container = next;
  }
  return { container, key: unescapeToken(tokens[tokens.length - 1]) };
}

function pointerOf(operation: JsonPatchOperation, field: 'path' | 'from'): string {
  const pointer = operation[field];
  if (typeof pointer === 'string') return pointer;
  throw new DoesNotApply(`${String(operation.op)} operation failed to decode ${field}: missing value`);
}

function locateOrFail(root: Json, pointer: string, what: string): { container: Container; key: string } {
  const place = locate(root, pointer);
  if (!place) throw new DoesNotApply(`${what} operation does not apply: doc is missing path: "${pointer}": missing value`);
  return place;
}

function replace(root: Json, operation: JsonPatchOperation): Json {
  const path = pointerOf(operation, 'path');
  if (path === '') {
    if (!isContainer(operation.value)) throw new DoesNotApply('replace operation value must be object or array');
    return deepCopy(operation.value);
  }
  const { container, key } = locateOrFail(root, path, 'replace');
  if (Array.isArray(container)) container[position(key, container.length)] = deepCopy(operation.value ?? null);
  else setField(container, key, deepCopy(operation.value ?? null));
  return root;
}

function test(root: Json, operation: JsonPatchOperation): void {
  const path = pointerOf(operation, 'path');
  let actual = root;
  if (path !== '') {
    const { container, key } = locateOrFail(root, path, 'test');
    actual = read(container, key);
  }
  // A field that is missing equals null.
  if (!deepEqual(actual ?? null, operation.value ?? null)) throw new DoesNotApply(`testing value ${path} failed: test failed`);
}

function* transfer(root: Json, operation: JsonPatchOperation, copied: { bytes: number }): Sliced<void> {
  const source = locateOrFail(root, pointerOf(operation, 'from'), String(operation.op));
  let value = read(source.container, source.key);
  if (operation.op === 'move') remove(source.container, source.key);
  else {
    copied.bytes += (yield* stringifyInSlices(value ?? null)).length;
    if (copied.bytes > MAX_COPIED_BYTES) {
      const detail = `the accumulated size increase of copy is ${copied.bytes}, exceeding the limit ${MAX_COPIED_BYTES}`;
      throw new DoesNotApply(`Unable to complete the copy, ${detail}`);
    }
    value = yield* copyInSlices(value ?? null);
  }
  const target = locateOrFail(root, pointerOf(operation, 'path'), String(operation.op));
  add(target.container, target.key, value ?? null);
}

function* applyOperation(root: Json, operation: JsonPatchOperation, copied: { bytes: number }): Sliced<Json> {
  switch (operation.op) {
    case 'add': {
      const place = locateOrFail(root, pointerOf(operation, 'path'), 'add');
      add(place.container, place.key, yield* copyInSlices(operation.value ?? null));
      return root;
    }
    case 'remove': {
      const place = locateOrFail(root, pointerOf(operation, 'path'), 'remove');
      remove(place.container, place.key);
      return root;
    }
    case 'replace':
      return replace(root, operation);
    case 'test':
      test(root, operation);
      return root;
    case 'move':
    case 'copy':
      yield* transfer(root, operation, copied);
      return root;
    default:
      throw new DoesNotApply(`Unexpected kind: ${typeof operation.op === 'string' ? operation.op : 'unknown'}`);
  }
}

const REJECTED = 'the server rejected our request due to an error in our request';

/**
 * Applies a decoded patch body. Neither the object nor the patch is changed, and the result shares nothing with them.
 * @param onUnknown told of fields that operations do not have, in the words of field validation
 * @throws StatusError BadRequest when the body is no patch, Invalid when it does not apply; its cause says which operation and why
 */
export function applyJsonPatch(object: Json, patch: Json, onUnknown?: (message: string) => void): Json {
  const work = jsonPatchSteps(object, patch, onUnknown);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** The same, pausing after each operation: ten thousand of them on a long list, or copies of copies, are work for more than one turn. */
export function* jsonPatchSteps(object: Json, patch: Json, onUnknown?: (message: string) => void): Generator<void, Json, void> {
  const operations = decodeJsonPatch(patch, onUnknown);
  const copied = { bytes: 0 };
  try {
    let root: Json = yield* copyInSlices(object);
    for (const operation of operations) {
      root = yield* applyOperation(root, operation, copied);
      yield;
    }
    return root;
  } catch (error) {
    if (!(error instanceof DoesNotApply)) throw error;
    throw new StatusError(failure('Invalid', REJECTED, {}).status, { cause: error });
  }
}
