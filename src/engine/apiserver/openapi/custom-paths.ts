import type { Json } from '../../../kube/object.ts';
import type { Resource } from '../registry/resource.ts';

const PARAMETERS: Record<string, string> = {
  dryRun: 'When present, indicates that modifications should not be persisted.',
  fieldManager: 'fieldManager is a name associated with the actor or entity that is making these changes.',
  fieldValidation: 'fieldValidation instructs the server on how to handle objects containing unknown or duplicate fields.',
};

interface Operation {
  path: 'collection' | 'object';
  method: string;
  action: string;
  kind: 'kind' | 'list' | 'status';
  body: boolean;
  patch?: boolean;
}

const OPERATIONS: Operation[] = [
  { path: 'collection', method: 'get', action: 'list', kind: 'list', body: false },
  { path: 'collection', method: 'post', action: 'post', kind: 'kind', body: true },
  { path: 'collection', method: 'delete', action: 'deletecollection', kind: 'status', body: false },
  { path: 'object', method: 'get', action: 'get', kind: 'kind', body: false },
  { path: 'object', method: 'put', action: 'put', kind: 'kind', body: true },
  { path: 'object', method: 'patch', action: 'patch', kind: 'kind', body: true, patch: true },
  { path: 'object', method: 'delete', action: 'delete', kind: 'status', body: false },
];

const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const STATUS_DEFINITION = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';

/** The paths of a custom resource, complete enough for kubectl (explain, validation, apply) and code generators. */
export function customPaths(resource: Resource, definition: string, form: 'v2' | 'v3'): Record<string, Json> {
  const base = `/apis/${resource.group}/${resource.version}/${resource.namespaced ? 'namespaces/{namespace}/' : ''}${resource.resource}`;
  const paths: Record<string, Json> = {};
  const add = (path: string, operations: Operation[], suffix: string) => {
    const item: Json = {};
    for (const operation of operations) item[operation.method] = describe(resource, definition, operation, form, suffix);
    const names = [...(resource.namespaced ? ['namespace'] : []), ...(path.includes('{name}') ? ['name'] : [])];
    item.parameters = names.map((name) => pathParameter(name, form));
    paths[path] = item;
  };
  add(
    base,
    OPERATIONS.filter((operation) => operation.path === 'collection'),
    '',
  );
  const objectOperations = OPERATIONS.filter((operation) => operation.path === 'object');
  add(`${base}/{name}`, objectOperations, '');
  for (const { name } of resource.subresources) {
    add(
      `${base}/{name}/${name}`,
      objectOperations.filter((operation) => operation.method !== 'delete'),
      capital(name),
    );
  }
  return paths;
}

function describe(resource: Resource, definition: string, operation: Operation, form: 'v2' | 'v3', suffix: string): Json {
  const { group, version, kind } = resource;
  const target = { kind: definition, list: definition.slice(0, -resource.kind.length) + resource.listKind, status: STATUS_DEFINITION }[
    operation.kind
  ];
  const schema = { $ref: form === 'v2' ? `#/definitions/${target}` : `#/components/schemas/${target}` };
  const id = `${operation.action}${group.split('.').map(capital).join('')}${capital(version)}${resource.namespaced ? 'Namespaced' : ''}${kind}${suffix}`;
  const parameters = operation.body ? Object.entries(PARAMETERS).map(([name, text]) => queryParameter(name, text, form)) : [];
  const described: Json = {
    description: `${operation.action} ${kind}`,
    operationId: id,
    tags: [`${group.split('.').map(capital).join('')}_${version}`],
    parameters,
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
  const bodySchema = operation.patch ? { type: 'object' } : { $ref: schema.$ref };
  if (form === 'v2') {
    described.schemes = ['https'];
    described.consumes = operation.patch ? PATCH_TYPES : ['application/json', 'application/yaml'];
    described.produces = ['application/json', 'application/yaml'];
    if (operation.body) parameters.unshift({ name: 'body', in: 'body', required: true, schema: bodySchema });
    described.responses = { 200: { description: 'OK', schema }, 401: { description: 'Unauthorized' } };
    return described;
  }
  if (operation.body) {
    const types = operation.patch ? PATCH_TYPES : ['application/json', 'application/yaml'];
    described.requestBody = { required: true, content: Object.fromEntries(types.map((type) => [type, { schema: bodySchema }])) };
  }
  described.responses = {
    200: { description: 'OK', content: { 'application/json': { schema }, 'application/yaml': { schema } } },
    401: { description: 'Unauthorized' },
  };
  return described;
}

function queryParameter(name: string, description: string, form: 'v2' | 'v3'): Json {
  const type = { type: 'string', uniqueItems: true };
  return form === 'v2' ? { name, in: 'query', description, ...type } : { name, in: 'query', description, schema: type };
}

function pathParameter(name: string, form: 'v2' | 'v3'): Json {
  const type = { type: 'string', uniqueItems: true };
  const common = { name, in: 'path', required: true, description: name === 'name' ? 'name of the object' : 'object name and auth scope' };
  return form === 'v2' ? { ...common, ...type } : { ...common, schema: type };
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
