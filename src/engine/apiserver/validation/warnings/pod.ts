import { quote } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import { internalForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import { visitContainers } from '../pod/visit.ts';
import { ipWarnings } from './addresses.ts';
import { claimSpecWarnings, fractionWarnings } from './fractions.ts';
import { deprecatedNodeLabel, nodeSelectorTermWarnings } from './node-labels.ts';
import { overlappingPathWarnings } from './overlapping-paths.ts';

const NO_SELECTOR = 'a null labelSelector results in matching no pod';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** `at` is where a template stands; a Pod stands nowhere but in itself. */
export function podWarnings(spec: Json, metadata: Json, at?: Path): string[] {
  const specAt = at === undefined ? path('spec') : at.child('spec');
  const annotationsAt = (at === undefined ? path('metadata') : at.child('metadata')).child('annotations');
  const annotations: Record<string, string> = metadata?.annotations ?? {};
  return [
    ...placementWarnings(spec, specAt),
    ...annotationWarnings(annotations, annotationsAt),
    ...volumeWarnings(spec.volumes ?? [], specAt.child('volumes')),
    ...overlappingPathWarnings(spec.volumes ?? []),
    ...repetitionWarnings(spec, specAt),
    ...fractionWarnings(spec.overhead, 'memory', specAt.child('overhead')),
    ...fractionWarnings(spec.overhead, 'ephemeral-storage', specAt.child('overhead')),
    ...containerWarnings(spec, annotations, at !== undefined, specAt, annotationsAt),
    ...portWarnings(spec, specAt),
    ...graceWarnings(spec, specAt),
    ...affinityWarnings(spec.affinity, specAt.child('affinity')),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((ip: string, i: number) =>
      ipWarnings(ip, specAt.child('dnsConfig', 'nameservers').index(i)),
    ),
    ...(spec.hostAliases ?? []).flatMap(({ ip = '' }: Json, i: number) => ipWarnings(ip, specAt.child('hostAliases').index(i).child('ip'))),
  ];
}

function placementWarnings(spec: Json, at: Path): string[] {
  const found: string[] = [];
  for (const key in spec.nodeSelector) {
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) found.push(`${at.child('nodeSelector').key(key).toString()}: ${message}`);
  }
  const affinity = spec.affinity?.nodeAffinity;
  const affinityAt = at.child('affinity', 'nodeAffinity');
  (affinity?.[REQUIRED]?.nodeSelectorTerms ?? []).forEach((term: Json, i: number) =>
    found.push(...nodeSelectorTermWarnings(term, false, affinityAt.child(REQUIRED, 'nodeSelectorTerms').index(i))),
  );
  (affinity?.[PREFERRED] ?? []).forEach((term: Json, i: number) =>
    found.push(...nodeSelectorTermWarnings(term.preference ?? {}, true, affinityAt.child(PREFERRED).index(i).child('preference'))),
  );
  (spec.topologySpreadConstraints ?? []).forEach(({ topologyKey, labelSelector }: Json, i: number) => {
    const constraintAt = at.child('topologySpreadConstraints').index(i);
    const message = deprecatedNodeLabel(topologyKey);
    if (message !== undefined) found.push(`${constraintAt.child('topologyKey').toString()}: ${topologyKey} is ${message}`);
    if (labelSelector === undefined) found.push(`${constraintAt.child('labelSelector').toString()}: ${NO_SELECTOR}`);
  });
  return found;
}

const DEPRECATED_ANNOTATIONS: Record<string, string> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

function annotationWarnings(annotations: Record<string, string>, at: Path): string[] {
  return Object.entries(DEPRECATED_ANNOTATIONS)
    .filter(([key]) => annotations[key] !== undefined)
    .map(([key, message]) => `${at.key(key).toString()}: ${message}`);
}

/** By field: where it is reported and since when it is gone. */
const OLD_VOLUMES: [field: string, place: string, message: string][] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function volumeWarnings(volumes: Json[], at: Path): string[] {
  return volumes.flatMap((volume, i) => {
    const found = OLD_VOLUMES.filter(([field]) => volume[field] !== undefined).map(
      ([, place, message]) => `${at.index(i).child(place).toString()}: ${message}`,
    );
    const template = volume.ephemeral?.volumeClaimTemplate;
    if (template === undefined) return found;
    return [...found, ...claimSpecWarnings(template.spec ?? {}, at.index(i).child('ephemeral', 'volumeClaimTemplate', 'spec'))];
  });
}

function repetitionWarnings(spec: Json, at: Path): string[] {
  const found: string[] = [];
  const repeated = (list: string, field: string): void => {
    const seen = new Set<string>();
    (spec[list] ?? []).forEach((item: Json, i: number) => {
      const value: string = item[field] ?? '';
      if (seen.has(value)) found.push(`${at.child(list).index(i).child(field).toString()}: duplicate ${field} ${quote(value)}`);
      seen.add(value);
    });
  };
  repeated('hostAliases', 'ip');
  repeated('imagePullSecrets', 'name');
  (spec.imagePullSecrets ?? []).forEach(({ name = '' }: Json, i: number) => {
    if (name === '') found.push(`${at.child('imagePullSecrets').index(i).child('name').toString()}: invalid empty name ""`);
  });
  return found;
}

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/';
const USE_SECCOMP_FIELD = 'non-functional in v1.27+; use the "seccompProfile" field instead';

function profileOfAnnotation(annotation: string): Json {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const file = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : '';
  return file === '' ? undefined : { type: 'Localhost', localhostProfile: file };
}

