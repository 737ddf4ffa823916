import { isPathSegmentName } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import type { Path } from '../path.ts';

/** Which requests a webhook or policy wants to see. */
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

export function checkRule(out: Findings, rule: Json, at: Path): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  checkNotEmptyOrMixed(out, operations, 'operations', at.child('operations'));
  operations.forEach((operation: string, i: number) => {
    if (!OPERATIONS.includes(operation)) out.notSupported(at.child('operations').index(i), operation, OPERATIONS);
  });
  checkNotEmptyOrMixed(out, apiGroups, 'API groups', at.child('apiGroups'));
  checkNotEmptyOrMixed(out, apiVersions, 'API versions', at.child('apiVersions'));
  apiVersions.forEach((version: string, i: number) => {
    if (version === '') out.required(at.child('apiVersions').index(i));
  });
  checkResources(out, resources, at.child('resources'));
  if (scope !== undefined && !SCOPES.includes(scope)) out.notSupported(at.child('scope'), scope, SCOPES);
}

function checkNotEmptyOrMixed(out: Findings, values: string[], what: string, at: Path): void {
  if (values.length === 0) out.required(at);
  if (values.length > 1 && values.includes('*')) out.invalid(at, values, `if '*' is present, must not specify other ${what}`);
}

function checkResources(out: Findings, resources: string[], at: Path): void {
  if (resources.length === 0) out.required(at);
  const allSubresourcesOf = new Set<string>();
  const subresourceOfAll = new Set<string>();
  let plain = false;
  resources.forEach((text, i) => {
    if (text === '') return out.required(at.index(i));
    const slash = text.indexOf('/');
    if (slash < 0) {
      plain = text !== '*';
      return;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (allSubresourcesOf.has(resource)) out.invalid(at.index(i), text, `if '${resource}/*' is present, must not specify ${text}`);
    if (subresourceOfAll.has(subresource)) out.invalid(at.index(i), text, `if '*/${subresource}' is present, must not specify ${text}`);
    if (subresource === '*') allSubresourcesOf.add(resource);
    if (resource === '*') subresourceOfAll.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    out.invalid(at, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes('*') && plain) {
    out.invalid(at, resources, "if '*' is present, must not specify other resources without subresources");
  }
}

export function checkNamedRule(out: Findings, rule: Json, at: Path): void {
  const seen = new Set<string>();
  (rule.resourceNames ?? []).forEach((name: string, i: number) => {
    out.invalidEach(at.child('resourceNames').index(i), name, isPathSegmentName(name));
    if (seen.has(name)) out.duplicate(at.child('resourceNames').index(i), name);
    seen.add(name);
  });
  checkRule(out, rule, at);
}
