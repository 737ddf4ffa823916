import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

/** The server runs in this process: if a body reached a prototype, it would show here. */
const PATH = '/api/v1/namespaces/default/configmaps';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let target: EmbeddedTarget;
beforeAll(async () => {
  target = await startEmbeddedTarget();
  await target.request('POST', PATH, { metadata: { name: 'victim' }, data: { a: 'b' } });
  await target.request('POST', DEFINITIONS, {
    metadata: { name: 'opens.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'opens', singular: 'open', kind: 'Open', listKind: 'OpenList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
});
afterAll(() => target.close());

const poison = '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}';

function protobuf(...entries: [string, string][]): string {
  const field = (number: number, bytes: string): string => String.fromCharCode((number << 3) | 2, bytes.length) + bytes;
  const data = entries.map(([key, value]) => field(2, field(1, key) + field(2, value))).join('');
  const object = field(1, field(1, 'from-protobuf')) + data;
  return `k8s\0${field(1, field(1, 'v1') + field(2, 'ConfigMap'))}${field(2, object)}`;
}

interface Poisoned {
  name: string;
  method: string;
  path: string;
  body: string;
  contentType?: string;
}

const bodies: Poisoned[] = [
  {
    name: 'a create',
    method: 'POST',
    path: PATH,
    body: `{"metadata":{"name":"c1",${poison}},"data":{"__proto__":"v","constructor":"w"},${poison}}`,
  },
  {
    name: 'a create in YAML',
    method: 'POST',
    path: PATH,
    body: 'metadata:\n  name: c2\n__proto__:\n  polluted: yes\ndata:\n  __proto__: v\n',
    contentType: 'application/yaml',
  },
  {
    name: 'a create in protobuf',
    method: 'POST',
    path: PATH,
    body: protobuf(['__proto__', 'v'], ['constructor', 'w']),
    contentType: 'application/vnd.kubernetes.protobuf',
  },
  { name: 'a PUT', method: 'PUT', path: `${PATH}/victim`, body: `{"metadata":{"name":"victim"},"data":{"__proto__":"v"},${poison}}` },
  {
    name: 'a merge patch',
    method: 'PATCH',
    path: `${PATH}/victim`,
    body: `{"data":{"__proto__":"v","toString":"w"},${poison}}`,
    contentType: MERGE,
  },
  {
    name: 'a strategic merge patch',
    method: 'PATCH',
    path: `${PATH}/victim`,
    body: `{"data":{"__proto__":"v"},${poison}}`,
    contentType: STRATEGIC,
  },
  {
    name: 'a JSON patch into __proto__',
    method: 'PATCH',
    path: `${PATH}/victim`,
    body: '[{"op":"add","path":"/__proto__/polluted","value":"yes"}]',
    contentType: JSON_PATCH,
  },
  {
    name: 'a JSON patch into constructor',
    method: 'PATCH',
    path: `${PATH}/victim`,
    body: '[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]',
    contentType: JSON_PATCH,
  },
  {
    name: 'a JSON patch that copies',
    method: 'PATCH',
    path: `${PATH}/victim`,
    body: '[{"op":"copy","from":"/data","path":"/__proto__"},{"op":"move","from":"/data","path":"/data/__proto__"}]',
    contentType: JSON_PATCH,
  },
  {
    name: 'an apply',
    method: 'PATCH',
    path: `${PATH}/applied?fieldManager=m`,
    body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"__proto__":"v","constructor":"w"}}`,
    contentType: APPLY,
  },
  {
    name: 'an apply that gives keys up',
    method: 'PATCH',
    path: `${PATH}/applied?fieldManager=m`,
    body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"hasOwnProperty":"w"}}`,
    contentType: APPLY,
  },
  { name: 'DeleteOptions', method: 'DELETE', path: `${PATH}/absent`, body: `{${poison}}` },
  {
    name: 'managedFields',
    method: 'POST',
    path: PATH,
    body: `{"metadata":{"name":"c3","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"__proto__":{"polluted":{}},"f:data":{"f:__proto__":{}}}}]}}`,
  },
  {
    name: 'a custom object',
    method: 'POST',
    path: '/apis/example.com/v1/namespaces/default/opens',
    body: `{"apiVersion":"example.com/v1","kind":"Open","metadata":{"name":"o"},"spec":{${poison}},${poison}}`,
  },
  {
    name: 'a merge patch of a custom object',
    method: 'PATCH',
    path: '/apis/example.com/v1/namespaces/default/opens/o',
    body: `{"spec":{${poison}},${poison}}`,
    contentType: MERGE,
  },
  {
    name: 'a schema',
    method: 'POST',
    path: DEFINITIONS,
    body: `{"metadata":{"name":"xs.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"xs","kind":"X"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"__proto__":{"type":"object","default":{${poison}}},"constructor":{"type":"string"}}}}}]}}`,
  },
  {
    name: 'a review',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: `{"spec":{"resourceAttributes":{"verb":"get",${poison}},${poison}}}`,
  },
  { name: 'a path', method: 'GET', path: '/apis/__proto__/constructor/prototype', body: '' },
];

it.each(bodies)('$name cannot reach a prototype', async ({ method, path, body, contentType }) => {
  const before = Reflect.ownKeys(Object.prototype).length;
  const { status } = await target.request(method, path, body === '' ? undefined : body, { contentType });
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status, 'no bug of ours').toBeLessThan(500);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(([] as unknown as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Reflect.ownKeys(Object.prototype)).toHaveLength(before);
  expect((await target.request('GET', `${PATH}/victim`)).status).toBe(200);
});

it('keys named like parts of a prototype are kept as what they are: data', async () => {
  const data = '{"__proto__":"a","constructor":"b","hasOwnProperty":"c"}';
  const made = await target.request('POST', PATH, `{"metadata":{"name":"plain"},"data":${data}}`);
  expect(made.status).toBe(201);
  const { body } = await target.request('GET', `${PATH}/plain`);
  expect(JSON.stringify(body.data)).toBe(data);
});
