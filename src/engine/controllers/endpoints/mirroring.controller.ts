import { EndpointSlice, Endpoints, Service } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf, splitKey } from '../../../runtime/informer/object-cache.ts';
import { OwnWrites } from '../endpoint-slice/own-writes.ts';
import type { Environment, Running } from '../environment.ts';
import { isLeavingNamespace } from '../namespace/is-active.ts';
import { MIRROR_MANAGER, mirroredSlices, sliceId } from './model/mirrored-slices.ts';

const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER = 'control-plane.alpha.kubernetes.io/leader';
const SERVICE_NAME = 'kubernetes.io/service-name';

/** Endpoints that people make for Services without a selector become slices. Keys are Endpoints, which have the name of their Service. */
export function endpointsMirroringController(environment: Environment): Running {
  const { client, clock, log, metrics, informers } = environment;
  const services = informers.get<KubeObject>(Service);
  const endpoints = informers.get<KubeObject>(Endpoints);
  const slices = informers.get<KubeObject>(EndpointSlice, { labelSelector: `endpointslice.kubernetes.io/managed-by=${MIRROR_MANAGER}` });
  slices.addIndex('service', ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`]);
  const own = new OwnWrites();

  const controller = new Controller({
    name: 'endpoints-mirroring',
    clock,
    log,
    metrics,
    async reconcile(key) {
      const { namespace } = splitKey(key);
      // The watch wakes the key when the cache has caught up; the timer is for what it may never show.
      const afterMs = own.waitMs(key, (name) => slices.find(namespace, name), clock.now());
      if (afterMs !== undefined) return { afterMs };
      const source = endpoints.get(key);
      const wanted = source && isMirrored(source, services.get(key)) ? mirroredSlices(source) : [];
      await write(key, wanted, slices.byIndex('service', key));
      return undefined;
    },
  });

  const write = async (key: string, wanted: KubeObject[], existing: readonly KubeObject[]): Promise<void> => {
    const resource = client.resource<KubeObject>(EndpointSlice, splitKey(key).namespace);
    const left = new Map(existing.map((slice) => [sliceId(slice.addressType, slice.ports), slice]));
    const surplus = existing.filter((slice) => left.get(sliceId(slice.addressType, slice.ports)) !== slice);
    try {
      for (const slice of wanted) {
        const id = sliceId(slice.addressType, slice.ports);
        const current = left.get(id);
        left.delete(id);
        if (!current) own.wrote(key, await resource.create(slice), clock.now());
        else if (!isSame(current, slice)) own.wrote(key, await resource.update(updated(current, slice)), clock.now());
      }
      for (const { metadata } of [...left.values(), ...surplus]) {
        await resource.delete(metadata.name!, { preconditions: { uid: metadata.uid } }).catch((error: unknown) => {
          if (!isStatusError(error, 'NotFound')) throw error;
        });
      }
    } catch (error) {
      if (!isLeavingNamespace(error)) throw error;
    }
  };

  return controller
    .watch(services)
    .watch(endpoints)
    .watch(slices, ({ type, object }) => {
      const key = `${object.metadata.namespace}/${object.metadata.labels?.[SERVICE_NAME] ?? ''}`;
      if (type === 'deleted') own.gone(key, object.metadata.name!);
      return [key];
    })
    .start();
}

function isMirrored({ metadata }: KubeObject, service: KubeObject | undefined): boolean {
  if (!service || service.spec?.selector !== undefined || metadata.deletionTimestamp !== undefined) return false;
  // The server keeps the slices of its own Service itself.
  if (keyOf(service) === 'default/kubernetes') return false;
  return metadata.labels?.[SKIP] !== 'true' && metadata.annotations?.[LEADER] === undefined;
}

function isSame(current: KubeObject, wanted: KubeObject): boolean {
  return (
    deepEqual(current.metadata.labels, wanted.metadata.labels) &&
    deepEqual(current.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}) &&
    deepEqual(current.endpoints, wanted.endpoints)
  );
}

function updated(current: KubeObject, { metadata: { labels, annotations }, endpoints }: KubeObject): KubeObject {
  return { ...current, metadata: { ...current.metadata, labels, annotations }, endpoints };
}
