import { getField } from '../../../../kube/json-value.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual, semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable, FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm, mapForm } from '../internal-form.ts';
import { objectDiff } from '../object-diff.ts';
import { path, type Path } from '../path.ts';
import { checkNodeSelector } from '../pod/affinity.ts';
import { checkPersistentIscsi } from '../pod/iscsi.ts';
import { hasInvalidNodeSelectorValue } from '../pod/options.ts';
import * as sources from '../pod/volume-sources.ts';
import { checkBasicQuantity, checkPositiveQuantity } from '../quantities.ts';
import { checkNoBacksteps } from '../relative-paths.ts';
import { checkAccessModes, VOLUME_MODES } from './claim-spec.ts';

const SPEC = path('spec');
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

export interface VolumeSpecContext {
  name: string;
  /** The spec stands inside a VolumeAttachment, where only CSI makes sense. */
  inline: boolean;
  allowInvalidNodeAffinityValues: boolean;
  /** Whether volumeAttributesClassName is looked at. */
  attributesClass: boolean;
}

export function validatePersistentVolume(out: Findings, volume: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return;
  const terms = old?.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  const context = {
    name: volume.metadata.name ?? '',
    inline: false,
    allowInvalidNodeAffinityValues: hasInvalidNodeSelectorValue(terms),
    attributesClass: true,
  };
  checkVolumeSpec(out, volume.spec ?? {}, SPEC, context);
  checkMountOptions(out, volume);
  if (old === undefined) return;
  checkVolumeSpec(out, volume.spec ?? {}, SPEC, context);
  checkUpdate(out, volume.spec ?? {}, old.spec ?? {});
}

type Check = (out: Findings, source: Json, at: Path, context: VolumeSpecContext) => void;

function checkGlusterfs(out: Findings, source: Json, at: Path): void {
  sources.checkNonEmpty(out, source, ['endpoints', 'path'], at);
  const namespace = source.endpointsNamespace;
  if (namespace === undefined) return;
  const namespaceAt = at.child('endpointsNamespace');
  if (namespace === '') out.invalid(namespaceAt, '', 'if the endpointnamespace is set, it must be a valid namespace name');
  else out.invalidEach(namespaceAt, namespace, isDns1123Label(namespace));
}

function checkNamespacedSecretRef(out: Findings, ref: Json, at: Path): void {
  sources.checkSecretRefName(out, ref, at);
  if (ref !== undefined && !ref.namespace) out.required(at.child('namespace'));
}

function checkCinder(out: Findings, source: Json, at: Path): void {
  if (!source.volumeID) out.required(at.child('volumeID'));
  checkNamespacedSecretRef(out, source.secretRef, at.child('secretRef'));
}

function checkAzureFile(out: Findings, source: Json, at: Path): void {
  sources.checkNonEmpty(out, source, ['secretName', 'shareName'], at);
  if (source.secretNamespace === '') out.required(at.child('secretNamespace'));
}

function checkLocal(out: Findings, source: Json, at: Path): void {
  if (!source.path) return out.required(at.child('path'));
  checkNoBacksteps(out, source.path, at.child('path'));
}

function checkStorageOs(out: Findings, source: Json, at: Path): void {
  sources.checkStorageOs(out, source, at);
  if (source.secretRef !== undefined && !source.secretRef.namespace) out.required(at.child('secretRef', 'namespace'));
}

function checkCsi(out: Findings, source: Json, at: Path): void {
  sources.checkCsiDriverName(out, source.driver, at.child('driver'));
  if (!source.volumeHandle) out.required(at.child('volumeHandle'));
  for (const field of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef']) {
    sources.checkSecretReference(out, source[field], at.child(field));
  }
}

