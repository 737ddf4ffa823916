import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import type { Path } from '../path.ts';

const FORMATS: Record<string, RegExp> = {
  iqn: /iqn\.\d{4}-\d{2}\.([0-9A-Za-z\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[0-9A-Za-z]{16}$/,
  naa: /^naa.[0-9A-Za-z]{32}$/,
};
/** Real names end at 223 characters; the patterns would get slow on much longer ones. */
const MAX_LENGTH = 4096;
export const ISCSI_TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

function checkQualifiedName(out: Findings, name: string, at: Path, unknownPrefix: string): void {
  const format = FORMATS[name.slice(0, 3)];
  if (format === undefined) out.invalid(at, name, unknownPrefix);
  else if (name.length > MAX_LENGTH || !format.test(name)) out.invalid(at, name, 'must be valid format');
}

/** `whatPrefix` is the message for a name of no known kind; Pods are told more than PersistentVolumes. */
function checkTarget(out: Findings, iscsi: Json, at: Path, whatPrefix: string): void {
  if (!iscsi.iqn) out.required(at.child('iqn'));
  else checkQualifiedName(out, iscsi.iqn, at.child('iqn'), whatPrefix);
  const lun = iscsi.lun ?? 0;
  if (lun < 0 || lun > 255) out.invalid(at.child('lun'), lun, 'must be between 0 and 255, inclusive');
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) out.required(at.child('secretRef'));
}

function checkInitiator(out: Findings, iscsi: Json, at: Path, whatPrefix: string): void {
  if (iscsi.initiatorName !== undefined) checkQualifiedName(out, iscsi.initiatorName, at.child('initiatorname'), whatPrefix);
}

export function checkIscsi(out: Findings, iscsi: Json, at: Path): void {
  const prefix = 'must be valid format starting with iqn, eui, or naa';
  if (!iscsi.targetPortal) out.required(at.child('targetPortal'));
  checkTarget(out, iscsi, at, prefix);
  checkInitiator(out, iscsi, at, prefix);
}

export function checkPersistentIscsi(out: Findings, iscsi: Json, volumeName: string, at: Path): void {
  if (!iscsi.targetPortal) out.required(at.child('targetPortal'));
  if (iscsi.initiatorName !== undefined && `${volumeName}:${iscsi.targetPortal ?? ''}`.length > 64) {
    out.invalid(at.child('targetportal'), iscsi.targetPortal ?? '', ISCSI_TOO_LONG);
  }
  checkTarget(out, iscsi, at, 'must be valid format');
  if (iscsi.secretRef !== undefined && !iscsi.secretRef.name) out.required(at.child('secretRef', 'name'));
  checkInitiator(out, iscsi, at, 'must be valid format');
}
