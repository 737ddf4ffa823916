import type { KubeObject } from '../../kube/object.ts';
import type { OnDemand } from './start-on-demand.ts';

/** Controllers that have nothing to do before there are nodes, Pods, Services or volumes. */
export const ON_DEMAND_CONTROLLERS: readonly OnDemand[] = [
  {
    resources: ['/services'],
    calls: (service) => !isOwnService(service),
    controller: 'endpoint-slice-controller',
    load: async () => (await import('./endpoint-slice/endpoint-slice.controller.ts')).endpointSliceController,
  },
  {
    resources: ['/services'],
    calls: (service) => !isOwnService(service),
    controller: 'endpoint-controller',
    load: async () => (await import('./endpoints/endpoints.controller.ts')).endpointsController,
  },
  {
    resources: ['/endpoints'],
    controller: 'endpoint-slice-mirroring-controller',
    calls: ({ metadata }) => metadata.labels?.['endpoints.kubernetes.io/managed-by'] === undefined,
    load: async () => (await import('./endpoints/mirroring.controller.ts')).endpointsMirroringController,
  },
  {
    resources: ['/nodes'],
    controller: 'node-controller',
    load: async () => (await import('./node-lifecycle/node-lifecycle.controller.ts')).nodeLifecycleController,
  },
  {
    resources: ['/nodes'],
    controller: 'taint-eviction-controller',
    load: async () => (await import('./taint-eviction/taint-eviction.controller.ts')).taintEvictionController,
  },
  {
    resources: ['/pods'],
    load: async () => (await import('./pod-gc/pod-gc.controller.ts')).podGcController,
  },
  {
    resources: ['/nodes', '/persistentvolumes', '/persistentvolumeclaims'],
    controller: 'persistentvolume-controller',
    load: async () => (await import('./persistent-volume/claim.controller.ts')).claimController,
  },
  {
    resources: ['storage.k8s.io/volumeattributesclasses'],
    load: async () => (await import('./persistent-volume/attributes-class.controller.ts')).attributesClassController,
  },
  {
    resources: ['/persistentvolumes', '/persistentvolumeclaims'],
    controller: 'persistentvolume-controller',
    load: async () => (await import('./persistent-volume/volume.controller.ts')).volumeController,
  },
];

/** The server keeps the slices of its own Service itself. */
function isOwnService({ metadata }: KubeObject): boolean {
  return metadata.name === 'kubernetes' && metadata.namespace === 'default';
}
