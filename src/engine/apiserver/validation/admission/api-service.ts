import { isDns1035Label, isDns1123Subdomain, isPathSegmentName } from '../../../../kube/names.ts';
import { isPortNumber } from '../../../../kube/ports.ts';
import { quote } from '../../../../kube/go-text.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { decodedLength } from '../core/secret.ts';
import type { Findings } from '../findings.ts';
import { path } from '../path.ts';

const SPEC = path('spec');
const STATUSES = ['True', 'False', 'Unknown'];

export function validateApiService(out: Findings, service: KubeObject, _old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') {
    (service.status?.conditions ?? []).forEach(({ status = '' }: Json, i: number) => {
      if (!STATUSES.includes(status)) out.notSupported(path('status', 'conditions').index(i).child('status'), status, STATUSES);
    });
    return;
  }
  const spec = service.spec ?? {};
  const { group = '', version = '', groupPriorityMinimum: groupPriority = 0, versionPriority = 0 } = spec;
  checkName(out, service.metadata.name ?? '', `${version}.${group}`);
  if (group === '' && version !== 'v1') {
    out.required(SPEC.child('group'), 'only v1 may have an empty group and it better be legacy kube');
  }
  if (group !== '') out.invalidEach(SPEC.child('group'), group, isDns1123Subdomain(group));
  out.invalidEach(SPEC.child('version'), version, isDns1035Label(version));
  if (groupPriority <= 0 || groupPriority > 20_000) {
    out.invalid(SPEC.child('groupPriorityMinimum'), groupPriority, 'must be positive and less than 20000');
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    out.invalid(SPEC.child('versionPriority'), versionPriority, 'must be positive and less than 1000');
  }
  if (spec.service === undefined) checkLocal(out, spec);
  else checkRemote(out, spec);
}

/** Part of what upstream checks as metadata: the name follows from the spec. */
function checkName(out: Findings, name: string, required: string): void {
  if (name === '' || isPathSegmentName(name).length > 0 || name === required) return;
  out.invalid(path('metadata', 'name'), name, `must be \`spec.version+"."+spec.group\`: ${quote(required)}`);
}

function checkLocal(out: Findings, { caBundle, insecureSkipTLSVerify }: Json): void {
  if (caBundle) out.invalid(SPEC.child('caBundle'), `${decodedLength(caBundle)} bytes`, 'local APIServices may not have a caBundle');
  if (insecureSkipTLSVerify) {
    out.invalid(SPEC.child('insecureSkipTLSVerify'), true, 'local APIServices may not have insecureSkipTLSVerify');
  }
}

function checkRemote(out: Findings, { service, caBundle, insecureSkipTLSVerify }: Json): void {
  const at = SPEC.child('service');
  if (!service.namespace) out.required(at.child('namespace'));
  if (!service.name) out.required(at.child('name'));
  const errors = isPortNumber(service.port ?? 0);
  if (errors.length > 0) out.invalid(at.child('port'), service.port ?? 0, `port is not valid: ${errors.join(', ')}`);
  if (insecureSkipTLSVerify && caBundle) {
    out.invalid(SPEC.child('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present');
  }
}
