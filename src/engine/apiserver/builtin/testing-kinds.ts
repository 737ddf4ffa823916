import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Resource, WriteContext } from '../registry/resource.ts';
import { builtinResources, type BuiltinOptions } from './resources.ts';

/** For tests: finds resources by name, and takes objects through decoding and preparation as the verbs do. */
export function testingKinds(options: BuiltinOptions = {}) {
  const resources = builtinResources(options);
  const find = (name: string, group = '', version = ''): Resource => {
    const found = resources.find(
      (resource) => resource.resource === name && resource.group === group && (version === '' || resource.version === version),
    );
    if (!found) throw new Error(`Cannot find the resource "${name}.${group}": kube-apiserver does not serve it; correct the test`);
    return found;
  };
  return {
    find,
    created: (resource: Resource, object: Json, context: Partial<WriteContext> = {}): KubeObject => {
      const draft = resource.strategy.decode(object, resource.version);
      resource.strategy.prepareCreate(draft, writeContext(resource, context));
      return draft;
    },
    updated: (resource: Resource, object: Json, old: KubeObject, context: Partial<WriteContext> = {}): KubeObject => {
      const draft = resource.strategy.decode(structuredClone(object), resource.version);
      resource.strategy.prepareUpdate(draft, old, writeContext(resource, context));
      return draft;
    },
  };
}

function writeContext({ version }: Resource, context: Partial<WriteContext>): WriteContext {
  return { user: { name: 'alice', groups: ['users'] }, version, subresource: '', now: () => new Date('2024-05-06T07:08:09Z'), ...context };
}
