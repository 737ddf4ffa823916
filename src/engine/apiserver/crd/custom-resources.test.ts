import { describe, expect, it } from 'vitest';
import { isStatusError } from '../../../kube/status.ts';
import type { WriteContext } from '../registry/resource.ts';
import { runToEnd } from '../schema/slices.ts';
import { makeCustomResources } from './custom-resources.ts';
import type { CustomResourceDefinition } from './definition.ts';
import { decideNames, establishedCondition } from './naming.ts';
import { openApiSchemas } from './published-schema.ts';

function aDefinition(change: (definition: CustomResourceDefinition) => void = () => {}): CustomResourceDefinition {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.io', generation: 1 },
    spec: {
      group: 'example.io',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
      conversion: { strategy: 'None' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.replicas' },
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Born', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          selectableFields: [{ jsonPath: '.spec.color' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: { replicas: { type: 'integer', default: 1 }, color: { type: 'string' } },
                },
                status: { type: 'object', properties: { replicas: { type: 'integer' } } },
              },
            },
          },
        },
      ],
    },
  } as unknown as CustomResourceDefinition;
  change(definition);
  return definition;
}

const context = (subresource = ''): WriteContext =>
  ({ version: 'v1', subresource, user: {}, now: () => new Date(0) }) as unknown as WriteContext;

const aWidget = (fields: object): never =>
  ({ apiVersion: 'example.io/v1', kind: 'Widget', metadata: { name: 'w', generation: 3 }, ...fields }) as never;

