import type { Json } from '../../../../kube/object.ts';
import { procMount, seccompProfile } from './baseline-privileges.ts';
import {
  allContainers,
  containersText,
  exceptInUserNamespace,
  exceptOnWindows,
  joinQuoted,
  plural,
  settersText,
  sorted,
  type Check,
  type CheckPod,
} from './check.ts';

/** What the restricted level asks on top of baseline. */

const allowPrivilegeEscalation: CheckPod = (spec) => {
  const bad = namesOf(spec, (container) => container.securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const capabilities: CheckPod = (spec) => {
  const added = (container: Json): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name: string) => name !== 'NET_BIND_SERVICE');
  const keeping = namesOf(spec, (container) => !container.securityContext?.capabilities?.drop?.includes('ALL'));
  const adding = namesOf(spec, (container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const list = joinQuoted(sorted(allContainers(spec).flatMap(added)));
    details.push(`${containersText(adding)} must not include ${list} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const ALLOWED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const RESTRICTED_VOLUMES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

const restrictedVolumes: CheckPod = (spec) => {
  const bad: Json[] = (spec.volumes ?? []).filter((volume: Json) => !ALLOWED_VOLUMES.some((type) => volume[type] !== undefined));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => RESTRICTED_VOLUMES.find((type) => volume[type] !== undefined) ?? 'unknown'));
  const volumes = `${plural(bad.length, 'volume')} ${joinQuoted(bad.map((volume) => volume.name))}`;
  const what = `${plural(types.length, 'restricted volume type')} ${joinQuoted(types)}`;
  return { reason: 'restricted volume types', detail: `${volumes} ${plural(bad.length, 'uses', 'use')} ${what}` };
};

const runAsNonRoot: CheckPod = (spec) => {
  const ofPod = spec.securityContext?.runAsNonRoot;
  const explicit = namesOf(spec, (container) => container.securityContext?.runAsNonRoot === false);
  if (ofPod === false || explicit.length > 0) {
    const detail = `${settersText(ofPod === false, explicit)} must not set securityContext.runAsNonRoot=false`;
    return { reason: 'runAsNonRoot != true', detail };
  }
  const implicit = ofPod ? [] : namesOf(spec, (container) => container.securityContext?.runAsNonRoot === undefined);
  if (implicit.length === 0) return undefined;
  return { reason: 'runAsNonRoot != true', detail: `pod or ${containersText(implicit)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: CheckPod = (spec) => {
  const pod = spec.securityContext?.runAsUser === 0;
  const bad = namesOf(spec, (container) => container.securityContext?.runAsUser === 0);
  if (!pod && bad.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${settersText(pod, bad)} must not set runAsUser=0` };
};

const seccompProfileRequired: CheckPod = (spec, metadata) => {
  const bad = seccompProfile(spec, metadata);
  if (bad || spec.securityContext?.seccompProfile) return bad;
  const implicit = namesOf(spec, (container) => !container.securityContext?.seccompProfile);
  if (implicit.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(implicit)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

function namesOf(spec: Json, isBad: (container: Json) => boolean): string[] {
  return allContainers(spec)
    .filter(isBad)
    .map((container) => container.name);
}

export const RESTRICTED_CHECKS: Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: exceptOnWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      { since: 22, check: capabilities, overrides: ['capabilities_baseline'] },
      { since: 25, check: exceptOnWindows(capabilities), overrides: ['capabilities_baseline'] },
    ],
  },
  { id: 'procMount_restricted', level: 'restricted', versions: [{ since: 35, check: procMount, overrides: ['procMount'] }] },
  { id: 'restrictedVolumes', level: 'restricted', versions: [{ since: 0, check: restrictedVolumes, overrides: ['hostPathVolumes'] }] },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: exceptInUserNamespace(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: exceptInUserNamespace(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { since: 19, check: seccompProfileRequired, overrides: ['seccompProfile_baseline'] },
      { since: 25, check: exceptOnWindows(seccompProfileRequired), overrides: ['seccompProfile_baseline'] },
    ],
  },
];
