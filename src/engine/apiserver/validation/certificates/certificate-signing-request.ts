import { quote } from '../../../../kube/go-text.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { internalForms } from '../internal-form.ts';
import { objectDiff } from '../object-diff.ts';
import { path } from '../path.ts';
import { checkSignerName } from '../pod/projected-volume.ts';
import { certificateError, requestError } from './certificate-request.ts';

const SPEC = path('spec');
const CONDITIONS = path('status', 'conditions');
const CERTIFICATE = path('status', 'certificate');
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const DECISIONS = ['Approved', 'Denied', 'Failed'];
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';

export function validateCertificateSigningRequest(
  out: Findings,
  request: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  checkRequest(out, request, old);
  if (old !== undefined) checkUpdate(out, request, old, subresource);
}

function decode(base64: string | undefined): string {
  return base64 === undefined ? '' : Buffer.from(base64, 'base64').toString('latin1');
}

function checkRequest(out: Findings, object: KubeObject, old: KubeObject | undefined): void {
  const { request, usages = [], signerName = '', expirationSeconds } = object.spec ?? {};
  // An unchanged request was checked when it came in, and its signature is the costly part.
  if (old === undefined || old.spec?.request !== request) {
    const error = requestError(decode(request));
    if (error !== undefined) out.invalid(SPEC.child('request'), request ?? null, error);
  }
  checkUsages(out, usages, old?.spec?.usages);
  if (signerName === LEGACY_SIGNER && old?.spec?.signerName !== LEGACY_SIGNER) {
    out.invalid(SPEC.child('signerName'), signerName, 'the legacy signerName is not allowed via this API version');
  } else checkSignerName(out, signerName, SPEC.child('signerName'));
  if (expirationSeconds < 600) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    out.invalid(SPEC.child('expirationSeconds'), expirationSeconds, detail);
  }
  checkConditions(out, object.status?.conditions ?? [], old?.status?.conditions);
  const certificate = decode(object.status?.certificate);
  const untouched = old !== undefined && object.status?.certificate === old.status?.certificate;
  if (untouched || (old !== undefined && certificateError(decode(old.status?.certificate)) !== undefined)) return;
  const error = certificateError(certificate);
  if (error !== undefined) out.invalid(CERTIFICATE, '<certificate data>', error);
}

function checkUsages(out: Findings, usages: string[], old: string[] | undefined): void {
  const at = SPEC.child('usages');
  if (usages.length === 0) out.required(at);
  if (!old?.some((usage) => !USAGES.includes(usage))) {
    usages.forEach((usage, i) => {
      if (!USAGES.includes(usage)) out.notSupported(at.index(i), usage, USAGES);
    });
  }
  if (old !== undefined && new Set(old).size < old.length) return;
  usages.forEach((usage, i) => {
    if (usages.indexOf(usage) < i) out.duplicate(at.index(i), usage);
  });
}

function checkConditions(out: Findings, conditions: Json[], old: Json[] | undefined): void {
  const oldTypes: string[] = (old ?? []).map((c) => c.type ?? '');
  const allowBoth = oldTypes.includes('Approved') && oldTypes.includes('Denied');
  const allowRepeats = new Set(oldTypes).size < oldTypes.length;
  const seen = new Set<string>();
  conditions.forEach(({ type = '', status = '' }, i) => {
    if (type === '' && !oldTypes.includes('')) out.required(CONDITIONS.index(i).child('type'));
    const statuses = DECISIONS.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') out.required(CONDITIONS.index(i).child('status'));
    else if (!statuses.includes(status)) out.notSupported(CONDITIONS.index(i).child('status'), status, statuses);
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (!allowBoth && opposite !== undefined && seen.has(opposite)) {
      out.invalid(CONDITIONS, type, 'Approved and Denied conditions are mutually exclusive');
    }
    if (!allowRepeats && seen.has(type)) out.duplicate(CONDITIONS.index(i).child('type'), type);
    seen.add(type);
  });
}

function conditionsOf(object: KubeObject, type: string): Json[] {
  return (object.status?.conditions ?? []).filter((c: Json) => c.type === type);
}

function checkUpdate(out: Findings, object: KubeObject, old: KubeObject, subresource: string): void {
  for (const type of DECISIONS) {
    if (conditionsOf(object, type).length < conditionsOf(old, type).length) {
      out.forbidden(CONDITIONS, `updates may not remove a condition of type ${quote(type)}`);
    }
  }
  if (subresource !== 'approval') for (const type of ['Approved', 'Denied']) checkDecisionKept(out, object, old, type);
  const [certificate, before] = [object.status?.certificate ?? '', old.status?.certificate ?? ''];
  if (certificate === before) return;
  if (subresource !== 'status') out.forbidden(CERTIFICATE, 'updates may not set certificate content');
  else if (before !== '') out.forbidden(CERTIFICATE, 'updates may not modify existing certificate content');
}

function checkDecisionKept(out: Findings, object: KubeObject, old: KubeObject, type: string): void {
  const [next, before] = [conditionsOf(object, type), conditionsOf(old, type)];
  if (next.length > before.length) out.forbidden(CONDITIONS, `updates may not add a condition of type ${quote(type)}`);
  else if (next.length === before.length && !deepEqual(next, before)) {
    const form = (conditions: Json[]): Json => internalForms('certificates.CertificateSigningRequestCondition', conditions);
    const diff = objectDiff(form(before), form(next));
    out.forbidden(CONDITIONS, `updates may not modify a condition of type ${quote(type)}\n${diff}`);
  }
}
