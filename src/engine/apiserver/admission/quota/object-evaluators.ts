import { qualifiedResource, type GroupResource, type Json, type KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { ResourceList } from '../../../../kube/resource-list.ts';
import { countEvaluator, namesMatch, noScope, ONE, type Evaluator, type ScopeRequirement } from './evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';

/** Services: how many, and how many node ports and load balancers they take. */
const serviceEvaluator: Evaluator = {
  resource: { group: '', resource: 'services' },
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  tracks: (name) => ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'].includes(name),
  inScope: noScope,
  usage({ spec = {} }) {
    const ports: Json[] = spec.ports ?? [];
    const isBalancer = spec.type === 'LoadBalancer';
    const allocates = spec.type === 'NodePort' || (isBalancer && spec.allocateLoadBalancerNodePorts !== false);
    const chosen = isBalancer ? ports.filter((port) => port.nodePort).length : 0;
    return new Map([
      ['count/services', ONE],
      ['services', ONE],
      ['services.nodeports', Quantity.of(allocates ? ports.length : chosen)],
      ['services.loadbalancers', isBalancer ? ONE : Quantity.zero],
    ]);
  },
};

const CLAIM_NAMES = ['persistentvolumeclaims', 'requests.storage'];
const STORAGE_CLASS_SUFFIX = '.storageclass.storage.k8s.io/';
const CLAIM_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Claims: how many and how much storage, in all and by storage class. */
const claimEvaluator: Evaluator = {
  resource: { group: '', resource: 'persistentvolumeclaims' },
  handles: ({ operation, subresource }) =>
    subresource === '' ? operation === 'CREATE' || operation === 'UPDATE' : subresource === 'status' && operation === 'UPDATE',
  tracks: (name) =>
    name === 'count/persistentvolumeclaims' || CLAIM_NAMES.some((own) => name === own || name.endsWith(STORAGE_CLASS_SUFFIX + own)),
  inScope: claimInScope,
  usage(claim) {
    const used: ResourceList = new Map([
      ['persistentvolumeclaims', ONE],
      ['count/persistentvolumeclaims', ONE],
    ]);
    const storageClass: string = claim.metadata.annotations?.[CLAIM_CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? '';
    if (storageClass !== '') used.set(`${storageClass}${STORAGE_CLASS_SUFFIX}persistentvolumeclaims`, ONE);
    const storage = claimedStorage(claim);
    if (storage) {
      used.set('requests.storage', storage);
      if (storageClass !== '') used.set(`${storageClass}${STORAGE_CLASS_SUFFIX}requests.storage`, storage);
    }
    return used;
  },
};

/** Whole bytes; while a volume is being expanded, what is already allocated for it counts if it is more. */
function claimedStorage(claim: KubeObject): Quantity | undefined {
  const requested = claim.spec?.resources?.requests?.storage;
  if (requested === undefined) return undefined;
  const allocated = claim.status?.allocatedResources?.storage;
  let amount = Quantity.parse(requested);
  if (allocated !== undefined && Quantity.parse(allocated).compare(amount) > 0) amount = Quantity.parse(allocated);
  return amount.nano % 1_000_000_000n === 0n ? amount : Quantity.of(amount.value(), amount.format);
}

function claimInScope({ spec, status }: KubeObject, scope: ScopeRequirement): boolean {
  if (scope.scopeName !== 'VolumeAttributesClass') return false;
  const names: (string | undefined)[] = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return namesMatch(scope, [...new Set(names.filter((name): name is string => Boolean(name)))]);
}

const DEVICES_SUFFIX = '.deviceclass.resource.k8s.io/devices';
/** "All devices" counts as the most that one claim can get. */
const MOST_DEVICES = 32;

/** Resource claims: how many, and how many devices of each class. */
const deviceClaimEvaluator: Evaluator = {
  resource: { group: 'resource.k8s.io', resource: 'resourceclaims' },
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  tracks: (name) => name === 'count/resourceclaims.resource.k8s.io' || name.endsWith(DEVICES_SUFFIX),
  inScope: noScope,
  usage(claim) {
    const devices = new Map<string, number>();
    for (const request of claim.spec?.devices?.requests ?? []) {
      for (const [name, count] of devicesOf(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const used: ResourceList = new Map([['count/resourceclaims.resource.k8s.io', ONE]]);
    for (const [name, count] of devices) used.set(name + DEVICES_SUFFIX, Quantity.of(count));
    return used;
  },
};

/** Of alternatives the most for each class. */
function devicesOf(request: Json): Map<string, number> {
  const wanted: Json[] = request.firstAvailable?.length > 0 ? request.firstAvailable : request.exactly ? [request.exactly] : [];
  const most = new Map<string, number>();
  for (const { deviceClassName, allocationMode, count } of wanted) {
    const devices = allocationMode === 'All' ? MOST_DEVICES : allocationMode === 'ExactCount' ? (count ?? 1) : 0;
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, devices));
  }
  return most;
}

const OLD_NAMES = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'];

/** Evaluators by resource; those that only count are made when they are first asked for. */
export class Evaluators {
  readonly #special: Evaluator[];
  readonly #byResource = new Map<string, Evaluator>();

  constructor(now: () => number) {
    const counted = OLD_NAMES.map((resource) => countEvaluator({ group: '', resource }, resource));
    this.#special = [podEvaluator(now), serviceEvaluator, claimEvaluator, deviceClaimEvaluator, ...counted];
    for (const evaluator of this.#special) this.#byResource.set(qualifiedResource(evaluator.resource), evaluator);
  }

  get(resource: GroupResource): Evaluator {
    const name = qualifiedResource(resource);
    let found = this.#byResource.get(name);
    if (!found) this.#byResource.set(name, (found = countEvaluator({ group: resource.group, resource: resource.resource })));
    return found;
  }

  /** All that track at least one of these names. `count/widgets.example.com` leads to its resource by itself. */
  tracking(names: string[]): Evaluator[] {
    const found = new Set(this.#special.filter((evaluator) => names.some((name) => evaluator.tracks(name))));
    for (const name of names) {
      if (!name.startsWith('count/')) continue;
      const [resource, ...group] = name.slice('count/'.length).split('.');
      found.add(this.get({ group: group.join('.'), resource }));
    }
    return [...found];
  }
}
