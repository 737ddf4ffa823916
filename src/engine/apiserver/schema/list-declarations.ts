import type { FieldError } from '../../../kube/field-error.ts';
import { child, forbiddenValue, invalidValue, key, requiredValue, unsupportedValue } from './findings.ts';
import { internalSchema } from './internal-form.ts';
import type { CrdSchema } from './structural.ts';

/** Checks x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type against the rest of their schema. */
export function checkListDeclaration(schema: CrdSchema, path: string, atomicSets: boolean): FieldError[] {
  const found: FieldError[] = [];
  checkMapType(schema, path, found);
  const listType = schema['x-kubernetes-list-type'] ?? undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const listTypePath = child(path, 'x-kubernetes-list-type');
  if (listType !== undefined && schema.type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified';
    found.push(schema.type ? invalidValue(child(path, 'type'), schema.type, detail) : requiredValue(child(path, 'type'), detail));
  } else if (atomicSets && listType === 'set') checkSetItems(schema, path, found);
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    found.push(unsupportedValue(listTypePath, listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    found.push(listType === undefined ? requiredValue(listTypePath, detail) : invalidValue(listTypePath, listType, detail));
  }
  if (listType === 'map') checkMapList(schema, path, keys, found);
  return found;
}

function checkMapType(schema: CrdSchema, path: string, found: FieldError[]): void {
  const mapType: string | undefined = schema['x-kubernetes-map-type'] ?? undefined;
  if (mapType === undefined) return;
  if (schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-map-type is specified';
    found.push(schema.type ? invalidValue(child(path, 'type'), schema.type, detail) : requiredValue(child(path, 'type'), detail));
  }
  if (mapType !== 'atomic' && mapType !== 'granular') {
    found.push(unsupportedValue(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
}

/** Items of a set are compared whole, so they must be atomic. */
function checkSetItems(schema: CrdSchema, path: string, found: FieldError[]): void {
  const items = schema.items;
  if (!items || Array.isArray(items)) return;
  const listType = items['x-kubernetes-list-type'] ?? null;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.type === 'array' && listType !== null && listType !== 'atomic') {
    found.push(invalidValue(child(child(path, 'items'), 'x-kubernetes-list-type'), listType, detail));
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    found.push(invalidValue(child(child(path, 'items'), 'x-kubernetes-map-type'), listType, detail));
  }
}

function checkMapList(schema: CrdSchema, path: string, keys: string[], found: FieldError[]): void {
  const itemsPath = child(path, 'items');
  const keysPath = child(path, 'x-kubernetes-list-map-keys');
  if (keys.length === 0) found.push(requiredValue(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (!schema.items) {
    found.push(requiredValue(itemsPath, 'must have a schema if x-kubernetes-list-type is map'));
    return;
  }
  if (Array.isArray(schema.items)) {
    const items = internalSchema(schema).fields.Items;
    found.push(invalidValue(itemsPath, items, 'must only have a single schema if x-kubernetes-list-type is map'));
    return;
  }
  if (schema.items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    found.push(invalidValue(child(itemsPath, 'type'), schema.items.type ?? '', detail));
    return;
  }
  const seen = new Set<string>();
  for (const name of keys) {
    const properties = schema.items.properties ?? {};
    if (!Object.hasOwn(properties, name)) found.push(invalidValue(keysPath, keys, 'entries must all be names of item properties'));
    else if (properties[name].type === 'array' || properties[name].type === 'object') {
      const typePath = child(key(child(itemsPath, 'properties'), name), 'type');
      found.push(invalidValue(typePath, schema.items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (seen.has(name)) found.push(invalidValue(keysPath, keys, 'must not contain duplicate entries'));
    seen.add(name);
  }
}

/** Keys of map lists must always be there: required or defaulted, and never null; nor may items of sets and maps be null. */
export function checkMapKeys(schema: CrdSchema, path: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  const items = schema.items;
  if (!items || Array.isArray(items) || (listType !== 'set' && listType !== 'map')) return [];
  const found: FieldError[] = [];
  const itemsPath = child(path, 'items');
  if (items.nullable) {
    found.push(forbiddenValue(child(itemsPath, 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  if (listType === 'set') return found;
  for (const name of schema['x-kubernetes-list-map-keys'] ?? []) {
    if (items.properties === undefined || !Object.hasOwn(items.properties, name)) continue;
    const property = items.properties[name];
    const propertyPath = key(child(itemsPath, 'properties'), name);
    if (!(items.required ?? []).includes(name) && (property.default ?? null) === null) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      found.push(requiredValue(child(propertyPath, 'default'), detail));
    }
    if (property.nullable) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      found.push(forbiddenValue(child(propertyPath, 'nullable'), detail));
    }
  }
  return found;
}
