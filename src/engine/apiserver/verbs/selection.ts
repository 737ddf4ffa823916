import { parseFieldSelector, type FieldRequirement } from '../../../kube/field-selector.ts';
import { parseLabelSelector } from '../../../kube/label-selector.ts';
import { badRequestError } from '../../../kube/status.ts';
import type { Entry } from '../../store/store.ts';
import type { ApiRequest } from '../chain/request.ts';
import { storageKey, storagePrefix } from '../registry/keys.ts';
import type { Resource } from '../registry/resource.ts';
import type { ObjectFilter } from '../watch/filter.ts';
import type { ServerCore } from './core.ts';

/** The objects that a list, watch or deletecollection is about: namespace, label selector, field selector. */
export function selectionOf(core: ServerCore, resource: Resource, request: ApiRequest): ObjectFilter & { selective: boolean } {
  const { namespace } = request.info;
  const labelText = request.query.get('labelSelector') ?? '';
  const fieldText = request.query.get('fieldSelector') ?? '';
  const prefix = storagePrefix(resource.storage);
  let keyPrefix = resource.namespaced && namespace !== '' ? `${prefix}${namespace}/` : prefix;
  if (labelText === '' && fieldText === '') return { keyPrefix, exact: false, identity: '', selective: false };

  const labels = labelText === '' ? undefined : parseLabelSelector(labelText);
  let fields = fieldText === '' ? [] : checkedFields(resource, parseFieldSelector(fieldText));
  let exact = false;
  const named = fields.find((field) => field.field === 'metadata.name' && field.operator === '=');
  if (named !== undefined && (namespace !== '' || !resource.namespaced)) {
    keyPrefix = storageKey(resource, namespace, named.value);
    exact = true;
    fields = fields.filter((field) => field !== named);
  }
  const matches =
    labels === undefined && fields.length === 0
      ? undefined
      : (entry: Entry) =>
          (labels === undefined || labels.matches(core.cache.known(entry).labels ?? {})) &&
          (fields.length === 0 || fieldsMatch(core, resource, entry, fields));
  return { keyPrefix, exact, identity: `${labelText}|${fieldText}`, matches, selective: true };
}

function checkedFields(resource: Resource, requirements: FieldRequirement[]): FieldRequirement[] {
  for (const { field } of requirements) {
    if (field === 'metadata.name' || (field === 'metadata.namespace' && resource.namespaced)) continue;
    if (Object.hasOwn(resource.selectableFields, field)) continue;
    const known = Object.keys(resource.selectableFields).length > 0;
    throw badRequestError(
      known
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
  return requirements;
}

function fieldsMatch(core: ServerCore, resource: Resource, entry: Entry, requirements: FieldRequirement[]): boolean {
  for (const { field, operator, value } of requirements) {
    const actual = fieldValue(core, resource, entry, field);
    if ((actual === value) !== (operator === '=')) return false;
  }
  return true;
}

function fieldValue(core: ServerCore, resource: Resource, entry: Entry, field: string): string {
  if (field === 'metadata.name') return entry.key.slice(entry.key.lastIndexOf('/') + 1);
  if (field === 'metadata.namespace') {
    const end = entry.key.lastIndexOf('/');
    return entry.key.slice(entry.key.lastIndexOf('/', end - 1) + 1, end);
  }
  return core.cache.field(entry, resource, field);
}
