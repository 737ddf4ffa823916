import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../../kube/object.ts';
import { NftTable } from '../../ruleset/nft-table.ts';
import { inBlock, KernelTable, type Connection } from '../../testing/kernel-table.ts';
import { PolicyModel } from './policy-model.ts';
import type { PolicyPod } from './policy-pod.ts';

const PROBES: Pick<Connection, 'protocol' | 'port'>[] = [
  { protocol: 'tcp', port: 80 },
  { protocol: 'tcp', port: 85 },
  { protocol: 'udp', port: 80 },
  { protocol: 'icmp', port: 0 },
];

/** What Kubernetes' documentation says, read off the objects with no thought for speed. */
class Reference {
  pods = new Map<string, PolicyPod>();
  namespaces = new Map<string, Record<string, string>>();
  policies = new Map<string, KubeObject>();

  allows(connection: Connection): boolean {
    return this.#side('ingress', connection) && this.#side('egress', connection);
  }

  #side(direction: 'ingress' | 'egress', connection: Connection): boolean {
    const subject = this.#at(direction === 'ingress' ? connection.server : connection.client);
    if (!subject?.subject) return true;
    const type = direction === 'ingress' ? 'Ingress' : 'Egress';
    const isolating = [...this.policies.values()].filter(
      ({ metadata, spec }) =>
        metadata.namespace === subject.namespace && matches(spec.podSelector, subject.labels) && typesOf(spec).includes(type),
    );
    if (isolating.length === 0) return true;
    return isolating.some((policy) => (policy.spec[direction] ?? []).some((rule: Json) => this.#rule(direction, policy, rule, connection)));
  }

  #rule(direction: 'ingress' | 'egress', policy: KubeObject, rule: Json, connection: Connection): boolean {
    const peers = rule[direction === 'ingress' ? 'from' : 'to'] as Json[] | undefined;
    const other = direction === 'ingress' ? connection.client : connection.server;
    const pod = this.#at(other);
    const fits = (peer: Json): boolean => {
      if (peer.ipBlock) {
        return inBlock(other, peer.ipBlock.cidr) && !(peer.ipBlock.except ?? []).some((block: string) => inBlock(other, block));
      }
      if (!pod) return false;
      const home = peer.namespaceSelector
        ? this.namespaces.has(pod.namespace) && matches(peer.namespaceSelector, this.namespaces.get(pod.namespace)!)
        : pod.namespace === policy.metadata.namespace;
      return home && matches(peer.podSelector ?? {}, pod.labels);
    };
    if (peers?.length && !peers.some(fits)) return false;
    const ports = rule.ports as Json[] | undefined;
    return !ports?.length || ports.some((port) => this.#port(port, connection));
  }

  #port(port: Json, connection: Connection): boolean {
    const protocol = (port.protocol ?? 'TCP').toLowerCase();
    if (protocol !== connection.protocol) return false;
    if (port.port === undefined) return true;
    if (typeof port.port === 'number') return connection.port >= port.port && connection.port <= (port.endPort ?? port.port);
    const server = this.#at(connection.server);
    return server?.ports.some((p) => p.name === port.port && p.protocol === protocol && p.number === connection.port) ?? false;
  }

  #at(address: string): PolicyPod | undefined {
    return [...this.pods.values()].find(({ addresses }) => addresses.includes(address));
  }
}

function typesOf(spec: Json): string[] {
  return spec.policyTypes ?? (spec.egress ? ['Ingress', 'Egress'] : ['Ingress']);
}

function matches(selector: Json, labels: Record<string, string>): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    equal &&
    (selector.matchExpressions ?? []).every(({ key, operator, values }: Json) => {
      if (operator === 'Exists') return key in labels;
      if (operator === 'DoesNotExist') return !(key in labels);
      return (operator === 'In') === values.includes(labels[key]);
    })
  );
}

