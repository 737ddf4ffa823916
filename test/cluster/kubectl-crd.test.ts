import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, type Workbench } from './kubectl.ts';

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example}
spec:
  group: shop.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Size, type: string, jsonPath: .spec.size}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Phase, type: string, jsonPath: .status.phase, priority: 1}
    selectableFields: [{jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        description: Widget is a thing in a shop.
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations: [{rule: "self.replicas <= self.max", message: replicas must not exceed max}]
            properties:
              size: {type: string, enum: [small, big], description: How big it is., x-kubernetes-validations: [{rule: self == oldSelf, message: size is immutable}]}
              replicas: {type: integer, minimum: 0, default: 1}
              max: {type: integer, default: 10}
              parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}}
          status: {type: object, properties: {phase: {type: string}, replicas: {type: integer}}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;
const widget = (spec: string) => `{apiVersion: shop.example/v1, kind: Widget, metadata: {name: one}, spec: ${spec}}`;

/** The tests are one story: each goes on where the one before it ended. */
describe('a CustomResourceDefinition', () => {
  let bench: Workbench;
  const works = (line: string, stdin?: string) => bench.works(line, stdin);
  const fails = (line: string, stdin?: string) => bench.fails(line, stdin);
  const patch = (change: string, more = '') => `patch wd one --type=merge ${more} -p '${change}'`;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench?.close());

  test('is established as soon as it is applied', async () => {
    expect(await works('apply -f -', DEFINITION)).toBe('customresourcedefinition.apiextensions.k8s.io/widgets.shop.example created\n');
    await works('wait crd/widgets.shop.example --for=condition=Established --timeout=10s');
    expect(await works('api-resources --api-group=shop.example')).toMatch(/^widgets +wd +shop\.example\/v1 +true +Widget$/m);
  });

  test('explains its kind', async () => {
    expect(await works('explain widget')).toContain('Widget is a thing in a shop.');
    expect(await works('explain wd.spec.size')).toMatch(/FIELD: size <string>\nENUM:\n +small\n +big\n\nDESCRIPTION:\n +How big it is\./);
    expect(await works('explain wd.spec --output=plaintext-openapiv2')).toContain('size\t<string> -required-');
  });

  test('fills in defaults and shows its columns', async () => {
    expect(await works('create -f -', widget('{size: small, parts: [{name: a}]}'))).toBe('widget.shop.example/one created\n');
    expect(await works('get wd')).toMatch(/^NAME +SIZE +REPLICAS\none +small +1\n$/);
    expect(await works("get wd one -o jsonpath='{.spec.max}'")).toBe('10');
    expect(await works('get all')).toContain('widget.shop.example/one');
    expect(await works('get wd --field-selector=spec.size=small -o name')).toBe('widget.shop.example/one\n');
  });

  test.each([
    ['a value outside an enum', '{size: huge}', 'spec.size: Unsupported value: "huge": supported values: "small", "big"'],
    ['a field it does not know', '{size: big, colour: red}', 'unknown field "spec.colour"'],
    ['a field that is missing', '{}', 'spec.size: Required value'],
    ['what a rule forbids', '{size: small, replicas: 11}', 'spec: Invalid value: replicas must not exceed max'],
    ['what a rule forbids to change', '{size: big}', 'spec.size: Invalid value: "big": size is immutable'],
    [
      'a wrong type',
      '{size: small, replicas: x}',
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
  ])('refuses %s', async (_name, spec, complaint) => {
    expect(await fails('replace -f -', widget(spec))).toContain(complaint);
  });

  test('keeps status and spec apart', async () => {
    await works(patch('{"status":{"phase":"Lost"}}'));
    expect(await works("get wd one -o jsonpath='{.status.phase}'")).toBe('');
    await works(patch('{"status":{"phase":"Ready"},"spec":{"max":99}}', '--subresource=status'));
    expect(await works("get wd one -o jsonpath='{.status.phase} {.spec.max} {.metadata.generation}'")).toBe('Ready 10 1');
    expect(await works('get wd -o wide')).toMatch(/small +1 +Ready/);
  });

  test('scales, within its rules', async () => {
    expect(await works('scale wd one --replicas=5')).toBe('widget.shop.example/one scaled\n');
    expect(await fails('scale wd one --replicas=50')).toContain('replicas must not exceed max');
    expect(await works("get wd one -o jsonpath='{.spec.replicas}'")).toBe('5');
  });

  test('merges lists by their keys in a server-side apply', async () => {
    await works(
      'apply --server-side --field-manager=two -f -',
      widget('{parts: [{name: b, count: 2}]}').replace('spec: {', 'spec: {size: small, '),
    );
    expect(await works("get wd one -o jsonpath='{.spec.parts[*].name}'")).toBe('a b');
  });

  test('serves its older version with a warning', async () => {
    const { err, out } = await bench.kubectl(['get', 'widgets.v1beta1.shop.example', 'one', '-o', 'yaml']);
    expect(err).toBe('Warning: shop.example/v1beta1 Widget is deprecated; use shop.example/v1 Widget\n');
    expect(out).toContain('apiVersion: shop.example/v1beta1');
  });

  test('waits for the finalizers of its objects before it goes', async () => {
    await works(patch('{"metadata":{"finalizers":["shop.example/hold"]}}'));
    expect(await fails('delete crd widgets.shop.example --timeout=1s')).toContain('timed out waiting for the condition');
    expect(await fails('create -f -', widget('{size: big}').replace('name: one', 'name: two'))).toContain(
      'create not allowed while custom resource definition is terminating',
    );
    await works(patch('{"metadata":{"finalizers":null}}'));
    await works('wait crd/widgets.shop.example --for=delete --timeout=20s');
    expect(await fails('get wd')).toMatch(/doesn't have a resource type|could not find the requested resource/);
  });

  test('may be as large as 730 KB', async () => {
    const field = { type: 'object', description: 'd'.repeat(300), properties: { a: { type: 'string' }, b: { type: 'integer' } } };
    const properties = Object.fromEntries(Array.from({ length: 1800 }, (_, index) => [`field${index}`, field]));
    const definition = JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'bigs.shop.example' },
      spec: {
        group: 'shop.example',
        scope: 'Cluster',
        names: { plural: 'bigs', singular: 'big', kind: 'Big' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
          },
        ],
      },
    });
    expect(definition.length).toBeGreaterThan(730_000);
    await works('apply --server-side -f -', definition);
    await works('wait crd/bigs.shop.example --for=condition=Established --timeout=20s');
    expect(await works('explain big.spec.field1799')).toContain('FIELD: field1799 <Object>');
    expect(await fails('create -f -', '{apiVersion: shop.example/v1, kind: Big, metadata: {name: b}, spec: {field7: {b: x}}}')).toContain(
      'spec.field7.b',
    );
    await works('create -f -', '{apiVersion: shop.example/v1, kind: Big, metadata: {name: b}, spec: {field7: {b: 1}}}');
    await works('delete crd bigs.shop.example --timeout=20s');
  });
});
