import { GATEWAY_NAME, PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../kube/object.ts';

export const GATEWAY_PORT = 8090;

/** How plugins name it, on either engine. */
export const GATEWAY_URL_IN_CLUSTER = `http://${GATEWAY_NAME}.${PLATFORM_NAMESPACE}.svc:${GATEWAY_PORT}`;

/** The gateways that the chart runs, as network policies name them. */
export const GATEWAY_PODS = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': PLATFORM_NAMESPACE } },
  podSelector: { matchLabels: { 'app.kubernetes.io/name': 'tenantry-plugin-gateway' } },
};

/** The Service of a gateway that is no Pod but a process at this address. */
export function gatewayService(address: string): { service: KubeObject; slice: KubeObject } {
  const metadata = { name: GATEWAY_NAME, namespace: PLATFORM_NAMESPACE };
  const ports = [{ name: 'http', port: GATEWAY_PORT, protocol: 'TCP' }];
  return {
    service: { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ ...ports[0], targetPort: GATEWAY_PORT }] } },
    slice: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        ...metadata,
        labels: { 'kubernetes.io/service-name': GATEWAY_NAME, 'endpointslice.kubernetes.io/managed-by': 'tenantry' },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports,
    },
  };
}
