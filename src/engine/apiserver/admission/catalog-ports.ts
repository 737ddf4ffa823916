import { parseApiVersion, type GroupVersionKind, type GroupVersionResource, type KubeObject } from '../../../kube/object.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { Resource } from '../registry/resource.ts';
import type { AdmissionRequest } from './admission.ts';
import type { ResourceOfKind } from './policy/params.ts';
import { schemaType } from './policy/schema-type.ts';
import type { TypeCheckPorts } from './policy/type-checking.ts';
import type { Equivalents } from './webhook/webhook-index.ts';

/** What admission needs to know of the server's resources, answered by the catalog. */

export function catalogEquivalents(catalog: Catalog): Equivalents {
  return {
    resourcesFor(resource, subresource) {
      const own = catalog.find(resource.group, resource.version, resource.resource);
      if (!own) return [];
      return [...catalog.all()]
        .filter((other) => other.storage.group === own.storage.group && other.storage.resource === own.storage.resource)
        .map((other) => ({ resource: resourceOf(other), kind: kindOf(other, subresource) }));
    },
    convert(object, kind) {
      const { group, version } = parseApiVersion(object.apiVersion);
      const from = catalog.findKind(group, version, object.kind);
      const to = catalog.findKind(kind.group, kind.version, kind.kind);
      if (!from || !to || from === to) return object;
      const stored = from.toStorage ? from.toStorage(object) : object;
      if (!to.fromStorage) return stored;
      return stored instanceof Promise ? stored.then(to.fromStorage) : to.fromStorage(stored);
    },
  };
}

function resourceOf({ group, version, resource }: Resource): GroupVersionResource {
  return { group, version, resource };
}

function kindOf(resource: Resource, subresource: string): GroupVersionKind {
  const of = subresource === '' ? undefined : resource.subresources.find((candidate) => candidate.name === subresource);
  return of?.kind ?? { group: resource.group, version: resource.version, kind: resource.kind };
}

/** Types and defaults of an object that a webhook patched. Bodies of subresources with a shape of their own stay as they are. */
export function catalogDecode(catalog: Catalog): (request: AdmissionRequest, object: KubeObject) => KubeObject {
  return ({ resource, kind }, object) => {
    const found = catalog.find(resource.group, resource.version, resource.resource);
    return found && found.kind === kind.kind ? found.strategy.decode(object, found.version) : object;
  };
}

export function catalogResourceOfKind(catalog: Catalog): ResourceOfKind {
  return (apiVersion, kind) => {
    const { group, version } = parseApiVersion(apiVersion);
    const found = catalog.findKind(group, version, kind);
    return found && { group: found.group, resource: found.resource, namespaced: found.namespaced };
  };
}

/** What type checking of policies asks. */
export function catalogTypes(catalog: Catalog): Pick<TypeCheckPorts, 'kindOf' | 'typeOf'> {
  return {
    kindOf(group, version, resource) {
      const found = catalog.find(group, version, resource);
      return found && { group, version, kind: found.kind };
    },
    typeOf({ group, version, kind }) {
      const found = catalog.findKind(group, version, kind);
      return found && schemaType(found.schema, found.resolve, kind, true);
    },
  };
}
