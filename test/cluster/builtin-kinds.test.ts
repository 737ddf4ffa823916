import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { invalidError, isStatusError } from '../../src/kube/status.ts';
import { SAMPLES } from '../../tools/generate-kubernetes/samples/samples.ts';
import { connect, type Server } from '../../tools/generate-kubernetes/server.ts';
import { ADMIN, comparable, resourceOf } from './builtin-comparison.ts';
import { REQUESTS } from './builtin-requests.ts';
import { UPDATES, type UpdateCase } from './builtin-updates.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

let controlPlane: ControlPlane;
let server: Server;

beforeAll(async () => {
  controlPlane = await startControlPlane({ flags: ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'] });
  server = connect(controlPlane.url, controlPlane.ca, controlPlane.adminToken);
});

afterAll(async () => {
  server?.close();
  await controlPlane?.stop();
});

/** What we would store and answer for a create, or the message with which we refuse it. */
function create(object: Json): Json {
  const { group, version, kind, namespaced, strategy, toStorage, fromStorage } = resourceOf(object);
  try {
    const draft = strategy.decode(structuredClone(object), version);
    draft.metadata.uid = 'uid';
    if (namespaced) draft.metadata.namespace = 'default';
    const context = { user: ADMIN, version, subresource: '', now: () => new Date() };
    strategy.prepareCreate(draft, context);
    const found = strategy.validateCreate(draft, context);
    if (found.length > 0) return invalidError({ group, kind }, draft.metadata.name ?? '', found).message;
    const stored = toStorage?.(draft) ?? draft;
    return fromStorage?.(stored as KubeObject) ?? stored;
  } catch (error) {
    if (isStatusError(error)) return error.message;
    throw error;
  }
}

describe('a create gives what kube-apiserver gives', () => {
  const cases = [...SAMPLES, ...REQUESTS];
  test.each(cases.map((sample, index) => [`${sample.object.kind} ${index}`, sample] as const))(
    '%s',
    async (_name, { collection, object }) => {
      const { status, body } = await server.call('POST', `${collection}?dryRun=All&fieldValidation=Ignore`, object);
      const ours = create(object);
      if (status !== 201) return expect(ours).toBe(body.message);
      expect(comparable(ours, 'uid')).toEqual(comparable(body, body.metadata.uid));
    },
  );
});

/** The stored object and what a write of `changed` over it gives, on the real server and with us. */
async function update({ collection, object, subresource, change }: UpdateCase): Promise<{ theirs: Json; ours: Json }> {
  const { body: old, status, text } = await server.call('POST', collection, object);
  expect(status, text).toBe(201);
  const changed = structuredClone(old);
  change(changed);
  // The server's own controllers write some of these too.
  if (resourceOf(object).strategy.allowUnconditionalUpdate) delete changed.metadata.resourceVersion;
  const path = `${collection}/${object.metadata.name}${subresource ? `/${subresource}` : ''}`;
  const answer = await server.call('PUT', path, changed);
  const { strategy, version } = resourceOf(object);
  const ours = strategy.decode(changed, version);
  strategy.prepareUpdate(ours, old, { user: ADMIN, version, subresource: subresource ?? '', now: () => new Date() });
  return { theirs: answer.body, ours };
}

test.each(UPDATES.map((item) => [item.name, item] as const))('%s: the write gives what kube-apiserver gives', async (_name, item) => {
  const { theirs, ours } = await update(item);
  expect(theirs.message).toBeUndefined();
  expect(comparable(ours, ours.metadata.uid)).toEqual(comparable(theirs, theirs.metadata.uid));
});

const ODD: Json[] = [
  {
    env: [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ],
  },
  { ports: [{ containerPort: 1 }, { containerPort: 1, hostPort: 5 }] },
];

test.each(ODD)('a Pod with %j is advised about as kube-apiserver does', async (container) => {
  const spec = { containers: [{ name: 'c', image: 'a', ...container }] };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a.b' }, spec };
  const { warning = '' } = await server.call('POST', '/api/v1/namespaces/default/pods?dryRun=All', object);
  const { strategy } = resourceOf(object);
  const ours = strategy.warnings!(strategy.decode(object, 'v1'), undefined);
  expect(ours.map((text) => `299 - ${JSON.stringify(text)}`).join(', ')).toBe(`299 - "${warning}"`);
});

test('unknown fields are named as kube-apiserver names them', async () => {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'x', label: {} },
    spec: { replica: 1, template: { spec: { containers: [{ name: 'a', imag: 'b' }] } } },
  };
  const { body } = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments?dryRun=All&fieldValidation=Strict', object);
  const found: string[] = [];
  resourceOf(object).strategy.decode(object, 'v1', (path) => found.push(`unknown field "${path}"`));
  expect(body.message).toContain(found.join(', '));
});
