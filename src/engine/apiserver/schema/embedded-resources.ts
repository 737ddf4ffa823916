import type { FieldError } from '../../../kube/field-error.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import { NAME_RULES, validateObjectMeta } from '../../../kube/metadata-validation.ts';
import { isDns1035Label } from '../../../kube/names.ts';
import type { Json } from '../../../kube/object.ts';
import { quote } from '../../../kube/go-text.ts';
import { child, index, invalidValue, key, MOST_FINDINGS, requiredValue } from './findings.ts';
import { MetadataTypeError, readObjectMeta } from './object-meta.ts';
import type { SchemaNode } from './schema-node.ts';
import type { Pace, Sliced } from './slices.ts';

/** Checks apiVersion, kind and metadata of objects that a schema embeds (x-kubernetes-embedded-resource). */
export function* checkEmbeddedResources(node: SchemaNode, value: Json, pace: Pace, path = '', isResource = false): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  yield* visit(node, value, path, pace, found, isResource);
  return found;
}

function* visit(node: SchemaNode, value: Json, path: string, pace: Pace, found: FieldError[], isResource: boolean): Sliced<void> {
  if (pace.tick()) yield;
  if (Array.isArray(value)) {
    const items = node.items;
    if (items === undefined) return;
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] === 'object' && value[at] !== null) yield* visit(items, value[at], index(path, at), pace, found, false);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  if ((node.embedded || isResource) && found.length < MOST_FINDINGS) found.push(...checkResource(value, path));
  for (const name of Object.keys(value)) {
    const below = value[name];
    if (typeof below !== 'object' || below === null) continue;
    const property = node.property(name);
    if (property !== undefined) yield* visit(property, below, child(path, name), pace, found, false);
    else if (node.additional !== undefined) yield* visit(node.additional, below, key(path, name), pace, found, false);
  }
}

function checkResource(resource: Record<string, Json>, path: string): FieldError[] {
  const found: FieldError[] = [];
  if (!Object.hasOwn(resource, 'apiVersion')) found.push(requiredValue(child(path, 'apiVersion')));
  if (!Object.hasOwn(resource, 'kind')) found.push(requiredValue(child(path, 'kind')));
  for (const name of Object.keys(resource)) {
    if (name === 'apiVersion') found.push(...checkApiVersion(resource.apiVersion, child(path, name)));
    else if (name === 'kind') found.push(...checkKind(resource.kind, child(path, name)));
    else if (name === 'metadata') found.push(...checkMetadata(resource.metadata, child(path, name)));
  }
  return found;
}

function checkApiVersion(value: Json, path: string): FieldError[] {
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string')];
  if (value === '') return [invalidValue(path, value, 'must not be empty')];
  return value.split('/').length > 2 ? [invalidValue(path, value, `unexpected GroupVersion string: ${value}`)] : [];
}

function checkKind(value: Json, path: string): FieldError[] {
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string')];
  if (value === '') return [invalidValue(path, value, 'must not be empty')];
  const complaints = isDns1035Label(value.toLowerCase());
  if (complaints.length === 0) return [];
  return [invalidValue(path, value, `may have mixed case, but should otherwise match: ${complaints.join(',')}`)];
}

function checkMetadata(value: Json, path: string): FieldError[] {
  try {
    const metadata = readObjectMeta(value, () => {});
    // Embedded objects need no name; the check of metadata asks for one.
    if (!metadata.name) metadata.name = 'fakename';
    return validateObjectMeta(metadata, Boolean(metadata.namespace), NAME_RULES['path-segment'], path);
  } catch (error) {
    if (error instanceof MetadataTypeError) return [invalidValue(path, value, error.message)];
    throw new Error(`Cannot check the metadata in ${quote(path)}: ${String(error)}`, { cause: error });
  }
}