const NAMESPACES = ['north', 'south'];
const label = fc.constantFrom('a', 'b');
const selector = fc.oneof(
  fc.constant({}),
  fc.record({ matchLabels: fc.record({ app: label }) }),
  fc.record({
    matchExpressions: fc.tuple(
      fc.oneof(
        fc.record({ key: fc.constant('app'), operator: fc.constantFrom('In', 'NotIn'), values: fc.tuple(label) }),
        fc.record({ key: fc.constant('app'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
      ),
    ),
  }),
);
const block = fc.constantFrom(
  { cidr: '0.0.0.0/0' },
  { cidr: '10.1.0.0/24', except: ['10.1.0.2/31'] },
  { cidr: '10.1.0.0/30', except: ['10.1.0.0/29'] },
  { cidr: '10.1.0.4/32' },
  { cidr: 'fd00::/8' },
);
const peer: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ podSelector: selector }),
  fc.record({ namespaceSelector: selector }),
  fc.record({ namespaceSelector: selector, podSelector: selector }),
  fc.record({ ipBlock: block }),
);
const port: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { port: 80 },
  { port: 81, endPort: 90 },
  { port: 'web' },
  { port: 80, protocol: 'UDP' },
  { protocol: 'UDP' },
  { port: 'web', protocol: 'UDP' },
);
const rules = (peers: 'from' | 'to') =>
  fc.array(fc.record({ [peers]: fc.array(peer, { maxLength: 2 }), ports: fc.array(port, { maxLength: 2 }) }, { requiredKeys: [] }), {
    maxLength: 2,
  });
const spec = fc.record(
  {
    podSelector: selector,
    policyTypes: fc.constantFrom(['Ingress'], ['Egress'], ['Ingress', 'Egress']),
    ingress: rules('from'),
    egress: rules('to'),
  },
  { requiredKeys: ['podSelector'] },
);
const number = fc.integer({ min: 1, max: 5 });
const namespace = fc.constantFrom(...NAMESPACES);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('policy' as const), namespace, number: fc.integer({ min: 1, max: 3 }), spec }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('no policy' as const), namespace, number: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pod' as const),
      number,
      namespace,
      labels: fc.record({ app: label }, { requiredKeys: [] }),
      web: fc.constantFrom(80, 85, undefined),
      subject: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('no pod' as const), number }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('namespace' as const), namespace, labels: fc.record({ app: label }, { requiredKeys: [] }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('no namespace' as const), namespace }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

class Subject {
  table = new NftTable('t', '');
  model: PolicyModel;
  kernel = new KernelTable();
  reference = new Reference();
  #version = 0;

  constructor() {
    for (const direction of ['ingress', 'egress']) this.table.setChain(`denied_${direction}`, ['drop']);
    this.model = new PolicyModel(this.table);
    this.kernel.apply(this.table.takeWhole());
  }

