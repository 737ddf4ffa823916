import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkLocalDescending, hasBacksteps } from '../relative-paths.ts';
import type { Path } from '../path.ts';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function placesByName(items: Json[], field: string): Map<string, string> {
  return new Map(items.map((item) => [item.name ?? '', item[field] ?? '']));
}

export function checkVolumeMounts(out: Findings, container: Json, volumes: Map<string, Json>, at: Path): void {
  const mounts: Json[] = container.volumeMounts ?? [];
  if (mounts.length === 0) return;
  const devices = placesByName(container.volumeDevices ?? [], 'devicePath');
  const devicePaths = new Set(devices.values());
  const mountPaths = new Set<string>();
  for (let i = 0; i < mounts.length; i++) {
    const mount = mounts[i];
    const { name = '', mountPath = '' } = mount;
    const itemAt = at.index(i);
    if (name === '') out.required(itemAt.child('name'));
    if (!volumes.has(name)) out.notFound(itemAt.child('name'), name);
    if (mountPath === '') out.required(itemAt.child('mountPath'));
    if (mountPaths.has(mountPath)) out.invalid(itemAt.child('mountPath'), mountPath, 'must be unique');
    mountPaths.add(mountPath);
    if (devices.has(name)) out.invalid(itemAt.child('name'), name, 'must not already exist in volumeDevices');
    if (devicePaths.has(mountPath)) {
      out.invalid(itemAt.child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices');
    }
    checkSubPath(out, mount, itemAt, at);
    if (mount.mountPropagation !== undefined) checkPropagation(out, mount.mountPropagation, container, at.child('mountPropagation'));
    if (mount.recursiveReadOnly !== undefined) checkRecursiveReadOnly(out, mount, at.child('recursiveReadOnly'));
  }
}

function checkSubPath(out: Findings, mount: Json, itemAt: Path, at: Path): void {
  if (mount.subPath) checkLocalDescending(out, mount.subPath, at.child('subPath'));
  if (!mount.subPathExpr) return;
  if (mount.subPath) out.invalid(itemAt.child('subPathExpr'), mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  checkLocalDescending(out, mount.subPathExpr, at.child('subPathExpr'));
}

function checkPropagation(out: Findings, propagation: string, container: Json, at: Path): void {
  if (!PROPAGATIONS.includes(propagation)) out.notSupported(at, propagation, PROPAGATIONS);
  if (propagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    out.forbidden(at, 'Bidirectional mount propagation is available only to privileged containers');
  }
}

function checkRecursiveReadOnly(out: Findings, mount: Json, at: Path): void {
  switch (mount.recursiveReadOnly) {
    case 'Disabled':
      return;
    case 'Enabled':
    case 'IfPossible':
      if (!mount.readOnly) out.forbidden(at, 'may only be specified when readOnly is true');
      if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
        out.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
      }
      return;
    default:
      out.notSupported(at, mount.recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']);
  }
}

export function checkVolumeDevices(out: Findings, container: Json, volumes: Map<string, Json>, at: Path): void {
  const devices: Json[] = container.volumeDevices ?? [];
  if (devices.length === 0) return;
  const mounts = placesByName(container.volumeMounts ?? [], 'mountPath');
  const mountPaths = new Set(mounts.values());
  const paths = new Set<string>();
  const names = new Set<string>();
  for (let i = 0; i < devices.length; i++) {
    const { name = '', devicePath = '' } = devices[i];
    const [nameAt, pathAt] = [at.index(i).child('name'), at.index(i).child('devicePath')];
    const volume = volumes.get(name);
    if (name === '') out.required(nameAt);
    if (names.has(name)) out.invalid(nameAt, name, 'must be unique');
    if (volume === undefined) out.notFound(nameAt, name);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      out.invalid(nameAt, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
    }
    if (devicePath === '') out.required(pathAt);
    if (paths.has(devicePath)) out.invalid(pathAt, devicePath, 'must be unique');
    if (hasBacksteps(devicePath)) out.invalid(pathAt, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.has(name)) out.invalid(nameAt, name, 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) out.invalid(pathAt, devicePath, 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
  }
}
