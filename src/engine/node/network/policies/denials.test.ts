import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { silentLog } from '../../../../lib/log.ts';
import { MetricsRegistry } from '../../../../lib/metrics.ts';
import { DenialReporter, denialText, parseDenials } from './denials.ts';

const pod = (name: string, namespace = 'red'): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } });
const listing = (name: string, ...elements: [(string | number)[], number][]): string =>
  JSON.stringify({
    nftables: [
      { metainfo: {} },
      { set: { name, elem: elements.map(([concat, packets]) => ({ elem: { val: { concat }, counter: { packets, bytes: 60 } } })) } },
    ],
  });

describe('denied packets', () => {
  it('are read from what nft prints', () => {
    expect(parseDenials(listing('s', [['10.1.0.1', '10.1.0.2', 'tcp', 80], 3], [['10.1.0.1', '10.1.0.2', 'icmp'], 1]), 'ingress')).toEqual([
      { direction: 'ingress', source: '10.1.0.1', destination: '10.1.0.2', protocol: 'tcp', port: 80, packets: 3 },
      { direction: 'ingress', source: '10.1.0.1', destination: '10.1.0.2', protocol: 'icmp', packets: 1 },
    ]);
    expect(parseDenials('{"nftables": [{"set": {"name": "s"}}]}', 'egress')).toEqual([]);
  });

  it('are told without the names of Pods in other namespaces', () => {
    const denial = { direction: 'egress', source: '10.1.0.1', destination: '10.1.0.2', protocol: 'udp', port: 53, packets: 1 } as const;
    expect(denialText(denial, pod('a'), ['x', 'y'], pod('b', 'blue'))).toBe(
      'Denied UDP port 53 to 10.1.0.2: no egress rule of the NetworkPolicies x, y allows it',
    );
    expect(denialText(denial, pod('a'), ['x'], pod('b'))).toContain('to 10.1.0.2 (Pod b): no egress rule of NetworkPolicy x allows it');
  });

  it('are counted by their difference, and told of again only when there are more', async () => {
    let packets = 2;
    const told: string[] = [];
    const asked: string[] = [];
    const metrics = new MetricsRegistry();
    const reporter = new DenialReporter({
      clock: new FakeClock(),
      log: silentLog,
      metrics,
      active: () => true,
      async list(what) {
        asked.push(what);
        if (what.startsWith('counter')) return JSON.stringify({ nftables: [{ metainfo: {} }, { counter: { name: 'denied', packets } }] });
        return what.endsWith(' seen_ingress') ? listing('', [['10.1.0.1', '10.1.0.2', 'tcp', 80], packets]) : listing('');
      },
      podAt: (address) => (address === '10.1.0.2' ? { pod: pod('server'), policies: ['deny'] } : undefined),
      record: (subject, message) => told.push(`${subject.metadata.name}: ${message}`),
    });
    await reporter.read();
    await reporter.read();
    packets = 5;
    await reporter.read();
    expect(told).toHaveLength(2);
    // Nothing moved the second time, so there was nothing to read.
    expect(asked).toHaveLength(5 + 1 + 5);
    expect(metrics.expose()).toContain('tenantry_network_policy_denied_packets_total{namespace="red",direction="ingress"} 5');
  });
});