  take(next: Step): void {
    const { model, reference } = this;
    if (next.do === 'policy') {
      const metadata = { namespace: next.namespace, name: `p${next.number}`, resourceVersion: String(++this.#version) };
      const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: next.spec };
      model.setPolicy(policy);
      reference.policies.set(`${next.namespace}/p${next.number}`, policy);
    } else if (next.do === 'no policy') {
      model.deletePolicy(`${next.namespace}/p${next.number}`);
      reference.policies.delete(`${next.namespace}/p${next.number}`);
    } else if (next.do === 'pod') {
      const uid = `u${next.number}`;
      const ports = next.web === undefined ? [] : [{ name: 'web', protocol: 'tcp' as const, number: next.web }];
      // A Pod does not move; it goes and another comes.
      if (reference.pods.get(uid)?.namespace !== next.namespace) model.deletePod(uid);
      const addresses = [`10.1.0.${next.number}`];
      const pod = {
        uid,
        namespace: next.namespace,
        name: uid,
        labels: next.labels as Record<string, string>,
        addresses,
        ports,
        subject: next.subject,
      };
      model.setPod(pod);
      reference.pods.set(uid, pod);
    } else if (next.do === 'no pod') {
      model.deletePod(`u${next.number}`);
      reference.pods.delete(`u${next.number}`);
    } else if (next.do === 'namespace') {
      model.setNamespace(next.namespace, next.labels);
      reference.namespaces.set(next.namespace, next.labels);
    } else if (next.do === 'no namespace') {
      model.deleteNamespace(next.namespace);
      reference.namespaces.delete(next.namespace);
    } else this.write();
  }

  write(): void {
    for (const _ of this.model.settle());
    this.kernel.apply(this.table.takeChanges());
  }

  verdicts(judge: { allows(connection: Connection): boolean }): string[] {
    const addresses = [1, 2, 3, 4, 5, 9].map((i) => `10.1.0.${i}`);
    return addresses.flatMap((client) =>
      addresses.flatMap((server) =>
        PROBES.filter((probe) => client !== server && judge.allows({ client, server, ...probe })).map(
          ({ protocol, port: at }) => `${client} > ${server} ${protocol} ${at}`,
        ),
      ),
    );
  }
}

describe('PolicyModel', () => {
  it('lets through what the documentation says, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const subject = new Subject();
        for (const next of steps) subject.take(next);
        subject.write();
        expect(subject.verdicts(subject.kernel)).toEqual(subject.verdicts(subject.reference));
        const whole = new KernelTable();
        whole.apply(subject.table.takeWhole());
        expect([...whole.sets.keys()].sort()).toEqual([...subject.kernel.sets.keys()].sort());
        expect([...whole.chains.keys()].sort()).toEqual([...subject.kernel.chains.keys()].sort());
      }),
      { numRuns: 200 },
    );
  });

  it('leaves nothing in the table when all policies are gone', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), (steps) => {
        const subject = new Subject();
        for (const next of steps) subject.take(next);
        for (const key of subject.reference.policies.keys()) subject.model.deletePolicy(key);
        subject.write();
        expect([...subject.kernel.chains.keys()]).toEqual(['denied_ingress', 'denied_egress']);
        expect([...subject.kernel.sets.entries()].map(([name, elements]) => [name, elements.size])).toEqual([
          ['ingress_of', 0],
          ['egress_of', 0],
        ]);
      }),
      { numRuns: 100 },
    );
  });

  it('closes the namespace of a policy that cannot be read', () => {
    const subject = new Subject();
    for (const [number, home] of [
      [1, 'north'],
      [2, 'north'],
      [3, 'south'],
    ] as const) {
      subject.take({ do: 'pod', number, namespace: home, labels: {}, web: 80, subject: true });
    }
    const broken = { podSelector: { matchExpressions: [{ key: 'app', operator: 'Near' }] }, ingress: [{}] };
    subject.take({ do: 'policy', namespace: 'north', number: 1, spec: broken });
    subject.write();
    const from = (client: number, server: number): boolean =>
      subject.kernel.allows({ client: `10.1.0.${client}`, server: `10.1.0.${server}`, protocol: 'tcp', port: 80 });
    expect([from(2, 1), from(1, 3), from(3, 1), from(3, 4)]).toEqual([false, false, false, true]);
  });

  it('changes elements and no chains when a Pod comes that others select', () => {
    const subject = new Subject();
    subject.take({ do: 'pod', number: 1, namespace: 'north', labels: { app: 'a' }, web: 80, subject: true });
    const from = [{ podSelector: { matchLabels: { app: 'b' } } }];
    subject.take({ do: 'policy', namespace: 'north', number: 1, spec: { podSelector: {}, ingress: [{ from }] } });
    subject.write();
    subject.take({ do: 'pod', number: 2, namespace: 'north', labels: { app: 'b' }, web: 80, subject: true });
    for (const _ of subject.model.settle());
    const lines = subject.table.takeChanges().trim().split('\n');
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['add element', 'add element']);
  });
});
