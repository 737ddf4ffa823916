import { expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { ApiSuiteContext } from './suite.ts';

const MERGE = { contentType: 'application/merge-patch+json' };
const JSON_PATCH = { contentType: 'application/json-patch+json' };
const STRATEGIC = { contentType: 'application/strategic-merge-patch+json' };
const APPLY = { contentType: 'application/apply-patch+yaml' };

function deployment(name: string): Json {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { a: '1' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            { name: 'one', image: 'one:1' },
            { name: 'two', image: 'two:1' },
          ],
        },
      },
    },
  };
}

export function patchSuite({ target, namespace, path }: ApiSuiteContext): void {
  const make = async (name: string) => (await target().request('POST', path('deployments'), deployment(name))).body;

  it('a merge patch replaces lists and removes what is null', async () => {
    await make('merge');
    const { status, body } = await target().request(
      'PATCH',
      path('deployments', 'merge'),
      { metadata: { labels: { a: null, b: '2' } }, spec: { template: { spec: { containers: [{ name: 'two', image: 'two:2' }] } } } },
      MERGE,
    );
    expect(status).toBe(200);
    expect(body.metadata.labels).toEqual({ b: '2' });
    expect(body.spec.template.spec.containers.map((c: Json) => c.name)).toEqual(['two']);
  });

  it('a strategic merge patch merges lists by their key', async () => {
    await make('strategic');
    const { body } = await target().request(
      'PATCH',
      path('deployments', 'strategic'),
      {
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'two', image: 'two:2' },
                { name: 'one', $patch: 'delete' },
              ],
            },
          },
        },
      },
      STRATEGIC,
    );
    expect(body.spec.template.spec.containers).toMatchObject([{ name: 'two', image: 'two:2' }]);
  });

  it('a JSON patch applies its operations in order', async () => {
    await make('json');
    const { body } = await target().request(
      'PATCH',
      path('deployments', 'json'),
      [
        { op: 'test', path: '/spec/replicas', value: 2 },
        { op: 'replace', path: '/spec/replicas', value: 5 },
        { op: 'add', path: '/metadata/labels/new', value: 'x' },
        { op: 'remove', path: '/metadata/labels/a' },
      ],
      JSON_PATCH,
    );
    expect(body.spec.replicas).toBe(5);
    expect(body.metadata.labels).toEqual({ new: 'x' });
  });

  it('a JSON patch whose test fails changes nothing', async () => {
    const { status, body } = await target().request(
      'PATCH',
      path('deployments', 'json'),
      [{ op: 'test', path: '/spec/replicas', value: 99 }],
      JSON_PATCH,
    );
    expect(status).toBe(422);
    expect(body.reason).toBe('Invalid');
  });

  it('an unknown patch type is an unsupported media type', async () => {
    const { status, body } = await target().request('PATCH', path('deployments', 'json'), {}, { contentType: 'application/garbage' });
    expect(status).toBe(415);
    expect(body.reason).toBe('UnsupportedMediaType');
  });

  it('a patch with a stale resourceVersion is a conflict', async () => {
    const { status } = await target().request('PATCH', path('deployments', 'json'), { metadata: { resourceVersion: '1' } }, MERGE);
    expect(status).toBe(409);
  });

  it('apply creates, then owns, then removes what it no longer states', async () => {
    const url = path('configmaps', 'applied');
    const config = (data: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data });
    const created = await target().request('PATCH', `${url}?fieldManager=one`, config({ a: '1', b: '2' }), APPLY);
    expect(created.status).toBe(201);
    expect(created.body.metadata.managedFields[0]).toMatchObject({ manager: 'one', operation: 'Apply' });
    const updated = await target().request('PATCH', `${url}?fieldManager=one`, config({ a: '1' }), APPLY);
    expect(updated.status).toBe(200);
    expect(updated.body.data).toEqual({ a: '1' });
  });

  it('apply with a key twice is refused under strict validation, and warned about otherwise', async () => {
    const url = `${path('configmaps', 'twice-applied')}?fieldManager=one`;
    const finding = 'error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "a" already set in map';
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice-applied}\ndata:\n  a: "1"\n  a: "2"\n';
    const refused = await target().request('PATCH', `${url}&fieldValidation=Strict`, text, APPLY);
    expect(refused.body).toMatchObject({ code: 400, reason: 'BadRequest', message: `error strict decoding YAML: ${finding}` });
    const warned = await target().request('PATCH', url, text, APPLY);
    expect(warned.body.data).toEqual({ a: '2' });
    expect(warned.headers.warning).toContain('already set in map');
    const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice-applied"},\n"data":{"a":"1",\n"a":"2"}}';
    const asJson = await target().request('PATCH', `${url}&fieldValidation=Strict`, json, APPLY);
    expect(asJson.body.message).toContain('line 3: key "a" already set in map');
  });

  it('apply of a field that the kind does not have is refused whatever the validation', async () => {
    const url = `${path('configmaps', 'unknown-applied')}?fieldManager=one`;
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unknown-applied', namespace }, datum: { a: '1' } };
    for (const validation of ['Strict', 'Ignore']) {
      const { status, body } = await target().request('PATCH', `${url}&fieldValidation=${validation}`, config, APPLY);
      expect(status).toBe(500);
      expect(body.message).toBe(
        `failed to create typed patch object (${namespace}/unknown-applied; /v1, Kind=ConfigMap): .datum: field not declared in schema`,
      );
    }
  });

  it.each<[string, unknown, string]>([
    [
      'without a name',
      { apiVersion: 'v1', kind: 'ConfigMap' },
      'the name of the object (odd based on URL) was undeterminable: name must be provided',
    ],
    [
      'with another name',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } },
      'the name of the object (other) does not match the name on the URL (odd)',
    ],
    ['without a kind', { apiVersion: 'v1', metadata: { name: 'odd' } }, 'invalid object type: /v1, Kind='],
    ['of another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'odd' } }, 'invalid object type: /v1, Kind=Secret'],
    ['of another version', { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'odd' } }, 'invalid object type: /v2, Kind=ConfigMap'],
    [
      'in another namespace',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'odd', namespace: 'elsewhere' } },
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'that is a list',
      [],
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ])('apply of an object %s is refused', async (_, config, message) => {
    const { body } = await target().request('PATCH', `${path('configmaps', 'odd')}?fieldManager=one`, config, APPLY);
    expect(body).toMatchObject({ code: 400, reason: 'BadRequest', message });
  });

  it('create with a key twice in YAML is refused under strict validation', async () => {
    const text = 'metadata:\n  name: yaml-twice\ndata:\n  a: "1"\n  a: "2"\nunknown: 1\n';
    const { body } = await target().request('POST', `${path('configmaps')}?fieldValidation=Strict`, text, {
      contentType: 'application/yaml',
    });
    expect(body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 5: key "a" already set in map, unknown field "unknown"',
    });
  });

  it('apply without a field manager is refused', async () => {
    const { status, body } = await target().request(
      'PATCH',
      path('configmaps', 'applied'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } },
      APPLY,
    );
    expect(status).toBe(422);
    expect(body.message).toBe('PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch');
  });

  it('apply over the fields of another is a conflict unless forced', async () => {
    const url = path('configmaps', 'applied');
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: 'mine' } };
    const refused = await target().request('PATCH', `${url}?fieldManager=two`, config, APPLY);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }] },
    });
    const forced = await target().request('PATCH', `${url}?fieldManager=two&force=true`, config, APPLY);
    expect(forced.status).toBe(200);
    expect(forced.body.data.a).toBe('mine');
  });

  it('scale reads and writes replicas', async () => {
    await make('scaled');
    const url = `${path('deployments', 'scaled')}/scale`;
    const { body } = await target().request('GET', url);
    expect(body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 2 },
      status: { selector: 'app=scaled' },
    });
    // Without a resourceVersion: a controller may have written the Deployment meanwhile.
    const scaled = await target().request('PUT', url, {
      metadata: { name: 'scaled', namespace: body.metadata.namespace },
      spec: { replicas: 7 },
    });
    expect(scaled.body.spec.replicas).toBe(7);
    expect((await target().request('GET', path('deployments', 'scaled'))).body.spec.replicas).toBe(7);
  });
}
