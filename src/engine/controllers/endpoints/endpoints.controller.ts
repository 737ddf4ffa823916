import { Endpoints, Service } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { labelSetSelector } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { selects } from '../endpoint-slice/endpoint-slice.controller.ts';
import type { PodObject, ServiceObject } from '../endpoint-slice/endpoints-of.ts';
import type { Environment, Running } from '../environment.ts';
import { isLeavingNamespace } from '../namespace/is-active.ts';
import { inNamespace, podInformer } from '../workload/informers.ts';
import { subsetsOf, truncate, type Subset } from './model/subsets.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const HEADLESS = 'service.kubernetes.io/headless';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';
/**
 * The object holds all addresses of a Service, so that each change writes them all: changes that come together are written together, and
 * the more there are to write, the longer they gather.
 */
const REST_MS = 250;
const REST_MS_PER_ADDRESS = 2;

/** Endpoints, the old form of EndpointSlices, of every Service that selects Pods: some programs still read them. Keys are Services. */
export function endpointsController(environment: Environment): Running {
  const { client, clock, log, metrics, informers, events } = environment;
  const services = informers.get(Service);
  const endpoints = informers.get<KubeObject>(Endpoints);
  const pods = podInformer(environment);
  services.addIndex('namespace', ({ metadata }) => [metadata.namespace!]);
  /** When the next write may come, by our own clock. */
  const nextWrite = new Map<string, number>();

  const controller = new Controller({
    name: 'endpoints',
    clock,
    log,
    metrics,
    concurrency: 5,
    async reconcile(key): Promise<ReconcileResult | void> {
      const service = services.get(key);
      const current = endpoints.get(key);
      if (!service) return remove(key, current);
      if (!selects(service)) return undefined;
      // A timer: that enough time has passed is nothing that a watch could tell.
      const rest = (nextWrite.get(key) ?? -Infinity) - clock.monotonic();
      if (rest > 0) return { afterMs: rest };
      const next = endpointsOf(service, current);
      if (current && deepEqual(viewOf(current), viewOf(next))) return undefined;
      nextWrite.set(key, clock.monotonic() + Math.max(REST_MS, REST_MS_PER_ADDRESS * countOf(next)));
      await write(service, current, next);
      return undefined;
    },
  });

  const remove = async (key: string, current: KubeObject | undefined): Promise<void> => {
    nextWrite.delete(key);
    if (!current) return;
    const { name, namespace, uid } = current.metadata;
    await client
      .resource<KubeObject>(Endpoints, namespace)
      .delete(name!, { preconditions: { uid } })
      .catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) throw error;
      });
  };

  const endpointsOf = (service: ServiceObject, current: KubeObject | undefined): KubeObject => {
    const matcher = labelSetSelector(service.spec!.selector);
    const { name, namespace } = service.metadata;
    const selected = (inNamespace(pods, namespace) as PodObject[]).filter(({ metadata }) => matcher.matches(metadata.labels));
    const subsets = subsetsOf(service, selected);
    const { [OVER_CAPACITY]: _, ...annotations } = current?.metadata.annotations ?? {};
    if (truncate(subsets)) annotations[OVER_CAPACITY] = 'truncated';
    const metadata = { ...(current?.metadata ?? { name, namespace }), labels: labelsOf(service), annotations };
    return { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets };
  };

  const write = async (service: ServiceObject, current: KubeObject | undefined, next: KubeObject): Promise<void> => {
    const { name, namespace } = service.metadata;
    const resource = client.resource<KubeObject>(Endpoints, namespace);
    try {
      if (current) await resource.update(next);
      else await resource.create(next);
    } catch (error) {
      if (isLeavingNamespace(error)) return;
      const [verb, what] = current ? ['Update', 'update endpoint'] : ['Create', 'create endpoint for service'];
      if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'AlreadyExists')) {
        const message = `Failed to ${what} ${namespace}/${name}: ${errorText(error)}`;
        events.record(next, { type: 'Warning', reason: `FailedTo${verb}Endpoint`, message });
      }
      throw error;
    }
  };

  const servicesOf = (...versions: KubeObject[]): string[] => {
    const namespace = versions[0].metadata.namespace!;
    return services.byIndex('namespace', namespace).flatMap((service) => {
      if (!selects(service)) return [];
      const matcher = labelSetSelector(service.spec!.selector);
      return versions.some(({ metadata }) => matcher.matches(metadata.labels)) ? [keyOf(service)] : [];
    });
  };

  return controller
    .watch(services)
    .watch(pods, (change) => (change.type === 'modified' ? servicesOf(change.object, change.previous) : servicesOf(change.object)))
    .watch(endpoints, ({ object }) => {
      // What somebody makes for a Service that is still to come is theirs.
      const own = object.metadata.labels?.[MANAGED_BY] === MANAGER;
      return own || services.get(keyOf(object)) ? [keyOf(object)] : [];
    })
    .start();
}

function countOf({ subsets }: KubeObject): number {
  return ((subsets ?? []) as Subset[]).reduce((sum, one) => sum + (one.addresses?.length ?? 0) + (one.notReadyAddresses?.length ?? 0), 0);
}

function labelsOf({ metadata, spec }: ServiceObject): Record<string, string> {
  const { [HEADLESS]: _, ...labels } = metadata.labels ?? {};
  const headless = spec?.clusterIP === 'None' || !spec?.clusterIP;
  return { ...labels, ...(headless && { [HEADLESS]: '' }), [MANAGED_BY]: MANAGER };
}

/** What is compared: order says nothing. */
function viewOf({ metadata, subsets }: KubeObject): Json {
  const texts = ((subsets ?? []) as Subset[]).map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    JSON.stringify([addresses.map(addressText).sort(), notReadyAddresses.map(addressText).sort(), ports.map(portText).sort()]),
  );
  return { labels: metadata.labels ?? {}, over: metadata.annotations?.[OVER_CAPACITY], subsets: texts.sort() };
}

function addressText({ ip, hostname, nodeName, targetRef }: Json): string {
  return JSON.stringify([ip, hostname, nodeName, targetRef?.uid]);
}

function portText({ name, port, protocol, appProtocol }: Json): string {
  return JSON.stringify([name, port, protocol ?? 'TCP', appProtocol]);
}
