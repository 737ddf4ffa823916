import { semanticEqual } from '../../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { byCreation, DESIRED_REPLICAS, MAX_REPLICAS, maxSurge, replicasOf } from './sizes.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const HASH_LABEL = 'pod-template-hash';
const MAX_HISTORY_LENGTH = 2000;

const OWN_ANNOTATIONS = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
]);

/** The set that runs the Deployment's template; the oldest when several do. */
export function findNewSet(deployment: KubeObject, sets: readonly KubeObject[]): KubeObject | undefined {
  const template = withoutHash(deployment.spec.template);
  return [...sets].sort(byCreation).find((set) => semanticEqual(withoutHash(set.spec.template), template));
}

function withoutHash(template: Json): Json {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  // A template has no creation time; some writers leave a null there.
  const { creationTimestamp: _none, ...metadata } = template.metadata ?? {};
  return { ...template, metadata: { ...metadata, labels } };
}

/** Revisions have 64 bits, and programs are known to begin with large ones. */
export function revisionOf(object: KubeObject): bigint | undefined {
  const text = object.metadata.annotations?.[REVISION];
  return text === undefined ? 0n : parseRevision(text);
}

function parseRevision(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

export function nextRevision(old: readonly KubeObject[]): bigint {
  return (
    old.reduce((max, set) => {
      const revision = revisionOf(set) ?? 0n;
      return revision > max ? revision : max;
    }, 0n) + 1n
  );
}

/** The annotations of the new set: the Deployment's, and the revision with the ones it had before (a rollback gives an old set a new one). */
export function newSetAnnotations(
  deployment: KubeObject,
  current: Record<string, string> | undefined,
  revision: bigint,
): Record<string, string> {
  const annotations: Record<string, string> = { ...current };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!OWN_ANNOTATIONS.has(key)) annotations[key] = value;
  }
  const before = current?.[REVISION];
  const known = before ? parseRevision(before) : 0n;
  if (known === undefined || known >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (before !== undefined) {
    const history = [...(current?.[REVISION_HISTORY]?.split(',').filter(Boolean) ?? []), before];
    while (history.join(',').length > MAX_HISTORY_LENGTH) history.shift();
    annotations[REVISION_HISTORY] = history.join(',');
  }
  return annotations;
}

/** What each set is told of the size it was last made for. */
export function sizeAnnotations(deployment: KubeObject): Record<string, string> {
  const desired = replicasOf(deployment);
  return { [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(desired + maxSurge(deployment)) };
}

/** Old sets that `revisionHistoryLimit` has no room for: the lowest revisions, unless they still hold Pods. */
export function surplusSets(deployment: KubeObject, old: readonly KubeObject[]): KubeObject[] {
  const limit: number | undefined = deployment.spec.revisionHistoryLimit;
  if (limit === undefined || limit === 2 ** 31 - 1) return [];
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = Math.max(0, alive.length - limit);
  const byRevision = alive.sort((a, b) => compareRevisions(a, b) || byCreation(a, b));
  return byRevision.slice(0, surplus).filter((set) => {
    const observed = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0);
    return (set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0 && observed;
  });
}

function compareRevisions(a: KubeObject, b: KubeObject): number {
  const [x, y] = [revisionOf(a) ?? 0n, revisionOf(b) ?? 0n];
  return x < y ? -1 : x > y ? 1 : 0;
}
