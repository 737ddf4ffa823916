import { isDns1123Label, isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel, checkDnsSubdomain } from '../formats.ts';
import { checkLocalDescending, checkLocalNonReserved, checkNoBacksteps } from '../relative-paths.ts';
import type { Path } from '../path.ts';

/** Volume sources that Pods and PersistentVolumes share, and the small ones of Pods. */
export type SourceCheck = (out: Findings, source: Json, at: Path) => void;

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

export function checkFileMode(out: Findings, mode: number | undefined, at: Path): void {
  if (mode !== undefined && (mode > 0o777 || mode < 0)) out.invalid(at, mode, FILE_MODE);
}

/** All of these must be there and not empty, in this order. */
export function checkNonEmpty(out: Findings, source: Json, fields: readonly string[], at: Path): void {
  for (const field of fields) if ((source[field] ?? '').length === 0) out.required(at.child(field));
}

export function requireAll(...fields: string[]): SourceCheck {
  return (out, source, at) => checkNonEmpty(out, source, fields, at);
}

const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

export function checkHostPath(out: Findings, source: Json, at: Path): void {
  if (!source.path) return out.required(at.child('path'));
  checkNoBacksteps(out, source.path, at.child('path'));
  if (source.type !== undefined && !HOST_PATH_TYPES.includes(source.type)) {
    out.notSupported(at.child('type'), source.type, HOST_PATH_TYPES);
  }
}

export function checkGitRepo(out: Findings, source: Json, at: Path): void {
  if (!source.repository) out.required(at.child('repository'));
  checkLocalDescending(out, source.directory ?? '', at.child('directory'));
}

export function checkPartitioned(idField: string): SourceCheck {
  return (out, source, at) => {
    if (!source[idField]) out.required(at.child(idField));
    const partition = source.partition ?? 0;
    if (partition < 0 || partition > 255) out.invalid(at.child('partition'), partition, 'must be between 1 and 255, inclusive');
  };
}

export function checkKeyToPath(out: Findings, item: Json, at: Path): void {
  if (!item.key) out.required(at.child('key'));
  if (!item.path) out.required(at.child('path'));
  checkLocalNonReserved(out, item.path ?? '', at.child('path'));
  checkFileMode(out, item.mode, at.child('mode'));
}

/** A Secret or ConfigMap as files; they differ in the field that names it. */
export function checkKeyedFiles(nameField: string): SourceCheck {
  return (out, source, at) => {
    if (!source[nameField]) out.required(at.child(nameField));
    checkFileMode(out, source.defaultMode, at.child('defaultMode'));
    const items: Json[] = source.items ?? [];
    for (let i = 0; i < items.length; i++) checkKeyToPath(out, items[i], at.child('items').index(i));
  };
}

export function checkNfs(out: Findings, source: Json, at: Path): void {
  checkNonEmpty(out, source, ['server', 'path'], at);
  if (!(source.path ?? '').startsWith('/')) out.invalid(at.child('path'), source.path ?? '', 'must be an absolute path');
}

const HOST_PORT = /^(\[[^\]]*\]|[^:[\]]*):[^:[\]]*$/;

export function checkQuobyte(out: Findings, source: Json, at: Path): void {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const registry: string = source.registry ?? '';
  if (registry === '') out.required(at.child('registry'), pairs);
  else if ((source.tenant ?? '').length >= 65) {
    out.required(at.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) if (!HOST_PORT.test(pair)) out.invalid(at.child('registry'), registry, pairs);
  }
  if (!source.volume) out.required(at.child('volume'));
}