const SOURCES: { field: string; check: Check; place?: string; extraPlace?: string }[] = [
  { field: 'hostPath', check: sources.checkHostPath },
  { field: 'gcePersistentDisk', check: sources.checkPartitioned('pdName'), place: 'persistentDisk' },
  { field: 'awsElasticBlockStore', check: sources.checkPartitioned('volumeID') },
  { field: 'glusterfs', check: checkGlusterfs },
  { field: 'flocker', check: sources.checkFlocker },
  { field: 'nfs', check: sources.checkNfs },
  { field: 'rbd', check: sources.requireAll('monitors', 'image') },
  { field: 'quobyte', check: sources.checkQuobyte },
  { field: 'cephfs', check: sources.requireAll('monitors'), extraPlace: 'cephFS' },
  { field: 'iscsi', check: (out, source, at, { name }) => checkPersistentIscsi(out, source, name, at) },
  { field: 'cinder', check: checkCinder },
  { field: 'fc', check: sources.checkFibreChannel },
  { field: 'flexVolume', check: sources.checkFlexVolume },
  { field: 'azureFile', check: checkAzureFile },
  { field: 'vsphereVolume', check: sources.requireAll('volumePath') },
  { field: 'photonPersistentDisk', check: sources.requireAll('pdID') },
  { field: 'portworxVolume', check: sources.requireAll('volumeID') },
  { field: 'azureDisk', check: sources.checkAzureDisk },
  { field: 'scaleIO', check: sources.requireAll('gateway', 'system', 'volumeName') },
  { field: 'local', check: checkLocal },
  { field: 'storageos', check: checkStorageOs },
  { field: 'csi', check: checkCsi },
];

export function checkVolumeSpec(out: Findings, spec: Json, at: Path, context: VolumeSpecContext): void {
  if (context.inline) checkInline(out, spec, at);
  if ((spec.accessModes ?? []).length === 0) out.required(at.child('accessModes'));
  checkAccessModes(out, spec.accessModes ?? [], at.child('accessModes'));
  if (!context.inline) checkCapacity(out, spec.capacity ?? {}, at.child('capacity'));
  checkReclaimPolicy(out, spec.persistentVolumeReclaimPolicy, context.inline, at.child('persistentVolumeReclaimPolicy'));
  const hasNodeAffinity = spec.nodeAffinity !== undefined && !context.inline;
  if (hasNodeAffinity) checkVolumeNodeAffinity(out, spec.nodeAffinity, context, at.child('nodeAffinity'));
  else if (spec.nodeAffinity !== undefined) {
    out.forbidden(at.child('nodeAffinity'), 'may not be specified in the context of inline volumes');
  }
  checkSource(out, spec, at, hasNodeAffinity, context);
  if (spec.hostPath !== undefined && /^\/(\.?\/)*\.?$/.test(spec.hostPath.path ?? '') && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    out.forbidden(at.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'");
  }
  checkClassAndMode(out, spec, at, context);
}

function checkInline(out: Findings, spec: Json, at: Path): void {
  const detail = 'may not be specified in the context of inline volumes';
  if (spec.claimRef !== undefined) out.forbidden(at.child('claimRef'), detail);
  if (Object.keys(spec.capacity ?? {}).length > 0) out.forbidden(at.child('capacity'), detail);
  if (spec.csi === undefined) out.required(at.child('csi'), 'has to be specified in the context of inline volumes');
}

function checkCapacity(out: Findings, capacity: Record<string, string>, at: Path): void {
  const count = Object.keys(capacity).length;
  if (count === 0) out.required(at);
  if (capacity.storage === undefined || count > 1) out.notSupported(at, count === 0 ? null : mapForm(capacity), ['storage']);
  for (const name in capacity) {
    checkBasicQuantity(out, capacity[name], at.key(name));
    checkPositiveQuantity(out, capacity[name], at.key(name));
  }
}

function checkReclaimPolicy(out: Findings, policy: string | undefined, inline: boolean, at: Path): void {
  if (!policy) return;
  if (inline) {
    if (policy !== 'Retain') out.forbidden(at, 'may only be Retain in the context of inline volumes');
  } else if (!RECLAIM_POLICIES.includes(policy)) out.notSupported(at, policy, RECLAIM_POLICIES);
}

function checkVolumeNodeAffinity(out: Findings, affinity: Json, context: VolumeSpecContext, at: Path): void {
  if (affinity.required === undefined) out.required(at.child('required'), 'must specify required node constraints');
  else checkNodeSelector(out, affinity.required, context.allowInvalidNodeAffinityValues, at.child('required'));
}

function checkSource(out: Findings, spec: Json, at: Path, hasNodeAffinity: boolean, context: VolumeSpecContext): void {
  let found = false;
  for (const { field, check, place, extraPlace } of SOURCES) {
    const source = spec[field];
    if (source === undefined) continue;
    if (found && field !== 'flexVolume') out.forbidden(at.child(extraPlace ?? field), 'may not specify more than 1 volume type');
    else {
      check(out, source, at.child(place ?? field), context);
      if (field === 'local' && !hasNodeAffinity) out.required(at.child('nodeAffinity'), 'Local volume requires node affinity');
    }
    found = true;
  }
  if (!found) out.required(at, 'must specify a volume type');
}

function checkClassAndMode(out: Findings, spec: Json, at: Path, context: VolumeSpecContext): void {
  const { storageClassName, volumeMode, volumeAttributesClassName: attributes } = spec;
  if (storageClassName && context.inline) {
    out.forbidden(at.child('storageClassName'), 'may not be specified in the context of inline volumes');
  } else if (storageClassName) out.invalidEach(at.child('storageClassName'), storageClassName, isDns1123Subdomain(storageClassName));
  if (volumeMode !== undefined && context.inline) {
    if (volumeMode !== 'Filesystem') {
      out.forbidden(at.child('volumeMode'), 'may not specify volumeMode other than Filesystem in the context of inline volumes');
    }
  } else if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) {
    out.notSupported(at.child('volumeMode'), volumeMode, VOLUME_MODES);
  }
  if (attributes === undefined || !context.attributesClass) return;
  const attributesAt = at.child('volumeAttributesClassName');
  if (attributes === '') out.required(attributesAt, 'an empty string is disallowed');
  else out.invalidEach(attributesAt, attributes, isDns1123Subdomain(attributes));
  if (spec.csi === undefined) out.required(at.child('csi'), 'has to be specified when using volumeAttributesClassName');
}

