import { DNS_EGRESS } from '../../../kube/network-policy-rules.ts';
import { TARGET_LABEL_PREFIX } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';

/** Where the plugin's database answers. */
export interface DatabaseAddress {
  cidr: string;
  port: number;
}

/**
 * Nothing in and nothing out but what is named: out to DNS, the declared parts of the platform and addresses, and its own database; in
 * from the gateway to the port of the plugin. Probes come from the node, which policies do not keep out.
 */
export function networkPolicies(target: Target, database: readonly DatabaseAddress[] = []): KubeObject[] {
  const { egress = {}, runtime } = target.manifest.spec;
  const port = runtime.startupProbe?.port;
  const policy = (name: string, spec: object): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels: labelsOf(target, 'network') },
    spec: { podSelector: {}, ...spec },
  });
  const declared = (egress.to ?? []).map((name) => ({ to: [platformPart(name)] }));
  const outside = (egress.cidrs ?? []).map(({ cidr, ports }) => ({ to: [{ ipBlock: { cidr } }], ports: ports.map(tcp) }));
  const own = database.map(({ cidr, port: at }) => ({ to: [{ ipBlock: { cidr } }], ports: [tcp(at)] }));
  const from = [{ from: [platformPart('gateway')], ...(port === undefined ? {} : { ports: [tcp(port)] }) }];
  return [
    policy('default-deny', { policyTypes: ['Ingress', 'Egress'] }),
    policy('plugin-egress', { policyTypes: ['Egress'], egress: [DNS_EGRESS, ...declared, ...outside, ...own] }),
    policy('plugin-ingress', { policyTypes: ['Ingress'], ingress: from }),
  ];
}

function tcp(port: number): Json {
  return { protocol: 'TCP', port };
}

/** A tenant's namespace is no part of the platform, whatever its labels say. */
function platformPart(name: string): Json {
  return {
    namespaceSelector: {
      matchLabels: { [`${TARGET_LABEL_PREFIX}${name}`]: 'true' },
      matchExpressions: [{ key: TENANT_LABEL, operator: 'DoesNotExist' }],
    },
  };
}
