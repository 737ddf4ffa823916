import { labelSelectorMatcher } from '../../../../kube/label-selector.ts';
import type { GroupResource, KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { CompiledBinding, CompiledPolicy } from './compiled-policy.ts';

/** Which resource objects of a kind are; undefined when nothing of that kind is served. */
export type ResourceOfKind = (apiVersion: string, kind: string) => (GroupResource & { namespaced: boolean }) | undefined;

/**
 * The parameters a policy is evaluated with, once for each; undefined stands for none. An empty result means that the binding
 * does not apply. @throws Error for a binding that cannot work.
 */
export function collectParams(
  policy: CompiledPolicy,
  { paramRef }: CompiledBinding,
  namespace: string,
  reader: ObjectReader,
  resourceOfKind: ResourceOfKind,
): (KubeObject | undefined)[] {
  const { paramKind } = policy;
  if (!paramKind || !paramRef) return [undefined];
  const resource = resourceOfKind(paramKind.apiVersion, paramKind.kind);
  if (!resource) throw new Error(`paramKind kind \`${paramKind.apiVersion}, Kind=${paramKind.kind}\` not known`);
  const from = paramNamespace(resource.namespaced, paramRef.namespace ?? '', namespace);
  if (paramRef.name && paramRef.selector) throw new Error('paramRef.name and paramRef.selector are mutually exclusive');
  if (!paramRef.name && !paramRef.selector) throw new Error('one of name or selector must be provided');
  const params = paramRef.name
    ? [reader.get(resource, from, paramRef.name)].filter((param) => param !== undefined)
    : reader
        .list(resource, resource.namespaced ? from : undefined)
        .filter((param) => labelSelectorMatcher(paramRef.selector).matches(param.metadata.labels));
  if (params.length === 0 && paramRef.parameterNotFoundAction === 'Deny') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return params;
}

function paramNamespace(namespaced: boolean, referenced: string, ofRequest: string): string {
  if (!namespaced) {
    if (referenced !== '') throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  if (referenced === '' && ofRequest === '') {
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  return referenced || ofRequest;
}
