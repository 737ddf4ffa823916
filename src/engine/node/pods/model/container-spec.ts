import type { Container, PodSpec, SecurityContext } from '../../../../kube/generated/core-v1.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { ContainerSpec, ResourceLimits, SecuritySpec } from '../../drivers/driver.ts';

/** Processes of one container, when nobody says otherwise: a fork bomb ends here. */
export const PIDS_LIMIT = 1024;
const MINIMUM_SHARES = 2;

/** What a container may use. Without a CPU request its limit counts as one, as in Kubernetes. */
export function resourceLimits({ resources }: Pick<Container, 'resources'>): ResourceLimits {
  const millis = (text: string | number | undefined) => (text === undefined ? undefined : Number(Quantity.parse(text).nano / 1_000_000n));
  const bytes = (text: string | number | undefined) =>
    text === undefined ? undefined : Number(Quantity.parse(text).nano / 1_000_000_000n);
  const cpuMillis = millis(resources?.limits?.cpu);
  const requested = millis(resources?.requests?.cpu) ?? cpuMillis ?? 0;
  return {
    cpuShares: Math.max(MINIMUM_SHARES, Math.floor((requested * 1024) / 1000)),
    ...(cpuMillis ? { cpuMillis } : {}),
    ...(resources?.limits?.memory !== undefined ? { memoryBytes: bytes(resources.limits.memory) } : {}),
    pids: PIDS_LIMIT,
  };
}

/** Sums over the containers that run at the same time; a limit only where all of them have one, or the Pod itself. */
export function podLimits(spec: PodSpec): ResourceLimits {
  const long = [...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'), ...spec.containers];
  const short = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== 'Always').map(resourceLimits);
  const limits = long.map(resourceLimits);
  const total = (field: 'cpuShares' | 'cpuMillis' | 'memoryBytes'): number | undefined => {
    if ([...limits, ...short].some((one) => one[field] === undefined)) return undefined;
    return Math.max(
      limits.reduce((sum, one) => sum + one[field]!, 0),
      ...short.map((one) => one[field]!),
    );
  };
  const own = spec.resources ? resourceLimits({ resources: spec.resources }) : undefined;
  const cpuShares = spec.resources?.requests?.cpu === undefined ? total('cpuShares') : own?.cpuShares;
  const cpuMillis = own?.cpuMillis ?? total('cpuMillis');
  const memoryBytes = own?.memoryBytes ?? total('memoryBytes');
  return {
    ...(cpuShares === undefined ? {} : { cpuShares }),
    ...(cpuMillis === undefined ? {} : { cpuMillis }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    pids: PIDS_LIMIT * Math.max(1, limits.length),
  };
}

export function securitySpec(spec: PodSpec, own: SecurityContext | undefined): SecuritySpec {
  const profile = own?.seccompProfile ?? spec.securityContext?.seccompProfile;
  const privileged = own?.privileged ?? false;
  return {
    privileged,
    readOnlyRoot: own?.readOnlyRootFilesystem ?? false,
    allowPrivilegeEscalation: own?.allowPrivilegeEscalation ?? true,
    addCapabilities: own?.capabilities?.add ?? [],
    dropCapabilities: own?.capabilities?.drop ?? [],
    seccomp: seccomp(profile, privileged),
    hostPid: spec.hostPID ?? false,
    hostIpc: spec.hostIPC ?? false,
  };
}

/** Ours is stricter than a kubelet's default: a container that says nothing gets the profile of the runtime. */
function seccomp(profile: SecurityContext['seccompProfile'], privileged: boolean): SecuritySpec['seccomp'] {
  if (profile?.type === 'Localhost') return { type: 'Localhost', profile: profile.localhostProfile ?? '' };
  if (profile?.type === 'Unconfined' || (privileged && !profile)) return { type: 'Unconfined' };
  return { type: 'RuntimeDefault' };
}

export function userOf(spec: PodSpec, own: SecurityContext | undefined): ContainerSpec['user'] {
  const pod = spec.securityContext;
  const uid = own?.runAsUser ?? pod?.runAsUser;
  const gid = own?.runAsGroup ?? pod?.runAsGroup;
  const groups = [...(pod?.supplementalGroups ?? []), ...(pod?.fsGroup === undefined ? [] : [pod.fsGroup])];
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    groups: [...new Set(groups)],
    mustNotBeRoot: own?.runAsNonRoot ?? pod?.runAsNonRoot ?? false,
  };
}
