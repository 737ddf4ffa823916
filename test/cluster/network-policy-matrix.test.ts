import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NetworkPolicy } from '../../src/client/kinds.ts';
import type { Json } from '../../src/kube/object.ts';
import { World, type WorldPod } from './network-world.ts';

/**
 * Every kind of peer with every kind of port in both directions, with real sockets between the namespaces of Pods. What must be allowed is
 * said by tables here, and by nothing of the product.
 */
type PeerName = 'mate' | 'other' | 'guest';
type Direction = 'ingress' | 'egress';
interface Probe {
  protocol: 'TCP' | 'UDP';
  port: number;
}

const PROBES: Probe[] = [
  { protocol: 'TCP', port: 8080 },
  { protocol: 'TCP', port: 8085 },
  { protocol: 'UDP', port: 8080 },
];

/** The number behind the port name `http`, which differs from Pod to Pod. */
const HTTP: Record<PeerName | 'subject', number> = { subject: 8080, mate: 8080, other: 8085, guest: 8080 };

const PEERS: Record<string, { peers?: (addresses: Record<PeerName, string>) => Json[]; allowed: PeerName[] }> = {
  'no peers': { allowed: ['mate', 'other', 'guest'] },
  'a pod selector': { peers: () => [{ podSelector: { matchLabels: { app: 'mate' } } }], allowed: ['mate'] },
  'a pod selector with expressions': {
    peers: () => [{ podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['mate', 'subject'] }] } }],
    allowed: ['other'],
  },
  'an empty pod selector': { peers: () => [{ podSelector: {} }], allowed: ['mate', 'other'] },
  'a namespace selector': { peers: () => [{ namespaceSelector: { matchLabels: { team: 'blue' } } }], allowed: ['guest'] },
  'both selectors': {
    peers: () => [
      { namespaceSelector: {}, podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['other', 'guest'] }] } },
    ],
    allowed: ['other', 'guest'],
  },
  'an address': { peers: ({ other }) => [{ ipBlock: { cidr: `${other}/32` } }], allowed: ['other'] },
  'all addresses except one': {
    peers: ({ mate }) => [{ ipBlock: { cidr: '0.0.0.0/0', except: [`${mate}/32`] } }],
    allowed: ['other', 'guest'],
  },
};

const PORTS: Record<string, { ports?: Json[]; allows: (probe: Probe, http: number) => boolean }> = {
  'all ports': { allows: () => true },
  'a port': { ports: [{ port: 8080 }], allows: ({ protocol, port }) => protocol === 'TCP' && port === 8080 },
  'a named port': { ports: [{ port: 'http' }], allows: ({ protocol, port }, http) => protocol === 'TCP' && port === http },
  'a range of ports': { ports: [{ port: 8081, endPort: 8090 }], allows: ({ protocol, port }) => protocol === 'TCP' && port === 8085 },
  'a UDP port': { ports: [{ port: 8080, protocol: 'UDP' }], allows: ({ protocol, port }) => protocol === 'UDP' && port === 8080 },
  'a protocol': { ports: [{ protocol: 'TCP' }], allows: ({ protocol }) => protocol === 'TCP' },
};

let world: World;
let subject: WorldPod;
const peers = {} as Record<PeerName, WorldPod>;

beforeAll(async () => {
  world = await World.start();
  await world.namespace('green', { team: 'green' });
  await world.namespace('blue', { team: 'blue' });
  const make = async (namespace: string, name: PeerName | 'subject'): Promise<WorldPod> => {
    const pod = await world.pod(namespace, name, { labels: { app: name }, ports: [{ name: 'http', containerPort: HTTP[name] }] });
    await world.listen(pod, 8080);
    await world.listen(pod, 8085);
    await world.listenUdp(pod, 8080);
    return pod;
  };
  subject = await make('green', 'subject');
  peers.mate = await make('green', 'mate');
  peers.other = await make('green', 'other');
  peers.guest = await make('blue', 'guest');
}, 120_000);
afterEach(async () => {
  await world.client.resource(NetworkPolicy, 'green').deleteCollection();
});
afterAll(() => world.close());

/** Asks for all probes at once; those that should be stopped are not waited for as long as those that should not. */
async function observe(direction: Direction, expected: Record<string, boolean>): Promise<Record<string, boolean>> {
  const results = await Promise.all(
    Object.entries(peers).flatMap(([name, peer]) =>
      PROBES.map(async ({ protocol, port }) => {
        const key = `${name} ${protocol} ${port}`;
        const [from, to] = direction === 'ingress' ? [peer, subject] : [subject, peer];
        const timeout = expected[key] ? 3000 : 120;
        // A connection that the change met while it was open is reset.
        const tcp = () => world.ask(from, to.address, port, timeout).catch(() => undefined);
        const answer = await (protocol === 'TCP' ? tcp() : world.askUdp(from, to.address, port, timeout));
        return [key, answer === to.name] as const;
      }),
    ),
  );
  return Object.fromEntries(results);
}

async function expectReach(direction: Direction, expected: Record<string, boolean>): Promise<void> {
  const deadline = performance.now() + 3000;
  let observed = await observe(direction, expected);
  // The change is on its way through watch and kernel.
  while (JSON.stringify(observed) !== JSON.stringify(expected) && performance.now() < deadline)
    observed = await observe(direction, expected);
  expect(observed).toEqual(expected);
}

function allProbes(value: (peer: PeerName, probe: Probe) => boolean): Record<string, boolean> {
  return Object.fromEntries(
    (Object.keys(peers) as PeerName[]).flatMap((peer) =>
      PROBES.map((probe) => [`${peer} ${probe.protocol} ${probe.port}`, value(peer, probe)]),
    ),
  );
}

describe.each<Direction>(['ingress', 'egress'])('an %s policy', (direction) => {
  const cases = Object.keys(PEERS).flatMap((peer) => Object.keys(PORTS).map((port) => [peer, port] as const));

  it.each(cases)('with %s and %s lets through what it says and nothing else', async (peerKind, portKind) => {
    const { peers: peersOf, allowed } = PEERS[peerKind];
    const { ports, allows } = PORTS[portKind];
    const addresses = { mate: peers.mate.address, other: peers.other.address, guest: peers.guest.address };
    const list = peersOf?.(addresses);
    const rule = { ...(list ? { [direction === 'ingress' ? 'from' : 'to']: list } : {}), ...(ports ? { ports } : {}) };
    const types = direction === 'ingress' ? ['Ingress'] : ['Egress'];
    await world.policy('green', 'case', { podSelector: { matchLabels: { app: 'subject' } }, policyTypes: types, [direction]: [rule] });
    const expected = allProbes((peer, probe) => {
      const named = HTTP[direction === 'ingress' ? 'subject' : peer];
      return allowed.includes(peer) && allows(probe, named);
    });
    await expectReach(direction, expected);
    // The other direction is not isolated.
    const [asker, answerer] = direction === 'ingress' ? [subject, peers.mate] : [peers.mate, subject];
    expect(await world.ask(asker, answerer.address, 8080, 3000)).toBe(answerer.name);
  });

  it('without rules stops everything, and nothing once it is gone', async () => {
    const types = direction === 'ingress' ? ['Ingress'] : ['Egress'];
    await world.policy('green', 'deny', { podSelector: {}, policyTypes: types });
    await expectReach(
      direction,
      allProbes(() => false),
    );
    await world.removePolicy('green', 'deny');
    await expectReach(
      direction,
      allProbes(() => true),
    );
  });
});
