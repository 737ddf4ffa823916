import { isLabelValue } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import { Findings } from '../findings.ts';
import { checkLabelSelector } from '../labels.ts';
import { path } from '../path.ts';
import { isHugePages } from '../resource-names.ts';
import { isDivisibleHugePages } from './resources.ts';
import { checkMatchLabelKeys } from './topology-spread.ts';
import { checkLocalNonReserved } from '../relative-paths.ts';
import { isHostSysctl } from './security-context.ts';
import { hasValidDeletionCost } from './annotations.ts';

/**
 * What is tolerated in an update because the stored object has it already, although no new object may. Feature gates stand at
 * the defaults of Kubernetes 1.35.
 */
export interface PodOptions {
  /** A Pod rather than a template of one. */
  isPod: boolean;
  allowInvalidDeletionCost: boolean;
  allowInvalidSelectorValues: boolean;
  allowIndivisibleHugePages: boolean;
  allowInvalidSpreadSelector: boolean;
  allowNonLocalTokenPath: boolean;
  allowHostSysctls: boolean;
  allowInvalidNodeAffinityValues: boolean;
  oldViolatesMatchLabelKeys: boolean;
  allowAnySELinuxChangePolicy: boolean;
  allowVolumeDevicesInUserNamespace: boolean;
  allowTolerationComparison: boolean;
  allowHostNetworkInUserNamespace: boolean;
  allowRestartAllContainers: boolean;
}

const STRICT: PodOptions = {
  isPod: false,
  allowInvalidDeletionCost: false,
  allowInvalidSelectorValues: false,
  allowIndivisibleHugePages: false,
  allowInvalidSpreadSelector: false,
  allowNonLocalTokenPath: false,
  allowHostSysctls: false,
  allowInvalidNodeAffinityValues: false,
  oldViolatesMatchLabelKeys: false,
  allowAnySELinuxChangePolicy: false,
  allowVolumeDevicesInUserNamespace: false,
  allowTolerationComparison: false,
  allowHostNetworkInUserNamespace: false,
  allowRestartAllContainers: false,
};
const STRICT_POD: PodOptions = { ...STRICT, isPod: true };

export function allContainers(spec: Json): Json[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

export function podOptions(isPod: boolean, oldSpec?: Json, oldMetadata?: Json): PodOptions {
  if (oldSpec === undefined) return isPod ? STRICT_POD : STRICT;
  const inUserNamespace = oldSpec.hostUsers === false;
  return {
    isPod,
    allowInvalidDeletionCost: !hasValidDeletionCost(oldMetadata?.annotations),
    allowInvalidSelectorValues: hasInvalidAffinitySelector(oldSpec.affinity),
    allowIndivisibleHugePages: hasIndivisibleHugePages(oldSpec),
    allowInvalidSpreadSelector: finds((out) => eachSpread(oldSpec, (c) => checkLabelSelector(out, c.labelSelector, path('spec')))),
    allowNonLocalTokenPath: hasNonLocalTokenPath(oldSpec),
    allowHostSysctls: (oldSpec.securityContext?.sysctls ?? []).some((s: Json) => isHostSysctl(s.name ?? '', oldSpec) !== undefined),
    allowInvalidNodeAffinityValues: hasInvalidRequiredNodeAffinity(oldSpec.affinity),
    oldViolatesMatchLabelKeys: finds((out) =>
      eachSpread(oldSpec, (c) => checkMatchLabelKeys(out, c.matchLabelKeys, undefined, c.labelSelector, path('spec'))),
    ),
    allowAnySELinuxChangePolicy: oldSpec.securityContext?.seLinuxChangePolicy !== undefined,
    allowVolumeDevicesInUserNamespace: inUserNamespace && allContainers(oldSpec).some((c) => (c.volumeDevices ?? []).length > 0),
    allowTolerationComparison: (oldSpec.tolerations ?? []).some((t: Json) => t.operator === 'Lt' || t.operator === 'Gt'),
    allowHostNetworkInUserNamespace: inUserNamespace && oldSpec.hostNetwork === true,
    allowRestartAllContainers: allContainers(oldSpec).some((c) =>
      (c.restartPolicyRules ?? []).some((r: Json) => r.action === 'RestartAllContainers'),
    ),
  };
}

function finds(check: (out: Findings) => void): boolean {
  const out = new Findings();
  check(out);
  return out.count > 0;
}

function eachSpread(spec: Json, visit: (constraint: Json) => void): void {
  for (const constraint of spec.topologySpreadConstraints ?? []) visit(constraint);
}

function hasInvalidAffinitySelector(affinity: Json): boolean {
  if (affinity?.podAffinity === undefined && affinity?.podAntiAffinity === undefined) return false;
  return finds((out) => {
    for (const kind of [affinity.podAffinity, affinity.podAntiAffinity]) {
      const required: Json[] = kind?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      const preferred: Json[] = kind?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
      for (const term of [...required, ...preferred.map((p) => p.podAffinityTerm ?? {})]) {
        checkLabelSelector(out, term.labelSelector, path('spec'));
        checkLabelSelector(out, term.namespaceSelector, path('spec'));
      }
    }
  });
}

export function hasInvalidNodeSelectorValue(terms: Json[] | undefined): boolean {
  return (terms ?? []).some((term) =>
    (term.matchExpressions ?? []).some((e: Json) => (e.values ?? []).some((v: string) => isLabelValue(v).length > 0)),
  );
}

function hasInvalidRequiredNodeAffinity(affinity: Json): boolean {
  return hasInvalidNodeSelectorValue(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms);
}

function hasIndivisibleHugePages(spec: Json): boolean {
  const indivisible = (list: Record<string, string> | undefined): boolean =>
    Object.entries(list ?? {}).some(([name, quantity]) => isHugePages(name) && !isDivisibleHugePages(name, quantity));
  if (indivisible(spec.overhead)) return true;
  return allContainers(spec).some((c) => indivisible(c.resources?.limits) || indivisible(c.resources?.requests));
}

function hasNonLocalTokenPath(spec: Json): boolean {
  return finds((out) => {
    for (const volume of spec.volumes ?? []) {
      for (const source of volume.projected?.sources ?? []) {
        if (source.serviceAccountToken !== undefined) checkLocalNonReserved(out, source.serviceAccountToken.path ?? '', path('spec'));
      }
    }
  });
}