function containerWarnings(spec: Json, annotations: Record<string, string>, isTemplate: boolean, at: Path, annotationsAt: Path): string[] {
  const found: string[] = [];
  if (spec.securityContext?.seccompProfile === undefined && annotations[SECCOMP_POD] !== undefined) {
    found.push(`${annotationsAt.key(SECCOMP_POD).toString()}: ${USE_SECCOMP_FIELD}`);
  }
  visitContainers(spec, at, (container, containerAt) => {
    const { name = '', securityContext, resources, env } = container;
    const seccomp = SECCOMP_CONTAINER + name;
    if (securityContext?.seccompProfile === undefined && annotations[seccomp] !== undefined) {
      found.push(`${annotationsAt.key(seccomp).toString()}: ${USE_SECCOMP_FIELD}`);
    }
    const apparmor = annotations[APPARMOR + name];
    if (isTemplate && apparmor !== undefined && securityContext?.appArmorProfile === undefined) {
      const podProfile = spec.securityContext?.appArmorProfile;
      if (podProfile === undefined || !deepEqual(podProfile, profileOfAnnotation(apparmor))) {
        found.push(`${annotationsAt.key(APPARMOR + name).toString()}: deprecated since v1.30; use the "appArmorProfile" field instead`);
      }
    }
    if (resources !== undefined) {
      for (const amount of ['memory', 'ephemeral-storage']) {
        found.push(...fractionWarnings(resources.limits, amount, containerAt().child('resources', 'limits')));
        found.push(...fractionWarnings(resources.requests, amount, containerAt().child('resources', 'requests')));
      }
    }
    if (env?.length > 1) found.push(...envWarnings(env, containerAt().child('env')));
  });
  return found;
}

/** A later definition may build on an earlier one of the same name; otherwise it hides it. */
function envWarnings(variables: Json[], at: Path): string[] {
  const found: string[] = [];
  const names = new Set<string>();
  variables.forEach(({ name = '', value = '', valueFrom }, i) => {
    const reference = `$(${name})`;
    const hides = valueFrom !== undefined || value === reference || !value.includes(reference);
    if (names.has(name) && hides) {
      found.push(`${at.index(i).toString()}: hides previous definition of ${quote(name)}, which may be dropped when using apply`);
    }
    names.add(name);
  });
  return found;
}

function printStruct(form: Record<string, Json>): string {
  return `{${Object.entries(form)
    .map(([key, value]) => `${key}:${value}`)
    .join(' ')}}`;
}

/** Definitions of one port that further ones are compared with. */
const MAX_COMPARED = 20;

function portWarnings(spec: Json, at: Path): string[] {
  const found: string[] = [];
  const byPort = new Map<string, { port: Json; at: Path }[]>();
  const eachPort = (visit: (port: Json, portAt: Path) => void): void =>
    visitContainers(spec, at, (container, containerAt) =>
      (container.ports ?? []).forEach((port: Json, i: number) => visit(port, containerAt().child('ports').index(i))),
    );
  eachPort((port, portAt) => {
    const { hostIP = '', hostPort = 0, containerPort = 0, protocol = '' } = port;
    if (hostIP !== '' && hostPort === 0) {
      found.push(`${portAt.toString()}: hostIP set without hostPort: ${printStruct(internalForm('ContainerPort', port))}`);
    }
    const key = `${containerPort}/${protocol}`;
    const others = byPort.get(key) ?? [];
    for (const other of others.slice(0, MAX_COMPARED)) {
      const relation = portRelation(hostIP, hostPort, other.port.hostIP ?? '', other.port.hostPort ?? 0);
      if (relation !== undefined) found.push(`${portAt.toString()}: ${relation} port definition with ${other.at.toString()}`);
    }
    others.push({ port, at: portAt });
    byPort.set(key, others);
  });
  const names = new Map<string, string>();
  eachPort(({ name = '' }, portAt) => {
    if (name === '') return;
    const other = names.get(name);
    if (other === undefined) names.set(name, portAt.toString());
    else {
      const effect = `services and probes that select ports by name will use ${other}`;
      found.push(`${portAt.toString()}: duplicate port name ${quote(name)} with ${other}, ${effect}`);
    }
  });
  return found;
}

function portRelation(hostIp: string, hostPort: number, otherIp: string, otherPort: number): string | undefined {
  if (hostIp === otherIp && hostPort === otherPort) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  return hostPort === otherPort && (hostIp === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}

function graceWarnings(spec: Json, at: Path): string[] {
  if (!(spec.terminationGracePeriodSeconds < 0)) return [];
  return [`${at.child('terminationGracePeriodSeconds').toString()}: must be >= 0; negative values are invalid and will be treated as 1`];
}

function affinityWarnings(affinity: Json, at: Path): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const kindAt = at.child(kind);
    const required = (affinity?.[kind]?.[REQUIRED] ?? []).map((term: Json, i: number) =>
      term.labelSelector === undefined ? `${kindAt.child(REQUIRED).index(i).child('labelSelector').toString()}: ${NO_SELECTOR}` : '',
    );
    const preferred = (affinity?.[kind]?.[PREFERRED] ?? []).map((term: Json, i: number) =>
      term.podAffinityTerm?.labelSelector === undefined
        ? `${kindAt.child(PREFERRED).index(i).child('podAffinityTerm', 'labelSelector').toString()}: ${NO_SELECTOR}`
        : '',
    );
    return [...required, ...preferred].filter((text) => text !== '');
  });
}