export function checkFlocker(out: Findings, source: Json, at: Path): void {
  const { datasetName = '', datasetUUID = '' } = source;
  if (datasetName === '' && datasetUUID === '') out.required(at, 'one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '') {
    out.invalid(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  }
  if (datasetName.includes('/')) out.invalid(at.child('datasetName'), datasetName, "must not contain '/'");
}

export function checkFibreChannel(out: Findings, source: Json, at: Path): void {
  const wwns: string[] = source.targetWWNs ?? [];
  const wwids: string[] = source.wwids ?? [];
  if (wwns.length < 1 && wwids.length < 1) {
    out.required(at.child('targetWWNs'), 'must specify either targetWWNs or wwids, but not both');
  }
  if (wwns.length > 0 && wwids.length > 0) {
    out.invalid(at.child('targetWWNs'), wwns, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (wwns.length === 0) return;
  if (source.lun === undefined) out.required(at.child('lun'), 'lun is required if targetWWNs is specified');
  else if (source.lun < 0 || source.lun > 255) out.invalid(at.child('lun'), source.lun, 'must be between 0 and 255, inclusive');
}

export function checkSecretRefName(out: Findings, ref: Json, at: Path): void {
  if (ref !== undefined && !ref.name) out.required(at.child('name'));
}

export function checkCinder(out: Findings, source: Json, at: Path): void {
  if (!source.volumeID) out.required(at.child('volumeID'));
  checkSecretRefName(out, source.secretRef, at.child('secretRef'));
}

export function checkFlexVolume(out: Findings, source: Json, at: Path): void {
  if (!source.driver) out.required(at.child('driver'));
  for (const key in source.options) {
    const domain = `.${key.split('/', 1)[0].toLowerCase()}`;
    if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io')) {
      out.invalid(at.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved');
    }
  }
}

const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function checkAzureDisk(out: Findings, source: Json, at: Path): void {
  checkNonEmpty(out, source, ['diskName', 'diskURI'], at);
  const modes = ['None', 'ReadOnly', 'ReadWrite'];
  const kinds = ['Dedicated', 'Managed', 'Shared'];
  const { cachingMode, kind, diskURI = '' } = source;
  if (cachingMode !== undefined && !modes.includes(cachingMode)) out.notSupported(at.child('cachingMode'), cachingMode, modes);
  if (kind !== undefined && !kinds.includes(kind)) out.notSupported(at.child('kind'), kind, kinds);
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) out.notSupported(at.child('diskURI'), diskURI, [MANAGED_URI]);
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://')) {
    out.notSupported(at.child('diskURI'), diskURI, [BLOB_URI]);
  }
}

export function checkStorageOs(out: Findings, source: Json, at: Path): void {
  if (!source.volumeName) out.required(at.child('volumeName'));
  else checkDnsLabel(out, source.volumeName, at.child('volumeName'));
  if (source.volumeNamespace) checkDnsLabel(out, source.volumeNamespace, at.child('volumeNamespace'));
  checkSecretRefName(out, source.secretRef, at.child('secretRef'));
}

export function checkCsiDriverName(out: Findings, driver: string | undefined, at: Path): void {
  if (!driver) return out.required(at);
  if (driver.length > 63) out.tooLong(at, 63);
  out.invalidEach(at, driver, isDns1123Subdomain(driver.toLowerCase()));
}

export function checkCsi(out: Findings, source: Json, at: Path): void {
  checkCsiDriverName(out, source.driver, at.child('driver'));
  if (source.nodePublishSecretRef === undefined) return;
  const { name } = source.nodePublishSecretRef;
  if (!name) out.required(at.child('nodePublishSecretRef', 'name'));
  else out.invalidEach(at.child('name'), name, isDns1123Subdomain(name));
}

/** A reference by name and namespace, as PersistentVolumes need it. */
export function checkSecretReference(out: Findings, ref: Json, at: Path): void {
  if (ref === undefined) return;
  if (!ref.name) out.required(at.child('name'));
  else checkDnsSubdomain(out, ref.name, at.child('name'));
  if (!ref.namespace) out.required(at.child('namespace'));
  else out.invalidEach(at.child('namespace'), ref.namespace, isDns1123Label(ref.namespace));
}
