import { quote } from '../../../../kube/go-text.ts';
import { isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import { checkClaimTemplate } from '../core/claim-spec.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel } from '../formats.ts';
import { isNegative } from '../quantities.ts';
import type { Path } from '../path.ts';
import { checkPullPolicy } from './containers.ts';
import { checkIscsi, ISCSI_TOO_LONG } from './iscsi.ts';
import type { PodOptions } from './options.ts';
import { checkDownwardVolume, checkProjected } from './projected-volume.ts';
import * as sources from './volume-sources.ts';

type Check = (out: Findings, source: Json, at: Path, options: PodOptions) => void;

interface Source {
  field: string;
  check: Check;
  /** Where findings of the source stand, if not under the field's name. */
  place?: string;
  /** Where "more than one" is reported, if not under the field's name. */
  extraPlace?: string;
}

function checkEmptyDir(out: Findings, source: Json, at: Path): void {
  if (source.sizeLimit !== undefined && isNegative(source.sizeLimit)) {
    out.forbidden(at.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity');
  }
}

function checkEphemeral(out: Findings, source: Json, at: Path): void {
  if (source.volumeClaimTemplate === undefined) out.required(at.child('volumeClaimTemplate'));
  else checkClaimTemplate(out, source.volumeClaimTemplate, at.child('volumeClaimTemplate'));
}

function checkImage(out: Findings, source: Json, at: Path, options: PodOptions): void {
  if (options.isPod && !source.reference) out.required(at.child('reference'));
  checkPullPolicy(out, source.pullPolicy, at.child('pullPolicy'));
}

/** In the order Kubernetes looks at them; the first one found is the volume's type. */
const SOURCES: Source[] = [
  { field: 'emptyDir', check: checkEmptyDir },
  { field: 'hostPath', check: sources.checkHostPath },
  { field: 'gitRepo', check: sources.checkGitRepo },
  { field: 'gcePersistentDisk', check: sources.checkPartitioned('pdName'), place: 'persistentDisk' },
  { field: 'awsElasticBlockStore', check: sources.checkPartitioned('volumeID') },
  { field: 'secret', check: sources.checkKeyedFiles('secretName') },
  { field: 'nfs', check: sources.checkNfs },
  { field: 'iscsi', check: checkIscsi },
  { field: 'glusterfs', check: sources.requireAll('endpoints', 'path') },
  { field: 'flocker', check: sources.checkFlocker },
  { field: 'persistentVolumeClaim', check: sources.requireAll('claimName') },
  { field: 'rbd', check: sources.requireAll('monitors', 'image') },
  { field: 'cinder', check: sources.checkCinder },
  { field: 'cephfs', check: sources.requireAll('monitors'), extraPlace: 'cephFS' },
  { field: 'quobyte', check: sources.checkQuobyte },
  { field: 'downwardAPI', check: checkDownwardVolume, extraPlace: 'downwarAPI' },
  { field: 'fc', check: sources.checkFibreChannel },
  { field: 'flexVolume', check: sources.checkFlexVolume },
  { field: 'configMap', check: sources.checkKeyedFiles('name') },
  { field: 'azureFile', check: sources.requireAll('secretName', 'shareName') },
  { field: 'vsphereVolume', check: sources.requireAll('volumePath') },
  { field: 'photonPersistentDisk', check: sources.requireAll('pdID') },
  { field: 'portworxVolume', check: sources.requireAll('volumeID') },
  { field: 'azureDisk', check: sources.checkAzureDisk },
  { field: 'storageos', check: sources.checkStorageOs },
  { field: 'projected', check: checkProjected },
  { field: 'scaleIO', check: sources.requireAll('gateway', 'system', 'volumeName') },
  { field: 'csi', check: sources.checkCsi },
  { field: 'ephemeral', check: checkEphemeral },
  { field: 'image', check: checkImage },
];

function checkSource(out: Findings, volume: Json, at: Path, podName: string | undefined, options: PodOptions): void {
  let found = false;
  for (const { field, check, place, extraPlace } of SOURCES) {
    const source = volume[field];
    if (source === undefined) continue;
    if (found) out.forbidden(at.child(extraPlace ?? field), 'may not specify more than 1 volume type');
    else {
      check(out, source, at.child(place ?? field), options);
      if (field === 'ephemeral') checkClaimName(out, volume.name ?? '', at, podName);
    }
    found = true;
    if (field === 'iscsi' && source.initiatorName !== undefined && `${volume.name ?? ''}:${source.targetPortal ?? ''}`.length > 64) {
      out.invalid(at.child('name'), volume.name ?? '', ISCSI_TOO_LONG);
    }
  }
  if (!found) out.required(at, 'must specify a volume type');
}

/** The claim made for an ephemeral volume is named after Pod and volume. */
function checkClaimName(out: Findings, volumeName: string, at: Path, podName: string | undefined): void {
  if (!podName || volumeName === '') return;
  const claim = `${podName}-${volumeName}`;
  for (const message of isDns1123Subdomain(claim)) out.invalid(at.child('name'), volumeName, `PVC name ${quote(claim)}: ${message}`);
}

/** @returns the volumes that are right, by name: mounts of others are reported as not found. */
export function checkVolumes(
  out: Findings,
  volumes: Json[],
  podName: string | undefined,
  at: Path,
  options: PodOptions,
): Map<string, Json> {
  const usable = new Map<string, Json>();
  const created = new Set<string>();
  if (podName) for (const volume of volumes) if (volume.ephemeral !== undefined) created.add(`${podName}-${volume.name ?? ''}`);
  for (let i = 0; i < volumes.length; i++) {
    const volume = volumes[i];
    const name: string = volume.name ?? '';
    const itemAt = at.index(i);
    const before = out.count;
    checkSource(out, volume, itemAt, podName, options);
    if (name === '') out.required(itemAt.child('name'));
    else checkDnsLabel(out, name, itemAt.child('name'));
    if (usable.has(name)) out.duplicate(itemAt.child('name'), name);
    if (out.count === before) usable.set(name, volume);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined && created.has(claim)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      out.invalid(itemAt.child('persistentVolumeClaim', 'claimName'), claim, detail);
    }
  }
  return usable;
}
