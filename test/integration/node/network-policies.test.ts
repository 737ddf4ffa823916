import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Namespace, NetworkPolicy, Pod } from '../../../src/client/kinds.ts';
import { PolicyEnforcer } from '../../../src/engine/node/network/policies/enforce-policies.ts';
import { NftTable } from '../../../src/engine/node/network/ruleset/nft-table.ts';
import { KernelTable } from '../../../src/engine/node/network/testing/kernel-table.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';

// The API, the watches and the rules are real; the kernel is one that only keeps what it is told.
let engine: InMemoryEngine;
let informers: SharedInformers;
let kernel: KernelTable;
let enforcer: PolicyEnforcer;
let table: NftTable;
const addresses = new Map<string, string>();
/** Answers to lists that come late. */
let stale: KubeObject[] | undefined;

beforeAll(async () => {
  engine = await startInMemoryEngine();
  await engine.client.resource(Namespace).create({ metadata: { name: 'red' } });
  await until(() =>
    engine.client.request({ method: 'GET', path: '/api/v1/namespaces/red/serviceaccounts/default' }).then(Boolean, () => false),
  );
});
afterAll(() => engine.stop());
beforeEach(async () => {
  stale = undefined;
  addresses.clear();
  informers = new SharedInformers({ client: engine.client, log: silentLog });
  table = new NftTable('t', '');
  for (const direction of ['ingress', 'egress']) table.setChain(`denied_${direction}`, ['drop']);
  kernel = new KernelTable();
  enforcer = new PolicyEnforcer({
    client: withStaleLists(engine.client),
    clock: realClock,
    log: silentLog,
    informers,
    table,
    flush: async () => kernel.apply(table.takeChanges()),
    standIns: [],
    addressOf: (uid) => addresses.get(uid),
    nodeName: 'node',
  });
  kernel.apply(table.takeWhole());
  await enforcer.start();
});
afterEach(async () => {
  await enforcer.stop();
  await informers.stop();
  await engine.client.resource(NetworkPolicy, 'red').deleteCollection();
  await engine.client.resource(Pod, 'red').deleteCollection({ gracePeriodSeconds: 0 });
});

function withStaleLists(client: Client): Client {
  return {
    ...client,
    resource: ((kind: Json, namespace?: string) => {
      const resource = client.resource(kind, namespace);
      if (kind !== NetworkPolicy || !stale) return resource;
      return Object.assign(Object.create(resource) as object, { listAll: async () => ({ items: stale }) });
    }) as Client['resource'],
  };
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function pod(name: string, address: string | undefined, spec: Json = {}): Promise<KubeObject> {
  const object = await engine.client.resource(Pod, 'red').create({
    metadata: { name, namespace: 'red', labels: { app: name } },
    spec: { nodeName: 'node', containers: [{ name: 'main', image: 'x' }], ...spec },
  });
  if (address !== undefined) addresses.set(object.metadata.uid!, address);
  return object;
}

const deny = (name: string): Json => ({ metadata: { name }, spec: { podSelector: {}, policyTypes: ['Ingress'] } });
const reaches = (client: string, server: string): boolean => kernel.allows({ client, server, protocol: 'tcp', port: 80 });

describe('PolicyEnforcer', () => {
  it('has the policies of a Pod in the kernel when it is attached', async () => {
    await engine.client.resource(NetworkPolicy, 'red').create(deny('all'));
    const server = await pod('server', '10.1.0.2');
    await enforcer.attach(server);
    expect(reaches('10.1.0.9', '10.1.0.2')).toBe(false);
  });

  it('does not bring back a policy that is gone, because a list was older than the watch', async () => {
    const created = await engine.client.resource(NetworkPolicy, 'red').create(deny('all'));
    await until(() => enforcer.model.policyCount === 1);
    await engine.client.resource(NetworkPolicy, 'red').delete('all');
    await until(() => enforcer.model.policyCount === 0);
    stale = [created];
    await enforcer.attach(await pod('server', '10.1.0.2'));
    expect(reaches('10.1.0.9', '10.1.0.2')).toBe(true);
  });

  it('does not go back to an older state of a policy', async () => {
    const created = await engine.client.resource(NetworkPolicy, 'red').create(deny('all'));
    await engine.client.resource(NetworkPolicy, 'red').patch('all', { type: 'merge', patch: { spec: { ingress: [{}] } } });
    const server = await pod('server', '10.1.0.2');
    await enforcer.attach(server);
    expect(reaches('10.1.0.9', '10.1.0.2')).toBe(true);
    stale = [created];
    await enforcer.attach(server);
    expect(reaches('10.1.0.9', '10.1.0.2')).toBe(true);
  });

  it('takes the addresses of Pods here from where they were given out, and not from their status', async () => {
    const from = [{ podSelector: { matchLabels: { app: 'friend' } } }];
    await engine.client
      .resource(NetworkPolicy, 'red')
      .create({ metadata: { name: 'friends' }, spec: { podSelector: {}, ingress: [{ from }] } });
    await enforcer.attach(await pod('server', '10.1.0.2'));
    // It had the address once; whoever has it now is no friend.
    await pod('friend', undefined);
    const status = { podIP: '10.1.0.3', podIPs: [{ ip: '10.1.0.3' }], phase: 'Running' };
    await engine.client.resource(Pod, 'red').status.patch('friend', { type: 'merge', patch: { status } });
    await until(() => informers.get(Pod).find('red', 'friend')?.status?.podIP === '10.1.0.3');
    await enforcer.apply();
    expect(reaches('10.1.0.3', '10.1.0.2')).toBe(false);
    const away = await pod('away', undefined, { nodeName: 'another' });
    await engine.client.resource(Pod, 'red').patch('away', { type: 'merge', patch: { metadata: { labels: { app: 'friend' } } } });
    await engine.client
      .resource(Pod, 'red')
      .status.patch('away', { type: 'merge', patch: { status: { ...status, podIP: '10.2.0.1', podIPs: [{ ip: '10.2.0.1' }] } } });
    expect(away.metadata.uid).toBeDefined();
    await until(() => reaches('10.2.0.1', '10.1.0.2'));
  });

  it('keeps the rules of a Pod that is gone from the API until its address is given up', async () => {
    await engine.client.resource(NetworkPolicy, 'red').create(deny('all'));
    const server = await pod('server', '10.1.0.2');
    await enforcer.attach(server);
    await engine.client.resource(Pod, 'red').delete('server', { gracePeriodSeconds: 0 });
    await until(() => informers.get(Pod).find('red', 'server') === undefined);
    await enforcer.apply();
    expect(reaches('10.1.0.9', '10.1.0.2')).toBe(false);
    addresses.delete(server.metadata.uid!);
    enforcer.detach(server.metadata.uid!, '10.1.0.2');
    await enforcer.apply();
    expect(reaches('10.1.0.9', '10.1.0.2')).toBe(true);
  });

  it('cuts off an address until a Pod with it is known', async () => {
    enforcer.cutOff('10.1.0.2');
    await enforcer.apply();
    expect([reaches('10.1.0.9', '10.1.0.2'), reaches('10.1.0.2', '10.1.0.9')]).toEqual([false, false]);
    await enforcer.attach(await pod('server', '10.1.0.2'));
    expect([reaches('10.1.0.9', '10.1.0.2'), reaches('10.1.0.2', '10.1.0.9')]).toEqual([true, true]);
  });
});
