import { DNS_EGRESS } from '../../../kube/network-policy-rules.ts';
import type { PluginManifest } from '../../../api/adapstory.com/v1/plugin-manifest.ts';
import { TARGET_LABEL_PREFIX } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { GATEWAY_PODS, GATEWAY_PORT } from '../gateway/gateway-service.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';
import { publicPart } from './private-ranges.ts';

/** Where a backend of the plugin answers: its database, a broker. */
export interface BackendAddress {
  cidr: string;
  port: number;
}

/**
 * Nothing in and nothing out but what is named: out to DNS, the declared parts of the platform and addresses, and its own backends; in
 * from the gateway to the port of the plugin. Probes come from the node, which policies do not keep out. While versions take over from each
 * other, each of them may do what any of them declares: the old one answers requests until the end.
 */
export function networkPolicies(
  target: Target,
  backends: readonly BackendAddress[] = [],
  versions: readonly Target[] = [target],
): KubeObject[] {
  const ports = distinct(versions.flatMap(({ manifest }) => manifest.spec.runtime.startupProbe?.port ?? []));
  const policy = (name: string, spec: object): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels: labelsOf(target, 'network') },
    spec: { podSelector: {}, ...spec },
  });
  const egress = versions.map(({ manifest }) => manifest.spec.egress ?? {});
  const declared = distinct(egress.flatMap(({ to = [] }) => to)).map((name) => ({
    to: platformPart(name),
    ...(PORTS[name] === undefined ? {} : { ports: PORTS[name].map(tcp) }),
  }));
  const outside = distinct(
    egress.flatMap(({ cidrs = [] }) => cidrs).map((each) => ({ to: [{ ipBlock: publicPart(each.cidr) }], ports: each.ports.map(tcp) })),
  );
  const own = backends.map(({ cidr, port: at }) => ({ to: [{ ipBlock: { cidr } }], ports: [tcp(at)] }));
  const from = [{ from: platformPart('gateway'), ...(ports.length === 0 ? {} : { ports: ports.map(tcp) }) }];
  return [
    policy('default-deny', { policyTypes: ['Ingress', 'Egress'] }),
    policy('plugin-egress', { policyTypes: ['Egress'], egress: [DNS_EGRESS, ...declared, ...outside, ...own] }),
    policy('plugin-ingress', { policyTypes: ['Ingress'], ingress: from }),
  ];
}

/** Where a part of the platform answers when everybody knows that; of the others the platform's own policies may say more. */
const PORTS: Record<string, number[] | undefined> = { gateway: [GATEWAY_PORT], otlp: [4317, 4318] };

/** Each once, in the order of the first. */
function distinct<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

function tcp(port: number): Json {
  return { protocol: 'TCP', port };
}

/** A tenant's namespace is no part of the platform, whatever its labels say. The gateway of the chart needs no label: it is known by name. */
function platformPart(name: string): Json[] {
  const namespaceSelector = {
    matchLabels: { [`${TARGET_LABEL_PREFIX}${name}`]: 'true' },
    matchExpressions: [{ key: TENANT_LABEL, operator: 'DoesNotExist' }],
  };
  return [{ namespaceSelector }, ...(name === 'gateway' ? [GATEWAY_PODS] : [])];
}

/** Who reads or writes events needs every broker; who only says so finds them too. */
export function reachesBroker({ spec }: PluginManifest): boolean {
  const { consumes = [], produces = [] } = spec.events ?? {};
  return consumes.length + produces.length > 0 || (spec.egress?.to ?? []).includes('kafka');
}
