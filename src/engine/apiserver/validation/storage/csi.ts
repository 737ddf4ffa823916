import type { Json, KubeObject } from '../../../../kube/object.ts';
import { semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable, checkNonnegative, checkQualifiedName, FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import { checkCsiDriverName } from '../pod/volume-sources.ts';

const SPEC = path('spec');
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];

export function validateCsiDriver(out: Findings, driver: KubeObject, old: KubeObject | undefined): void {
  const spec = driver.spec ?? {};
  if (spec.attachRequired === undefined) out.required(SPEC.child('attachedRequired'));
  if (spec.podInfoOnMount === undefined) out.required(SPEC.child('podInfoOnMount'));
  if (spec.storageCapacity === undefined) out.required(SPEC.child('storageCapacity'));
  if (spec.fsGroupPolicy !== undefined && !FS_GROUP_POLICIES.includes(spec.fsGroupPolicy)) {
    out.notSupported(SPEC.child('fsGroupPolicy'), spec.fsGroupPolicy, FS_GROUP_POLICIES);
  }
  checkTokenRequests(out, spec.tokenRequests ?? [], SPEC.child('tokenRequests'));
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!LIFECYCLE_MODES.includes(mode)) out.notSupported(SPEC.child('volumeLifecycleModes'), mode, LIFECYCLE_MODES);
  }
  if (spec.seLinuxMount === undefined) out.required(SPEC.child('seLinuxMount'));
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (period < 10) out.invalid(SPEC.child('nodeAllocatableUpdatePeriodSeconds'), period, 'must be greater than or equal to 10 seconds');
  const inSecrets = spec.serviceAccountTokenInSecrets;
  if (inSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    out.invalid(SPEC.child('serviceAccountTokenInSecrets'), inSecrets, detail);
  }
  if (old === undefined) return;
  checkImmutable(out, spec.attachRequired, old.spec?.attachRequired, SPEC.child('attachedRequired'));
  checkImmutable(out, spec.volumeLifecycleModes, old.spec?.volumeLifecycleModes, SPEC.child('volumeLifecycleModes'));
}

function checkTokenRequests(out: Findings, requests: Json[], at: Path): void {
  const audiences = new Set<string>();
  requests.forEach(({ audience = '', expirationSeconds: seconds }, i) => {
    if (audiences.has(audience)) return out.duplicate(at.index(i).child('audience'), audience);
    audiences.add(audience);
    const secondsAt = at.index(i).child('expirationSeconds');
    if (seconds < 600) out.invalid(secondsAt, seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > 2 ** 32) out.invalid(secondsAt, seconds, 'may not specify a duration larger than 2^32 seconds');
  });
}

const MAX_NODE_ID = 256;
const DRIVERS = SPEC.child('drivers');

export function validateCsiNode(out: Findings, node: KubeObject, old: KubeObject | undefined): void {
  const drivers: Json[] = node.spec?.drivers ?? [];
  checkDrivers(out, drivers);
  if (old === undefined) return;
  checkDrivers(out, drivers);
  const byName = new Map(drivers.map((driver) => [driver.name ?? '', driver]));
  for (const before of old.spec?.drivers ?? []) {
    const driver = byName.get(before.name ?? '');
    if (driver === undefined) continue;
    const [a, b] = [driver, before].map((d): Json => ({ ...d, allocatable: undefined }));
    if (!semanticEqual('storage.CSINodeDriver', a, b)) out.invalid(DRIVERS, internalForm('storage.CSINodeDriver', a), FIELD_IMMUTABLE);
  }
}

function checkDrivers(out: Findings, drivers: Json[]): void {
  const names = new Set<string>();
  drivers.forEach((driver, i) => {
    const at = DRIVERS.index(i);
    const { name = '', nodeID = '', allocatable, topologyKeys = [] } = driver;
    checkCsiDriverName(out, name, at.child('name'));
    if (nodeID === '') out.required(at.child('nodeID'));
    if (nodeID.length > MAX_NODE_ID) out.invalid(at.child('nodeID'), nodeID, `must be ${MAX_NODE_ID} characters or less`);
    checkNonnegative(out, allocatable?.count, at.child('allocatable', 'count'));
    if (names.has(name)) out.duplicate(at.child('name'), name);
    names.add(name);
    const keys = new Set<string>();
    for (const key of topologyKeys) {
      if (key === '') out.required(at);
      if (keys.has(key)) out.duplicate(at, key);
      keys.add(key);
      checkQualifiedName(out, key, at);
    }
  });
}
