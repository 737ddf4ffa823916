import {
  CONTROL_PLANE_PROVIDERS,
  KERNEL_ISOLATIONS,
  type Classification,
  type ControlPlaneProvider,
  type KernelIsolation,
} from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { selectsTenant, type ClusterPolicy } from '../../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import { isVersion } from './kubernetes-version.ts';

export interface Limit<T> {
  value: T;
  /** Whose it is, for whoever wants it raised. */
  policy: string;
}

export interface AddOnOffer {
  name: string;
  mandatory: boolean;
  configMap?: { namespace: string; name: string };
  /** Policies that all make one of this name mandatory, with other manifests: those of the first are taken. */
  clash?: readonly [string, string];
}

/** What all policies that select a tenant allow it together. */
export interface Bounds {
  policies: string[];
  clusters?: Limit<number>;
  workers?: Limit<number>;
  cpu?: Limit<Quantity>;
  memory?: Limit<Quantity>;
  disk?: Limit<Quantity>;
  controlPlaneReplicas?: Limit<number>;
  /** Of each control plane. */
  planeCpu?: Limit<Quantity>;
  planeMemory?: Limit<Quantity>;
  planeStorage?: Limit<Quantity>;
  minimumKernelIsolation?: Limit<KernelIsolation>;
  controlPlanes: ControlPlaneProvider[];
  addOns: AddOnOffer[];
  /** How the policies see a version; undefined: one of them, that is named, does not have it. */
  classify(version: string, now: number): { classification: Classification; policy: string } | { missingIn: string };
}

/** @returns undefined when no policy selects the tenant: it may have no cluster */
export function boundsOf(tenant: Tenant, all: readonly ClusterPolicy[]): Bounds | undefined {
  const policies = all.filter((policy) => selectsTenant(policy, tenant)).sort((a, b) => a.metadata.name!.localeCompare(b.metadata.name!));
  if (policies.length === 0) return undefined;
  const least = <T>(of: (policy: ClusterPolicy) => T | undefined, compare: (a: T, b: T) => number): Limit<T> | undefined => {
    const limits = policies.flatMap((policy) => {
      const value = of(policy);
      return value === undefined ? [] : [{ value, policy: policy.metadata.name! }];
    });
    return limits.sort((a, b) => compare(a.value, b.value))[0];
  };
  const number = (a: number, b: number) => a - b;
  const amount = (a: Quantity, b: Quantity) => a.compare(b);
  const quantity = (value: string | number | undefined) => (value === undefined ? undefined : Quantity.parse(value));
  return {
    policies: policies.map(({ metadata }) => metadata.name!),
    clusters: least(({ spec }) => spec.max?.clusters, number),
    workers: least(({ spec }) => spec.max?.workers, number),
    cpu: least(({ spec }) => quantity(spec.max?.cpu), amount),
    memory: least(({ spec }) => quantity(spec.max?.memory), amount),
    disk: least(({ spec }) => quantity(spec.max?.disk), amount),
    controlPlaneReplicas: least(({ spec }) => spec.max?.controlPlaneReplicas, number),
    planeCpu: least(({ spec }) => quantity(spec.controlPlaneLimits?.cpu), amount),
    planeMemory: least(({ spec }) => quantity(spec.controlPlaneLimits?.memory), amount),
    planeStorage: least(({ spec }) => quantity(spec.controlPlaneLimits?.storage), amount),
    // The strongest that anybody asks for.
    minimumKernelIsolation: least(
      ({ spec }) => spec.minimumKernelIsolation,
      (a, b) => strengthOf(b) - strengthOf(a),
    ),
    controlPlanes: CONTROL_PLANE_PROVIDERS.filter((provider) =>
      policies.every(({ spec }) => spec.controlPlanes === undefined || spec.controlPlanes.includes(provider)),
    ),
    addOns: addOnsOf(policies),
    classify: (version, now) => classify(policies, version, now),
  };
}

export function strengthOf(isolation: KernelIsolation): number {
  return KERNEL_ISOLATIONS.indexOf(isolation);
}

/** Mandatory for one policy is mandatory, with the manifests of that one. */
function addOnsOf(policies: readonly ClusterPolicy[]): AddOnOffer[] {
  const offers = new Map<string, { offer: AddOnOffer; policy: string }>();
  for (const { metadata, spec } of policies) {
    const policy = metadata.name!;
    for (const { name, configMap, mandatory = false } of spec.addOns ?? []) {
      const offer: AddOnOffer = { name, mandatory, configMap };
      const known = offers.get(name);
      if (known === undefined || (mandatory && !known.offer.mandatory)) offers.set(name, { offer, policy });
      else if (mandatory && !isSameSource(known.offer, offer)) known.offer.clash ??= [known.policy, policy];
    }
  }
  return [...offers.values()].map(({ offer }) => offer);
}

function isSameSource({ configMap: a }: AddOnOffer, { configMap: b }: AddOnOffer): boolean {
  return a?.namespace === b?.namespace && a?.name === b?.name;
}

/** The least favourable of what the policies say. */
const ORDER: readonly Classification[] = ['supported', 'preview', 'deprecated', 'expired'];

function classify(policies: readonly ClusterPolicy[], version: string, now: number): ReturnType<Bounds['classify']> {
  let worst = { classification: 'supported' as Classification, policy: policies[0].metadata.name! };
  for (const { metadata, spec } of policies) {
    if (spec.versions === undefined) continue;
    // The one that says most: 1.35.4 before 1.35.
    const [entry] = spec.versions.filter((each) => isVersion(version, each.version)).sort((a, b) => b.version.length - a.version.length);
    if (entry === undefined) return { missingIn: metadata.name! };
    const isOver = entry.expirationDate !== undefined && Date.parse(entry.expirationDate) <= now;
    const classification = isOver ? 'expired' : (entry.classification ?? 'supported');
    if (ORDER.indexOf(classification) > ORDER.indexOf(worst.classification)) worst = { classification, policy: metadata.name! };
  }
  return worst;
}
