import type { ControlPlaneProvider } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Bounds } from './bounds.ts';
import { byNewest, isVersion } from './kubernetes-version.ts';
import type { ControlPlaneOffer, Offers } from './offers.ts';

/** Who serves a cluster, and which version. */
export type Placement = { provider: ControlPlaneProvider; version: string } | { refusal: string };

/** Real Kubernetes where it is to be had, unless the cluster says otherwise. */
const PREFERENCE: readonly ControlPlaneProvider[] = ['kubernetes', 'embedded'];

/** A cluster that has a place keeps it; a new one gets the best that its spec, the bounds and the installation allow. */
export function placementOf(cluster: TenantCluster, bounds: Bounds, offers: Offers, now: number): Placement {
  const controlPlanes = offers.controlPlanes.filter(({ versions }) => versions.length > 0);
  const { provider: wanted, replicas = 1 } = cluster.spec.controlPlane ?? {};
  const asked = cluster.spec.version;
  const { provider: held, version: heldVersion } = cluster.status ?? {};
  if (wanted !== undefined && held !== undefined && wanted !== held) {
    // Its store, its ports and its processes are that one's.
    return { refusal: `it has control plane "${held}" for life; make another cluster with "${wanted}"` };
  }
  const named = wanted ?? held;
  const candidates = controlPlanes.filter(({ provider }) => named === undefined || provider === named);
  if (candidates.length === 0) {
    const missing = offers.controlPlanes.find(({ provider }) => provider === named)?.missing;
    const why = missing === undefined ? '' : ` (${missing})`;
    return { refusal: `no control plane "${named}" can be had here${why}; use ${wordsOf(controlPlanes.map(({ provider }) => provider))}` };
  }
  const allowed = candidates.filter(({ provider }) => provider === held || bounds.controlPlanes.includes(provider));
  if (allowed.length === 0) {
    return { refusal: `${policyWords(bounds)} does not allow control plane "${candidates[0].provider}"; ask the operator for it` };
  }
  const large = allowed.filter(({ maxReplicas }) => maxReplicas >= replicas);
  if (large.length === 0) {
    return { refusal: `control plane "${allowed[0].provider}" has one replica here and ${replicas} are asked for; leave replicas out` };
  }
  const fits = (version: string) => asked === undefined || isVersion(version, asked);
  const choices = large.flatMap(({ provider, versions }) => versions.filter(fits).map((version) => ({ provider, version })));
  if (choices.length === 0) return { refusal: noVersion(asked!, large) };
  const kept = choices.find(({ provider, version }) => provider === held && version === heldVersion);
  if (kept !== undefined) return kept;
  const near = choices.filter(({ version }) => heldVersion === undefined || isNextOf(version, heldVersion));
  if (near.length === 0) return { refusal: tooFar(choices[0].version, heldVersion!) };
  const open = near.filter(({ version }) => isOpen(version, asked, bounds, now));
  if (open.length === 0) return { refusal: closedVersion(near[0].version, bounds, now) };
  return open.sort((a, b) => byNewest(a.version, b.version) || PREFERENCE.indexOf(a.provider) - PREFERENCE.indexOf(b.provider))[0];
}

/** For a new cluster, or one that changes its version. */
function isOpen(version: string, asked: string | undefined, bounds: Bounds, now: number): boolean {
  const seen = bounds.classify(version, now);
  if ('missingIn' in seen) return false;
  return seen.classification === 'supported' || (seen.classification === 'preview' && asked !== undefined);
}

/** Kubernetes is upgraded from one minor version to the next, and never taken back to an earlier one. */
function isNextOf(version: string, held: string): boolean {
  const [[major, minor], [heldMajor, heldMinor]] = [version, held].map((text) => text.split('.').map(Number));
  const step = minor - heldMinor;
  return major === heldMajor && (step === 1 || (step === 0 && byNewest(version, held) <= 0));
}

function tooFar(version: string, held: string): string {
  const isEarlier = byNewest(version, held) > 0;
  const why = isEarlier ? 'and is not taken back to an earlier version' : 'and is upgraded one minor version at a time';
  return `it has version ${held}, ${why}: ${version} cannot follow it; ask for the next one`;
}

function noVersion(asked: string, offers: readonly ControlPlaneOffer[]): string {
  const served = offers.map(({ provider, versions }) => `${provider} serves ${wordsOf(versions)}`).join(', ');
  return `no control plane here serves version ${asked}: ${served}; ask for one of these`;
}

function closedVersion(version: string, bounds: Bounds, now: number): string {
  const seen = bounds.classify(version, now);
  if ('missingIn' in seen) return `ClusterPolicy "${seen.missingIn}" does not allow version ${version}, which is what can be served here`;
  const why = {
    expired: 'has expired',
    deprecated: 'is deprecated: clusters that have it keep it, new ones cannot get it',
    preview: `is a preview: name it in spec.version to use it`,
    supported: 'is supported',
  }[seen.classification];
  return `version ${version} ${why} (ClusterPolicy "${seen.policy}")`;
}

export function policyWords({ policies }: Bounds): string {
  return `ClusterPolicy ${policies.map((name) => `"${name}"`).join(' or ')}`;
}

export function wordsOf(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
