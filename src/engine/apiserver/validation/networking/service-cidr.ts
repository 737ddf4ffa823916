import { parseCidr, validateCidr } from '../../../../kube/ip.ts';
import { isDns1123Subdomain, isPathSegmentName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path } from '../path.ts';

const CIDRS = path('spec', 'cidrs');
const PARENT = path('spec', 'parentRef');

export function validateServiceCidr(out: Findings, object: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return;
  const cidrs: string[] = object.spec?.cidrs ?? [];
  if (old === undefined) return checkCidrs(out, object, cidrs);
  const before: string[] = old.spec?.cidrs ?? [];
  const changed = (i: number): void => {
    if (before[i] !== cidrs[i]) out.invalid(CIDRS.index(i), cidrs[i], FIELD_IMMUTABLE);
  };
  if (before.length === cidrs.length) before.forEach((_, i) => changed(i));
  else if (before.length === 1 && cidrs.length === 2) {
    changed(0);
    checkCidrs(out, object, cidrs);
  } else out.invalid(CIDRS, object.spec?.cidrs, FIELD_IMMUTABLE);
}

function checkCidrs(out: Findings, object: KubeObject, cidrs: string[]): void {
  if (cidrs.length === 0) return out.required(CIDRS, 'at least one CIDR required');
  if (cidrs.length > 2) {
    return out.invalid(CIDRS, internalForm('networking.ServiceCIDRSpec', object.spec), 'may only hold up to 2 values');
  }
  cidrs.forEach((cidr, i) => out.addAll(validateCidr(CIDRS.index(i).toString(), cidr)));
  const versions = cidrs.map((cidr) => parseCidr(cidr)?.address.version);
  if (cidrs.length === 2 && versions[0] !== undefined && versions[0] === versions[1]) {
    out.invalid(CIDRS, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64');
  }
}

export function validateIpAddress(out: Findings, object: KubeObject, old: KubeObject | undefined): void {
  const parent = object.spec?.parentRef;
  checkParent(out, parent);
  if (old === undefined || semanticEqual('networking.ParentReference', parent, old.spec?.parentRef)) return;
  out.invalid(PARENT, parent === undefined ? null : internalForm('networking.ParentReference', parent), FIELD_IMMUTABLE);
}

function checkParent(out: Findings, parent: Json): void {
  if (parent === undefined) return out.required(PARENT);
  const { group = '', resource = '', name = '', namespace = '' } = parent;
  if (group !== '') out.invalidEach(PARENT.child('group'), group, isDns1123Subdomain(group));
  if (resource === '') out.required(PARENT.child('resource'));
  else out.invalidEach(PARENT.child('resource'), resource, isPathSegmentName(resource));
  if (name === '') out.required(PARENT.child('name'));
  else out.invalidEach(PARENT.child('name'), name, isPathSegmentName(name));
  if (namespace !== '') out.invalidEach(PARENT.child('namespace'), namespace, isPathSegmentName(namespace));
}
