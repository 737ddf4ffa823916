import type { Endpoint } from '../../../kube/generated/discovery-v1.ts';
import { isDns1123Subdomain } from '../../../kube/names.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { addressTypes, groupId, type EndpointGroup, type ServiceObject, type SliceObject } from './endpoints-of.ts';

export const MANAGER = 'endpointslice-controller.k8s.io';
export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
const RESERVED = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);

const MAX_ENDPOINTS = 100;

export type NewSlice = Pick<SliceObject, 'addressType' | 'endpoints' | 'ports'> & { metadata: ObjectMeta };

/** What to write so that the slices of a Service say what they should. */
export interface SlicePlan {
  create: NewSlice[];
  update: SliceObject[];
  remove: SliceObject[];
}

/** Endpoints stay in the slice they are in; newcomers go where something changes anyway, so that as few slices as possible are written. */
export function planSlices(service: ServiceObject, groups: readonly EndpointGroup[], existing: readonly SliceObject[]): SlicePlan {
  const plan: SlicePlan = { create: [], update: [], remove: [] };
  const byGroup = new Map<string, SliceObject[]>();
  for (const slice of existing) {
    const id = groupId(slice.addressType, slice.ports ?? []);
    const slices = byGroup.get(id);
    if (slices) slices.push(slice);
    else byGroup.set(id, [slice]);
  }
  const labels = sliceLabels(service);
  const served = new Set<string>();
  for (const group of groups) {
    const id = groupId(group.addressType, group.ports);
    planGroup(service, group, byGroup.get(id) ?? [], labels, plan);
    byGroup.delete(id);
    served.add(group.addressType);
  }
  for (const addressType of addressTypes(service)) {
    if (!served.has(addressType)) keepPlaceholder(service, addressType, byGroup, labels, plan);
  }
  for (const slices of byGroup.values()) plan.remove.push(...slices);
  return reuse(plan);
}

/** A slice that would go takes the place of one that would come: one write instead of two, and no moment with both. */
function reuse({ create, update, remove }: SlicePlan): SlicePlan {
  const left = [...remove];
  const made: NewSlice[] = [];
  const reused = [...update];
  for (const slice of create) {
    const index = left.findIndex(({ addressType }) => addressType === slice.addressType);
    if (index < 0) made.push(slice);
    else {
      const [old] = left.splice(index, 1);
      const { endpoints, ports } = slice;
      reused.push({ ...old, endpoints, ports, metadata: { ...old.metadata, labels: slice.metadata.labels } });
    }
  }
  return { create: made, update: reused, remove: left };
}

function planGroup(
  service: ServiceObject,
  group: EndpointGroup,
  slices: SliceObject[],
  labels: ObjectMeta['labels'],
  plan: SlicePlan,
): void {
  const wanted = new Map(group.endpoints.map((endpoint) => [identity(endpoint), endpoint]));
  const changed: { slice: SliceObject; endpoints: Endpoint[] }[] = [];
  const same: SliceObject[] = [];
  for (const slice of slices) {
    const kept: Endpoint[] = [];
    let differs = !sameLabels(slice.metadata.labels, labels);
    for (const endpoint of slice.endpoints ?? []) {
      const next = wanted.get(identity(endpoint));
      if (!next || canonical(next) !== canonical(endpoint)) differs = true;
      if (!next) continue;
      wanted.delete(identity(endpoint));
      kept.push(next);
    }
    if (differs) changed.push({ slice, endpoints: kept });
    else same.push(slice);
  }
  const rest = [...wanted.values()];
  for (const { endpoints } of changed.sort((a, b) => b.endpoints.length - a.endpoints.length)) {
    while (endpoints.length < MAX_ENDPOINTS && rest.length > 0) endpoints.push(rest.pop()!);
  }
  if (rest.length > 0) {
    // The fullest slice that has room for all that is left over.
    const left = rest.length % MAX_ENDPOINTS || MAX_ENDPOINTS;
    const room = same
      .filter(({ endpoints }) => (endpoints ?? []).length + left <= MAX_ENDPOINTS)
      .sort((a, b) => (b.endpoints ?? []).length - (a.endpoints ?? []).length)[0];
    if (room) changed.push({ slice: room, endpoints: [...(room.endpoints ?? []), ...rest.splice(0, left)] });
  }
  while (rest.length > 0) plan.create.push(newSlice(service, { ...group, endpoints: rest.splice(0, MAX_ENDPOINTS) }, labels));
  for (const { slice, endpoints } of changed) {
    if (endpoints.length === 0) plan.remove.push(slice);
    else plan.update.push({ ...slice, endpoints, metadata: { ...slice.metadata, labels } });
  }
}

/** A Service without endpoints has one empty slice, so that readers see that it was looked at. */
function keepPlaceholder(
  service: ServiceObject,
  addressType: EndpointGroup['addressType'],
  byGroup: Map<string, SliceObject[]>,
  labels: ObjectMeta['labels'],
  plan: SlicePlan,
): void {
  const id = groupId(addressType, []);
  const [placeholder, ...others] = byGroup.get(id) ?? [];
  byGroup.delete(id);
  plan.remove.push(...others);
  if (!placeholder) plan.create.push(newSlice(service, { addressType, ports: [], endpoints: [] }, labels));
  else if ((placeholder.endpoints ?? []).length > 0 || !sameLabels(placeholder.metadata.labels, labels)) {
    plan.update.push({ ...placeholder, endpoints: [], metadata: { ...placeholder.metadata, labels } });
  }
}

function newSlice(service: ServiceObject, { addressType, ports, endpoints }: EndpointGroup, labels: ObjectMeta['labels']): NewSlice {
  const { name, namespace, uid } = service.metadata;
  const prefix = `${name}-`;
  return {
    metadata: {
      // The dash makes it prettier, where it still makes a name.
      generateName: isDns1123Subdomain(`${prefix}a`).length > 0 ? name : prefix,
      namespace,
      labels,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: name!, uid: uid!, controller: true, blockOwnerDeletion: true }],
    },
    addressType,
    endpoints,
    ports,
  };
}

/** Those of the Service, and those by which slices are found. */
export function sliceLabels({ metadata, spec }: ServiceObject): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata.labels ?? {})) if (!RESERVED.has(key)) labels[key] = value;
  if (!spec?.clusterIP || spec.clusterIP === 'None') labels[HEADLESS] = '';
  labels[SERVICE_NAME] = metadata.name!;
  labels[MANAGED_BY] = MANAGER;
  return labels;
}

function identity({ targetRef, addresses }: Endpoint): string {
  return `${targetRef?.uid} ${addresses.join()}`;
}

/** The same text for the same endpoint, in whichever order its fields were written. */
function canonical({ addresses, conditions, hostname, nodeName, zone, targetRef }: Endpoint): string {
  const { ready, serving, terminating } = conditions ?? {};
  return JSON.stringify([addresses, ready, serving, terminating, hostname, nodeName, zone, targetRef?.name]);
}

function sameLabels(a: ObjectMeta['labels'] = {}, b: ObjectMeta['labels'] = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
