import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinResources } from '../../src/engine/apiserver/builtin/index.ts';
import type { Resource } from '../../src/engine/apiserver/registry/resource.ts';
import { toApiVersion, type Json } from '../../src/kube/object.ts';
import { SAMPLES } from '../../tools/generate-kubernetes/samples/samples.ts';
import { connect, type Server } from '../../tools/generate-kubernetes/server.ts';
import { REQUESTS } from './builtin-requests.ts';
import { STATUSES } from './builtin-statuses.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

let controlPlane: ControlPlane;
let server: Server;

beforeAll(async () => {
  controlPlane = await startControlPlane({ flags: ['--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection'] });
  server = connect(controlPlane.url, controlPlane.ca, controlPlane.adminToken);
  for (const { collection, object } of STATUSES) await createWithStatus(collection, object);
  // Webhooks come last: nobody answers them, so nothing can be created after them.
  const isWebhook = ({ object }: { object: Json }): boolean => object.kind.endsWith('WebhookConfiguration');
  const objects = [...REQUESTS, ...SAMPLES.filter((sample) => !isWebhook(sample)), ...SAMPLES.filter(isWebhook)];
  for (const [index, { collection, object }] of objects.entries()) {
    await server.call('POST', collection, KEEPS_NAME.has(object.kind) ? object : renamed(object, index));
  }
});

afterAll(async () => {
  server?.close();
  await controlPlane?.stop();
});

/** Kinds whose name says what they are. */
const KEEPS_NAME = new Set(['CustomResourceDefinition', 'APIService']);

function renamed(object: Json, index: number): Json {
  return { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-${index}` } };
}

async function createWithStatus(collection: string, object: Json): Promise<void> {
  const created = await server.call('POST', collection, object);
  expect(created.status, created.text).toBe(201);
  const updated = await server.call('PUT', `${collection}/${object.metadata.name}/status`, { ...created.body, status: object.status });
  expect(updated.status, updated.text).toBe(200);
}

function pathOf({ group, version, resource }: Resource): string {
  return group === '' ? `/api/${version}/${resource}` : `/apis/${toApiVersion(group, version)}/${resource}`;
}

const AGE = /^\d+[smhdy]\d*[smhd]?$|^<invalid>$/;

/** Ages are read at different moments. */
function comparable(cells: Json[]): Json[] {
  return cells.map((cell) => (typeof cell === 'string' && AGE.test(cell) ? '(age)' : cell));
}

const listable = builtinResources().filter((resource) => resource.verbs.includes('list'));

test.each(listable.map((resource) => [`${resource.resource} of ${toApiVersion(resource.group, resource.version)}`, resource] as const))(
  '%s are printed as kube-apiserver prints them',
  async (_name, resource) => {
    const table = await server.get(`${pathOf(resource)}?includeObject=Object`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    const expected = table.columnDefinitions.map(({ name, type, format, priority }: Json) => ({ name, type, format, priority }));
    expect(resource.columns.map(({ name, type, format, priority }) => ({ name, type, format, priority }))).toEqual(expected);
    for (const row of table.rows) {
      // kube-apiserver prints IPAddresses with an age that has no column, and autoscalers of v1 with the metrics of v2 in their order there.
      const shown = row.cells.slice(0, resource.columns.length);
      const cells = resource.columns.map((column, index) =>
        column.name === 'Targets' && resource.version === 'v1' ? shown[index] : column.cell(row.object, new Date()),
      );
      expect(comparable(cells), row.object.metadata.name).toEqual(comparable(shown));
    }
  },
);
