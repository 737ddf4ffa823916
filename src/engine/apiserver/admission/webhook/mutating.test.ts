import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { createAdmission } from '../chain.ts';
import { conditionMatcher } from '../match-conditions.ts';
import { aNamespace, aPod, aRequest, refusalOf } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { aConfiguration, aWebhook } from '../testing/webhook-configuration.ts';
import { startWebhookServer, type WebhookServer } from '../testing/webhook-server.ts';
import { mutatingWebhooks } from './mutating.ts';
import type { Equivalents } from './webhook-index.ts';

const CONFIGURATIONS = { group: 'admissionregistration.k8s.io', resource: 'mutatingwebhookconfigurations' };
const NAMESPACES = { group: '', resource: 'namespaces' };

let server: WebhookServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const patch = (...operations: Json[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const addLabel = (key: string, value = 'yes') => patch({ op: 'add', path: `/metadata/labels/${key}`, value });

async function serving(respond: (request: Json, path: string) => Json, webhooks: Json[], equivalents?: Equivalents) {
  server = await startWebhookServer(respond);
  const { port } = server;
  const objects = new ObjectsInMemory();
  objects.put(NAMESPACES, aNamespace('team'));
  webhooks.forEach((webhook, i) => objects.put(CONFIGURATIONS, aConfiguration('Mutating', `cfg-${i}`, webhook)));
  return mutatingWebhooks({
    reader: objects,
    resolve: () => ({ host: '127.0.0.1', port }),
    compileConditions: (conditions, failsOpen) => conditionMatcher(conditions, failsOpen, () => () => true),
    equivalents,
    decode: (_request, object) => ({ ...object, decoded: true }),
    newUid: () => 'u',
  });
}

const labelled = () => aRequest('pods', aPod({}, { labels: { app: 'x' } }));
const hookAt = (path: string, changes: Json = {}) => {
  const { clientConfig, ...webhook } = aWebhook({ name: `${path.slice(1)}.example.com`, ...changes });
  return { ...webhook, clientConfig: { ...clientConfig, service: { ...clientConfig.service, path } } };
};

describe('mutatingWebhooks', () => {
  it('apply patches in the order of the configurations, each on what the one before left, and decode the result', async () => {
    const plugin = await serving((_request, path) => addLabel(path.slice(1, 2)), [hookAt('/a'), hookAt('/b')]);
    const request = labelled();
    await plugin.mutate!(request);
    expect(request.object!.metadata.labels).toEqual({ app: 'x', a: 'yes', b: 'yes' });
    expect(request.object!.decoded).toBe(true);
    expect(server!.reviews[1].request.object.metadata.labels).toEqual({ app: 'x', a: 'yes' });
    expect(request.annotations['mutation.webhook.admission.k8s.io/round_0_index_1']).toBe(
      '{"configuration":"cfg-1","webhook":"b.example.com","mutated":true}',
    );
  });

  it('call a webhook with reinvocationPolicy IfNeeded again when a later one changed the object', async () => {
    const plugin = await serving(
      (request, path) => (request.object.metadata.labels[path.slice(1, 2)] ? { allowed: true } : addLabel(path.slice(1, 2))),
      [hookAt('/a', { reinvocationPolicy: 'IfNeeded' }), hookAt('/b'), hookAt('/c', { reinvocationPolicy: 'IfNeeded' })],
    );
    await createAdmission({ plugins: [plugin] }).mutate(labelled());
    expect(server!.reviews.map((review) => Object.keys(review.request.object.metadata.labels).join())).toEqual([
      'app',
      'app,a',
      'app,a,b',
      'app,a,b,c',
    ]);
  });

  it('refuse with the message of the patch when it does not apply', async () => {
    const plugin = await serving(() => patch({ op: 'add', path: '/spec/none/deep', value: 1 }), [aWebhook()]);
    expect(await refusalOf(() => plugin.mutate!(labelled()))).toBe(
      'Internal error occurred: add operation does not apply: doc is missing path: "/spec/none/deep": missing value',
    );
  });

  it('refuse a patch on a delete', async () => {
    const rules = [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
    const plugin = await serving(() => addLabel('a'), [aWebhook({ rules })]);
    const request = aRequest('pods', undefined, { operation: 'DELETE', oldObject: aPod() });
    expect(await refusalOf(() => plugin.mutate!(request))).toBe(
      'Internal error occurred: admission webhook "check.example.com" attempted to modify the object, which is not supported for this operation',
    );
  });

  it.each<[string, Json, string]>([
    [
      'no patchType',
      { allowed: true, patch: 'W10=' },
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      'no patch',
      { allowed: true, patchType: 'JSONPatch' },
      'received invalid webhook response: webhook returned response.patchType but not response.patch',
    ],
    [
      'a patch that is no JSON',
      { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('xx').toString('base64') },
      "received undecodable patch in webhook response: invalid character 'x' looking for beginning of value",
    ],
    ['another type of patch', { ...addLabel('a'), patchType: 'Merge' }, 'unsupported patch type "Merge"'],
  ])('refuse an answer with %s', async (_name, answer, message) => {
    const plugin = await serving(() => answer, [aWebhook()]);
    expect(await refusalOf(() => plugin.mutate!(labelled()))).toBe(
      `Internal error occurred: failed calling webhook "check.example.com": ${message}`,
    );
  });

  it('see the version their rules name when the same objects are served in it', async () => {
    const v2 = { group: '', version: 'v2', resource: 'pods' };
    const equivalents: Equivalents = {
      resourcesFor: (resource) => [
        { resource, kind: { group: '', version: 'v1', kind: 'Pod' } },
        { resource: v2, kind: { group: '', version: 'v2', kind: 'Pod' } },
      ],
      convert: (object, kind) => ({ ...object, apiVersion: kind.version }),
    };
    const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v2'], resources: ['pods'] }];
    const plugin = await serving(() => addLabel('a'), [aWebhook({ rules }), aWebhook({ rules, matchPolicy: 'Exact' })], equivalents);
    const request = labelled();
    await plugin.mutate!(request);
    expect(server!.reviews).toHaveLength(1);
    expect(server!.reviews[0].request).toMatchObject({ resource: v2, requestResource: { version: 'v1' }, object: { apiVersion: 'v2' } });
    expect(request.object).toMatchObject({ apiVersion: 'v1', metadata: { labels: { a: 'yes' } } });
  });
});
