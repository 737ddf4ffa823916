import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtinResources } from '../../src/engine/apiserver/builtin/index.ts';
import type { Resource } from '../../src/engine/apiserver/registry/resource.ts';
import { parseApiVersion, type Json } from '../../src/kube/object.ts';
import { invalidError, isStatusError } from '../../src/kube/status.ts';
import { SAMPLES } from '../../tools/generate-kubernetes/samples/samples.ts';
import { connect, type Server } from '../../tools/generate-kubernetes/server.ts';
import { REQUESTS } from './builtin-requests.ts';
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

const ADMIN = { name: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] };
const resources = builtinResources();

function resourceOf(object: Json): Resource {
  const { group, version } = parseApiVersion(object.apiVersion);
  return resources.find((resource) => resource.group === group && resource.version === version && resource.kind === object.kind)!;
}

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
    return fromStorage?.(stored as never) ?? stored;
  } catch (error) {
    if (isStatusError(error)) return error.message;
    throw error;
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** Leaves out what differs between any two servers: uids, times, addresses, and what admission and apply add. */
function comparable(value: Json, uid: string | undefined): Json {
  if (Array.isArray(value)) return value.map((item) => comparable(item, uid));
  if (typeof value === 'string')
    return TIME.test(value) ? '(time)' : value.replace(uid ?? '(none)', '(uid)').replace(/^10\.0\.0\.\d+$/, '(address)');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !OWNED.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, key === 'nodePort' ? '(port)' : comparable(item, uid)]));
}

const OWNED = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'namespace', 'finalizers', 'selfLink']);

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
