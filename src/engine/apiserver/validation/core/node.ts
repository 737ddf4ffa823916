import { isConfigMapKey, isDns1123Label, isDns1123Subdomain, isLabelValue } from '../../../../kube/names.ts';
import { parseCidr } from '../../../../kube/ip.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkLegacyCidr, checkPositive } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabelName } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkTaintEffect } from '../pod/tolerations.ts';
import { checkResourceQuantity } from '../quantities.ts';

const SPEC = path('spec');
const METADATA = path('metadata');

export function validateNode(out: Findings, node: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource !== 'status') checkNode(out, node);
  if (old !== undefined) checkUpdate(out, node, old);
}

function checkNode(out: Findings, node: KubeObject): void {
  checkTaints(out, node.spec?.taints ?? [], METADATA.child('taints'));
  checkAmounts(out, node.status ?? {});
  const capacity = node.status?.nodeInfo?.swap?.capacity;
  if (capacity !== undefined) checkPositive(out, capacity, METADATA.child('nodeSwapStatus', 'capacity'));
  const cidrs: string[] = node.spec?.podCIDRs ?? [];
  const at = SPEC.child('podCIDRs');
  cidrs.forEach((cidr, i) => checkLegacyCidr(out, cidr, at.index(i)));
  if (cidrs.length < 2) return;
  const versions = new Set(cidrs.map((cidr) => parseCidr(cidr)?.address.version));
  if (versions.has(undefined)) {
    const bad = cidrs.find((cidr) => parseCidr(cidr) === undefined);
    out.internal(at, `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR address: ${bad}`);
  }
  if (versions.has(undefined) || versions.size < 2 || cidrs.length > 2) {
    out.invalid(at, cidrs, 'may specify no more than one CIDR for each IP family');
  }
}

function checkTaints(out: Findings, taints: Json[], at: Path): void {
  const seen = new Set<string>();
  taints.forEach((taint, i) => {
    const { key = '', value = '', effect = '' } = taint;
    checkLabelName(out, key, at.index(i).child('key'));
    const messages = isLabelValue(value);
    if (messages.length > 0) out.invalid(at.index(i).child('value'), value, messages.join(';'));
    if (effect === '') out.required(at.index(i).child('effect'));
    else checkTaintEffect(out, effect, at.index(i).child('effect'));
    if (seen.has(`${effect}/${key}`)) {
      out.duplicate(at.index(i), internalForm('Taint', taint), 'taints must be unique by key and effect pair');
    }
    seen.add(`${effect}/${key}`);
  });
}

function checkAmounts(out: Findings, status: Json): void {
  for (const field of ['capacity', 'allocatable']) {
    for (const name in status[field]) checkResourceQuantity(out, name, status[field][name], path('status', field, name));
  }
}

function checkUpdate(out: Findings, node: KubeObject, old: KubeObject): void {
  const [spec, oldSpec, status] = [node.spec ?? {}, old.spec ?? {}, node.status ?? {}];
  checkAmounts(out, status);
  const addresses = new Set<string>();
  (status.addresses ?? []).forEach((address: Json, i: number) => {
    const key = `${address.type}/${address.address}`;
    if (addresses.has(key)) out.duplicate(path('status', 'addresses').index(i), internalForm('NodeAddress', address));
    addresses.add(key);
  });
  checkPodCidrUpdate(out, spec.podCIDRs ?? [], oldSpec.podCIDRs ?? []);
  if (oldSpec.providerID && oldSpec.providerID !== spec.providerID) {
    out.forbidden(SPEC.child('providerID'), 'node updates may not change providerID except from "" to valid');
  }
  if (spec.configSource !== undefined) checkConfigSource(out, spec.configSource, false, SPEC.child('configSource'));
  for (const field of ['assigned', 'active', 'lastKnownGood']) {
    const source = status.config?.[field];
    if (source !== undefined) checkConfigSource(out, source, true, path('status', 'config', field));
  }
  checkTaints(out, spec.taints ?? [], METADATA.child('taints'));
  if ((spec.externalID ?? '') !== (oldSpec.externalID ?? '')) out.forbidden(SPEC.child('externalID'), 'may not be updated');
}

function checkPodCidrUpdate(out: Findings, cidrs: string[], old: string[]): void {
  if (old.length === 0) return;
  const detail = 'node updates may not change podCIDR except from "" to valid';
  if (cidrs.length !== old.length) out.forbidden(SPEC.child('podCIDRs'), detail);
  else old.forEach((cidr, i) => (cidr === cidrs[i] ? undefined : out.forbidden(SPEC.child('podCIDRs'), detail)));
}

function checkConfigSource(out: Findings, source: Json, inStatus: boolean, at: Path): void {
  const map = source.configMap;
  if (map === undefined) return out.invalid(at, internalForm('NodeConfigSource', source), 'exactly one reference subfield must be non-nil');
  const mapAt = at.child('configMap');
  for (const field of ['uid', 'resourceVersion']) {
    if (inStatus && !map[field]) out.required(mapAt.child(field));
    if (!inStatus && map[field]) out.forbidden(mapAt.child(field), `${field} must not be set in spec`);
  }
  const checks: [string, (value: string) => string[]][] = [
    ['namespace', isDns1123Label],
    ['name', isDns1123Subdomain],
    ['kubeletConfigKey', isConfigMapKey],
  ];
  for (const [field, rule] of checks) {
    if (!map[field]) out.required(mapAt.child(field));
    else out.invalidEach(mapAt.child(field), map[field], rule(map[field]));
  }
}
