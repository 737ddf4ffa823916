import { EndpointSlice, Node, Service } from '../../../client/kinds.ts';
import { labelSetSelector } from '../../../kube/label-selector.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { splitKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { isLeavingNamespace } from '../namespace/is-active.ts';
import { BY_NODE } from '../node-lifecycle/node-lifecycle.controller.ts';
import { inNamespace, podInformer } from '../workload/informers.ts';
import { endpointGroups, type NodePlace, type PodObject, type ServiceObject } from './endpoints-of.ts';
import { OwnWrites } from './own-writes.ts';
import { MANAGED_BY, MANAGER, planSlices, SERVICE_NAME, type SlicePlan } from './plan-slices.ts';

const ZONE = 'topology.kubernetes.io/zone';

/** EndpointSlices of every Service that selects Pods. Keys are Services. */
export function endpointSliceController(environment: Environment): Running {
  const { client, clock, log, metrics, informers } = environment;
  const services = informers.get(Service);
  const pods = podInformer(environment);
  const nodes = informers.get(Node);
  const slices = informers.get(EndpointSlice, { labelSelector: `${MANAGED_BY}=${MANAGER}` });
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  services.addIndex('namespace', ({ metadata }) => [metadata.namespace!]);
  slices.addIndex('service', ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`]);

  const own = new OwnWrites();
  const placeOf = (name: string): NodePlace | undefined => {
    const node = nodes.get(name);
    return node && { zone: node.metadata.labels?.[ZONE] };
  };

  const controller = new Controller({
    name: 'endpoint-slice',
    clock,
    log,
    metrics,
    concurrency: 5,
    async reconcile(key, { signal }) {
      const service = services.get(key);
      // Slices of a Service that is gone go with it: it owns them.
      if (!service || !selects(service) || service.metadata.deletionTimestamp !== undefined) {
        own.forget(key);
        return undefined;
      }
      const { namespace } = splitKey(key);
      // The watch wakes the key when the cache has caught up; the timer is for what it may never show.
      const afterMs = own.waitMs(key, (name) => slices.find(namespace, name), clock.now());
      if (afterMs !== undefined) return { afterMs };
      const matcher = labelSetSelector(service.spec!.selector);
      const selected = (inNamespace(pods, namespace) as PodObject[]).filter(({ metadata }) => matcher.matches(metadata.labels));
      const groups = endpointGroups(service, selected, placeOf);
      const existing = slices
        .byIndex('service', key)
        .filter((slice) => isOwnedBy(slice, service) && slice.metadata.deletionTimestamp === undefined);
      await write(key, namespace!, planSlices(service, groups, existing), signal);
      return undefined;
    },
  });

  const write = async (key: string, namespace: string, { create, update, remove }: SlicePlan, signal: AbortSignal): Promise<void> => {
    const resource = client.resource(EndpointSlice, namespace);
    for (const slice of create) {
      try {
        own.wrote(key, await resource.create(slice, { signal }), clock.now());
      } catch (error) {
        if (!isLeavingNamespace(error)) throw error;
      }
    }
    for (const slice of update) own.wrote(key, await resource.update(slice, { signal }), clock.now());
    for (const { metadata } of remove) {
      await resource.delete(metadata.name!, { preconditions: { uid: metadata.uid }, signal }).catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) throw error;
      });
    }
  };

  const servicesOf = (...versions: PodObject[]): string[] => {
    const namespace = versions[0].metadata.namespace!;
    const keys: string[] = [];
    for (const service of services.byIndex('namespace', namespace)) {
      if (!selects(service)) continue;
      const matcher = labelSetSelector(service.spec!.selector);
      if (versions.some(({ metadata }) => matcher.matches(metadata.labels))) keys.push(`${namespace}/${service.metadata.name}`);
    }
    return keys;
  };

  return controller
    .watch(services)
    .watch(pods, (change) =>
      change.type === 'modified'
        ? servicesOf(change.object as PodObject, change.previous as PodObject)
        : servicesOf(change.object as PodObject),
    )
    .watch(slices, ({ type, object: { metadata } }) => {
      const key = `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`;
      if (type === 'deleted') own.gone(key, metadata.name!);
      return [key];
    })
    .watch(nodes, (change) => {
      const { name, labels } = change.object.metadata;
      if (change.type === 'modified' && change.previous.metadata.labels?.[ZONE] === labels?.[ZONE]) return [];
      return pods.byIndex(BY_NODE, name!).flatMap((pod) => servicesOf(pod as PodObject));
    })
    .start();
}

/** Services without a selector, and names for something outside, have slices of somebody else's making or none. */
export function selects({ spec }: ServiceObject): boolean {
  return spec?.selector !== undefined && Object.keys(spec.selector).length > 0 && spec.type !== 'ExternalName';
}

function isOwnedBy(slice: { metadata: { ownerReferences?: { uid: string }[] } }, service: ServiceObject): boolean {
  return slice.metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) ?? false;
}