const MOUNTABLE = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';

function checkMountOptions(out: Findings, volume: KubeObject): void {
  if (volume.metadata.annotations?.[MOUNT_OPTIONS] === undefined) return;
  if (MOUNTABLE.some((field) => volume.spec?.[field] !== undefined)) return;
  out.forbidden(path('metadata', 'annotations', MOUNT_OPTIONS), 'may not specify mount options for this volume type');
}

const NOT_SOURCE = new Set([
  'Capacity',
  'AccessModes',
  'ClaimRef',
  'PersistentVolumeReclaimPolicy',
  'StorageClassName',
  'MountOptions',
  'VolumeMode',
  'NodeAffinity',
  'VolumeAttributesClassName',
]);

/** The part of the spec that says where the volume is, in the form it is compared and printed. */
function sourceForm(spec: Json): Json {
  const form = Object.entries<Json>(internalForm('PersistentVolumeSpec', spec));
  return Object.fromEntries(form.filter(([key]) => !NOT_SOURCE.has(key)));
}

function checkUpdate(out: Findings, spec: Json, old: Json): void {
  const munged = { ...spec };
  if (old.csi !== undefined && old.csi.controllerExpandSecretRef === undefined && spec.csi?.controllerExpandSecretRef !== undefined) {
    munged.csi = { ...spec.csi, controllerExpandSecretRef: undefined };
  }
  const [before, after] = [sourceForm(old), sourceForm(munged)];
  if (!deepEqual(before, after)) {
    const diff = objectDiff(before, after);
    out.forbidden(SPEC.child('persistentvolumesource'), `spec.persistentvolumesource is immutable after creation\n${diff}`);
  }
  checkImmutable(out, spec.volumeMode, old.volumeMode, path('volumeMode'));
  if (old.nodeAffinity !== undefined && !sameNodeAffinity(spec.nodeAffinity, old.nodeAffinity)) {
    const value = spec.nodeAffinity === undefined ? null : internalForm('VolumeNodeAffinity', spec.nodeAffinity);
    out.invalid(path('nodeAffinity'), value, `${FIELD_IMMUTABLE}, except for updating from beta label to GA`);
  }
  if (old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    out.forbidden(SPEC.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden');
  }
}

const STABLE_LABELS: Record<string, string> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** Labels that became stable may be written by their new name. */
function sameNodeAffinity(affinity: Json, old: Json): boolean {
  if (semanticEqual('VolumeNodeAffinity', affinity, old)) return true;
  const copy = structuredClone(old);
  const terms: Json[] = copy.required?.nodeSelectorTerms ?? [];
  terms.forEach((term, i) => {
    for (const list of ['matchExpressions', 'matchFields']) {
      (term[list] ?? []).forEach((requirement: Json, j: number) => {
        const next = affinity?.required?.nodeSelectorTerms?.[i]?.[list]?.[j]?.key;
        if (next !== undefined && getField(STABLE_LABELS, requirement.key) === next) requirement.key = next;
      });
    }
  });
  return semanticEqual('VolumeNodeAffinity', affinity, copy);
}
