import type { KubeObject } from '../../../../kube/object.ts';
import type { UnderClusterPlane } from './control-plane-objects.ts';
import { API_PORT, CLUSTER_LABEL, ETCD_PEER_PORT, ETCD_PORT, labelsOf, metadataOf, TUNNEL_PORT, type Part } from './plane-parts.ts';

const DNS_PORT = 53;

/** Who speaks with whom: nobody of another control plane, and nothing of this one with anything but its own parts. */
export function networkPolicies(plane: UnderClusterPlane): KubeObject[] {
  const part = (name: Part) => [{ podSelector: { matchLabels: labelsOf(plane, name) } }];
  const tcp = (...ports: number[]) => ports.map((port) => ({ protocol: 'TCP', port }));
  const names = { ports: [{ protocol: 'UDP', port: DNS_PORT }, ...tcp(DNS_PORT)] };
  const toApi = { to: part('apiserver'), ports: tcp(API_PORT) };
  const outside = plane.sources.map((cidr) => ({ ipBlock: { cidr } }));
  const policy = (of: Part, ingress: object[], egress: object[]): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(plane, of),
    spec: { podSelector: { matchLabels: labelsOf(plane, of) }, policyTypes: ['Ingress', 'Egress'], ingress, egress: [names, ...egress] },
  });
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: metadataOf(plane, 'default-deny'),
      spec: { podSelector: { matchLabels: { [CLUSTER_LABEL]: plane.name } }, policyTypes: ['Ingress', 'Egress'] },
    },
    policy(
      'etcd',
      [
        { from: part('apiserver'), ports: tcp(ETCD_PORT) },
        { from: part('etcd'), ports: tcp(ETCD_PORT, ETCD_PEER_PORT) },
      ],
      [{ to: part('etcd'), ports: tcp(ETCD_PORT, ETCD_PEER_PORT) }],
    ),
    policy(
      'apiserver',
      [
        { from: [...part('controller-manager'), ...part('scheduler')], ports: tcp(API_PORT) },
        // An empty list would be everybody.
        ...(outside.length === 0 ? [] : [{ from: outside, ports: tcp(API_PORT, TUNNEL_PORT) }]),
      ],
      [{ to: part('etcd'), ports: tcp(ETCD_PORT) }],
    ),
    policy('controller-manager', [], [toApi]),
    policy('scheduler', [], [toApi]),
  ];
}