describe('makeCustomResources', () => {
  it('gives one resource for each served version, named as accepted', () => {
    const [resource, ...others] = makeCustomResources(aDefinition());
    expect(others).toEqual([]);
    expect(resource).toMatchObject({ group: 'example.io', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true });
    expect(resource.subresources.map((subresource) => subresource.name)).toEqual(['status', 'scale']);
  });

  it('prunes, reports and defaults on decode', () => {
    const [{ strategy }] = makeCustomResources(aDefinition());
    const unknown: string[] = [];
    const object = strategy.decode(
      { apiVersion: 'example.io/v1', kind: 'Widget', metadata: { name: 'w', foo: 1 }, spec: { color: 'red', size: 3 }, other: {} },
      'v1',
      (path) => unknown.push(path),
    );
    expect(object).toEqual({ apiVersion: 'example.io/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { color: 'red', replicas: 1 } });
    expect(unknown).toEqual(['metadata.foo', 'other', 'spec.size']);
  });

  it('leaves out empty metadata, as Go does', () => {
    const [resource] = makeCustomResources(aDefinition());
    const metadata = { name: 'a', generateName: '', labels: {}, annotations: {}, finalizers: [], ownerReferences: [] };
    const decoded = resource.strategy.decode({ apiVersion: 'example.io/v1', kind: 'Widget', metadata }, 'v1');
    expect(decoded.metadata).toEqual({ name: 'a' });
  });

  it('announces no writes while its definition is going, and says so', () => {
    const going = aDefinition((definition) => {
      definition.status = { conditions: [{ type: 'Terminating', status: 'True' }] };
    });
    const [resource] = makeCustomResources(going);
    expect(resource.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
    expect(resource.terminating).toBe(true);
  });

  it('refuses metadata of a wrong type in the words of Go', () => {
    const [{ strategy }] = makeCustomResources(aDefinition());
    const decode = (): unknown => strategy.decode({ metadata: { name: 5 } }, 'v1');
    expect(decode).toThrow(
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    );
    try {
      decode();
    } catch (error) {
      expect(isStatusError(error, 'BadRequest')).toBe(true);
    }
  });

  it('drops the status of a new object and keeps it on updates of the rest', () => {
    const [{ strategy }] = makeCustomResources(aDefinition());
    const created: { status?: object; metadata: { generation?: number } } = aWidget({ spec: {}, status: { replicas: 1 } });
    strategy.prepareCreate(created as never, context());
    expect(created).toMatchObject({ metadata: { generation: 1 } });
    expect(created.status).toBeUndefined();
    const updated = aWidget({ spec: { color: 'blue' }, status: { replicas: 9 } });
    strategy.prepareUpdate(updated, aWidget({ spec: {}, status: { replicas: 2 } }), context());
    expect(updated).toMatchObject({ metadata: { generation: 4 }, status: { replicas: 2 } });
  });

  it('lets the status subresource change the status alone, without a new generation', () => {
    const [{ strategy }] = makeCustomResources(aDefinition());
    const updated = aWidget({ spec: { color: 'blue' }, status: { replicas: 9 } });
    strategy.prepareUpdate(updated, aWidget({ spec: { color: 'red' }, status: {} }), context('status'));
    expect(updated).toMatchObject({ metadata: { generation: 3 }, spec: { color: 'red' }, status: { replicas: 9 } });
  });

  it('names the field of a wrong type', () => {
    const [{ strategy }] = makeCustomResources(aDefinition());
    expect(strategy.validateCreate(aWidget({ spec: { replicas: 'two' } }), context())).toEqual([
      {
        type: 'FieldValueTypeInvalid',
        field: 'spec.replicas',
        message: 'Invalid value: "string": spec.replicas in body must be of type integer: "string"',
      },
      {
        type: 'FieldValueInvalid',
        field: '.spec.replicas',
        message: 'Invalid value: 0: .spec.replicas accessor error: two is of the type string, expected int64',
      },
    ]);
  });

  it('fills Table cells by JSONPath, with nothing where nothing is', () => {
    const [{ columns }] = makeCustomResources(aDefinition());
    const object = aWidget({ spec: { replicas: 2 }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const now = new Date('2026-01-01T00:00:00Z');
    expect(columns.map((column) => [column.name, column.cell(object, now)])).toEqual([
      ['Name', 'w'],
      ['Size', 2],
      ['Ready', 'True'],
      ['Born', null],
    ]);
  });

  it('reads and writes replicas where the scale subresource says', () => {
    const [{ scale }] = makeCustomResources(aDefinition());
    const draft: { spec?: object } = aWidget({ status: { replicas: 4 } });
    scale?.setSpecReplicas(draft as never, 7);
    expect(draft.spec).toEqual({ replicas: 7 });
    expect([scale?.specReplicas(draft as never), scale?.statusReplicas(draft as never), scale?.selector(draft as never)]).toEqual([
      7,
      4,
      '',
    ]);
  });

  it('applies new defaults to objects stored before the definition changed', () => {
    const [fresh] = makeCustomResources(aDefinition());
    expect(fresh.fromStorage).toBeUndefined();
    const [changed] = makeCustomResources(aDefinition((definition) => (definition.metadata.generation = 2)));
    const stored = Object.freeze(aWidget({ spec: Object.freeze({}) }));
    expect(changed.fromStorage?.(stored)).toMatchObject({ spec: { replicas: 1 } });
  });

  it('converts by webhook through the port and restores what a webhook may not change', async () => {
    const definition = aDefinition(({ spec }) => {
      spec.conversion = { strategy: 'Webhook' };
      spec.versions.push({ ...spec.versions[0], name: 'v2', storage: false });
    });
    const resources = makeCustomResources(definition, {
      convert: (_, objects, desired) =>
        Promise.resolve(
          objects.map((object) => ({ ...object, apiVersion: desired, metadata: { name: 'w', labels: { a: 'b' } }, spec: { color: 'x' } })),
        ),
    });
    const converted = await resources[1].fromStorage?.(aWidget({ spec: {} }));
    expect(converted).toMatchObject({ apiVersion: 'example.io/v2', metadata: { name: 'w', generation: 3, labels: { a: 'b' } } });
  });

  it('warns of a deprecated version and names the one to use', () => {
    const definition = aDefinition(({ spec }) => {
      spec.versions.push({ ...spec.versions[0], name: 'v1beta1', storage: false, deprecated: true });
    });
    expect(makeCustomResources(definition).map((resource) => resource.warning)).toEqual([
      undefined,
      'example.io/v1beta1 Widget is deprecated; use example.io/v1 Widget',
    ]);
  });
});

describe('decideNames', () => {
  it('accepts names that nobody holds, and establishes after', () => {
    const definition = aDefinition();
    const decision = decideNames(definition, []);
    expect(decision?.namesAccepted).toMatchObject({ status: 'True', reason: 'NoConflicts' });
    expect(decision?.established).toMatchObject({ status: 'False', reason: 'Installing' });
    definition.status = { acceptedNames: decision?.acceptedNames, conditions: [decision!.namesAccepted, decision!.established] };
    expect(decideNames(definition, [])).toBeUndefined();
    expect(establishedCondition(definition)).toMatchObject({ status: 'True', reason: 'InitialNamesAccepted' });
  });

  it('refuses a short name that another holds, and accepts the rest', () => {
    const other = aDefinition((definition) => {
      definition.metadata.name = 'words.example.io';
      definition.status = { acceptedNames: { plural: 'words', kind: 'Word', shortNames: ['wd'] } };
    });
    const decision = decideNames(aDefinition(), [other]);
    expect(decision?.namesAccepted).toMatchObject({ status: 'False', reason: 'ShortNamesConflict', message: '"wd" is already in use' });
    expect(decision?.acceptedNames).toMatchObject({ plural: 'widgets', kind: 'Widget' });
    expect(decision?.acceptedNames.shortNames).toBeUndefined();
  });
});

describe('openApiSchemas', () => {
  const published = (definition: CustomResourceDefinition) =>
    (['v2', 'v3'] as const).map((form) => runToEnd(openApiSchemas(definition, 'v1', form)));

  it('completes metadata, kind and apiVersion and names both models', () => {
    const [v2, v3] = published(aDefinition());
    expect(Object.keys(v3)).toEqual(['io.example.v1.Widget', 'io.example.v1.WidgetList']);
    expect(v3['io.example.v1.Widget'].properties?.metadata.allOf).toEqual([
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
    ]);
    expect(v2['io.example.v1.Widget'].properties?.metadata.$ref).toBe('#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  });

  it('leaves out of OpenAPI v2 what it cannot say', () => {
    const definition = aDefinition(({ spec }) => {
      spec.versions[0].schema = {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              required: ['a', 'b'],
              anyOf: [{ required: ['a'] }],
              properties: {
                a: { type: 'object', nullable: true, properties: { x: { type: 'string' } } },
                b: { 'x-kubernetes-int-or-string': true },
                c: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      };
    });
    const [v2, v3] = published(definition);
    expect(v2['io.example.v1.Widget'].properties?.spec).toEqual({
      type: 'object',
      required: ['b'],
      properties: { a: {}, b: { 'x-kubernetes-int-or-string': true }, c: { 'x-kubernetes-preserve-unknown-fields': true } },
    });
    expect(v3['io.example.v1.Widget'].properties?.spec.properties?.b).toEqual({
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
    });
  });
});
