import { countInSlices } from '../../../kube/json-slices.ts';
import type { Json } from '../../../kube/object.ts';
import type { UserInfo } from '../auth/user.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { runInSlices } from '../schema/slices.ts';
import { tooManyValues } from './body-limits.ts';

/**
 * What an object may cost besides its bytes. A megabyte of text is cheap; a megabyte of empty lists is half a million values, and every
 * step of a write looks at each of them.
 */
export const VALUE_LIMIT = 10_000;
/** Pods, and whatever makes them, go through many hands: the scheduler, controllers, the node. They have a few hundred values. */
const WORKLOAD_VALUE_LIMIT = 5000;
/** Every other value may be an expression, and all of them are compiled. */
const POLICY_VALUE_LIMIT = 1500;
/** Definitions and the objects they define are decoded and checked in slices. A CRD of 730 KB has some 20,000 values. */
export const SLICED_VALUE_LIMIT = 60_000;

/** By resource, where it is another one. */
const VALUE_LIMITS: Readonly<Record<string, number>> = {
  // A slice of a thousand endpoints, which is the most that it may hold, has some 14,000 values.
  endpointslices: 20_000,
  pods: WORKLOAD_VALUE_LIMIT,
  podtemplates: WORKLOAD_VALUE_LIMIT,
  replicationcontrollers: WORKLOAD_VALUE_LIMIT,
  deployments: WORKLOAD_VALUE_LIMIT,
  replicasets: WORKLOAD_VALUE_LIMIT,
  statefulsets: WORKLOAD_VALUE_LIMIT,
  daemonsets: WORKLOAD_VALUE_LIMIT,
  controllerrevisions: WORKLOAD_VALUE_LIMIT,
  jobs: WORKLOAD_VALUE_LIMIT,
  cronjobs: WORKLOAD_VALUE_LIMIT,
  validatingadmissionpolicies: POLICY_VALUE_LIMIT,
  mutatingadmissionpolicies: POLICY_VALUE_LIMIT,
};

/**
 * What people may write, the system must be able to work on: to make a ReplicaSet of a Deployment, to note a revision, to say how a Pod is. So
 * there is room above the limit for it, which nobody else can fill.
 */
const HEADROOM = 2;

/** Definitions and the objects they define: however small they are, patterns and rules may take long. */
export function checksExpressions(resource: Resource): boolean {
  return resource.strategicMerge === false || resource.group === 'apiextensions.k8s.io';
}

/** How many values an object of a resource may have, as far as people write it. */
export function valueLimit(resource: Resource | undefined): number {
  if (resource !== undefined && checksExpressions(resource)) return SLICED_VALUE_LIMIT;
  return VALUE_LIMITS[resource?.resource ?? ''] ?? VALUE_LIMIT;
}

/** With the head-room. */
export function systemLimit(resource: Resource | undefined): number {
  return HEADROOM * valueLimit(resource);
}

/**
 * What a body may hold, whoever sends it. It is read in slices, and an update brings back who owns which field: more values than the rest of
 * the object has.
 */
export function bodyLimit(resource: Resource | undefined): number {
  return Math.max(systemLimit(resource), SLICED_VALUE_LIMIT);
}

/**
 * Refuses an object that has too many values. Who owns what never counts; the status counts only for those who write with head-room: it is
 * theirs. @throws StatusError
 */
export async function refuseExcess(resource: Resource | undefined, request: ApiRequest, object: Json): Promise<void> {
  const roomy = hasHeadroom(request);
  const limit = roomy ? systemLimit(resource) : valueLimit(resource);
  const counted = counting(object, roomy);
  // The object itself is not a value of it.
  if ((await runInSlices(countInSlices(counted, limit + 1))) > limit + 1) throw tooManyValues(limit);
}

function counting(object: Json, withStatus: boolean): Json {
  if (object === null || typeof object !== 'object' || Array.isArray(object)) return object;
  const counted = { ...object };
  if (!withStatus) delete counted.status;
  if (counted.metadata?.managedFields !== undefined) {
    counted.metadata = { ...counted.metadata };
    delete counted.metadata.managedFields;
  }
  return counted;
}

/** Subresources are written by those who look after an object; and there are those who look after all of them. */
function hasHeadroom({ info, user }: Pick<ApiRequest, 'info' | 'user'>): boolean {
  return info.subresource !== '' || isComponent(user);
}

const COMPONENTS = new Set(['system:kube-controller-manager', 'system:kube-scheduler', 'system:apiserver']);
const COMPONENT_GROUPS = new Set(['system:nodes', 'system:serviceaccounts:kube-system', 'system:serviceaccounts:tenantry-system']);

function isComponent({ name, groups }: UserInfo): boolean {
  return COMPONENTS.has(name) || groups.some((group) => COMPONENT_GROUPS.has(group));
}
