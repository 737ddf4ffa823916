import type { Json } from '../../../../kube/object.ts';
import { quote } from '../../../../kube/go-text.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Findings } from '../findings.ts';
import { checkDomainPrefixedKey } from '../formats.ts';
import { internalForm, selectorForm } from '../internal-form.ts';
import { checkLabelSelector } from '../labels.ts';
import { checkLocalNonReserved } from '../relative-paths.ts';
import type { Path } from '../path.ts';
import { checkFieldRef, checkResourceFieldRef, VOLUME_FIELDS } from './downward-api.ts';
import type { PodOptions } from './options.ts';
import { checkFileMode, checkKeyToPath } from './volume-sources.ts';

const SAME_PATH = 'conflicting duplicate paths';

export function checkDownwardFile(out: Findings, file: Json, at: Path): void {
  if (!file.path) out.required(at.child('path'));
  checkLocalNonReserved(out, file.path ?? '', at.child('path'));
  if (file.fieldRef !== undefined) {
    checkFieldRef(out, file.fieldRef, VOLUME_FIELDS, at.child('fieldRef'));
    if (file.resourceFieldRef !== undefined) {
      out.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (file.resourceFieldRef !== undefined) checkResourceFieldRef(out, file.resourceFieldRef, at.child('resourceFieldRef'), true);
  else out.required(at, 'one of fieldRef and resourceFieldRef is required');
  checkFileMode(out, file.mode, at.child('mode'));
}

export function checkDownwardVolume(out: Findings, source: Json, at: Path): void {
  checkFileMode(out, source.defaultMode, at.child('defaultMode'));
  for (const file of source.items ?? []) checkDownwardFile(out, file, at);
}

export function checkProjected(out: Findings, projected: Json, at: Path, options: PodOptions): void {
  checkFileMode(out, projected.defaultMode, at.child('defaultMode'));
  const paths = new Set<string>();
  const claim = (path: string, value: string = path): void => {
    if (paths.has(path)) out.invalid(at, value, SAME_PATH);
    else paths.add(path);
  };
  const sources: Json[] = projected.sources ?? [];
  for (let i = 0; i < sources.length; i++) checkSource(out, sources[i], at, at.child('sources').index(i), claim, options);
}

type Claim = (path: string, value?: string) => void;

function checkSource(out: Findings, source: Json, volumeAt: Path, at: Path, claim: Claim, options: PodOptions): void {
  let kinds = 0;
  for (const field of ['secret', 'configMap']) {
    if (source[field] === undefined) continue;
    kinds++;
    checkKeyedProjection(out, source[field], at.child(field), claim);
  }
  if (source.downwardAPI !== undefined) {
    kinds++;
    for (const file of source.downwardAPI.items ?? []) {
      checkDownwardFile(out, file, at.child('downwardAPI'));
      if (file.path) claim(file.path);
    }
  }
  if (source.serviceAccountToken !== undefined) {
    kinds++;
    checkToken(out, source.serviceAccountToken, volumeAt, at.child('serviceAccountToken'), options);
  }
  if (source.clusterTrustBundle !== undefined) {
    kinds++;
    checkTrustBundle(out, source.clusterTrustBundle, at.child('clusterTrustBundle'));
    claim(source.clusterTrustBundle.path ?? '');
  }
  if (source.podCertificate !== undefined) {
    kinds++;
    checkPodCertificate(out, source.podCertificate, at.child('podCertificate'), claim);
  }
  if (kinds > 1) out.forbidden(at, 'may not specify more than 1 volume type per source');
}

function checkKeyedProjection(out: Findings, source: Json, at: Path, claim: Claim): void {
  if (!source.name) out.required(at.child('name'));
  const items: Json[] = source.items ?? [];
  items.forEach((item, i) => {
    checkKeyToPath(out, item, at.child('items').index(i));
    if (item.path) claim(item.path, source.name ?? '');
  });
}

function checkToken(out: Findings, token: Json, volumeAt: Path, at: Path, options: PodOptions): void {
  const seconds = token.expirationSeconds ?? 0;
  if (seconds < 600) out.invalid(at.child('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > 2 ** 32) out.invalid(at.child('expirationSeconds'), seconds, 'may not specify a duration larger than 2^32 seconds');
  if (!token.path) out.required(volumeAt.child('path'));
  else if (!options.allowNonLocalTokenPath) checkLocalNonReserved(out, token.path, volumeAt.child('path'));
}

function trustBundleNameErrors(name: string): string[] {
  const colon = name.lastIndexOf(':');
  const signer = colon < 0 ? '' : name.slice(0, colon).replaceAll(':', '/');
  if (signer === '') {
    return name.includes(':') ? ['ClusterTrustBundle without signer name must not have ":" in its name'] : isDns1123Subdomain(name);
  }
  const prefix = `${signer.replaceAll('/', ':')}:`;
  return name.startsWith(prefix)
    ? isDns1123Subdomain(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

function checkTrustBundle(out: Findings, bundle: Json, at: Path): void {
  const { name, signerName, labelSelector } = bundle;
  if (name !== undefined && signerName !== undefined) {
    out.invalid(at, internalForm('ClusterTrustBundleProjection', bundle), 'only one of name and signerName may be used');
  } else if (name !== undefined) {
    if (name === '') out.required(at.child('name'), 'must be a valid object name');
    for (const message of trustBundleNameErrors(name)) {
      out.invalid(at.child('name'), name, `not a valid clustertrustbundlename: ${message}`);
    }
    if (labelSelector !== undefined) {
      out.invalid(at.child('labelSelector'), selectorForm(labelSelector), 'labelSelector must be unset if name is specified');
    }
  } else if (signerName !== undefined) {
    if (signerName === '') out.required(at.child('signerName'), 'must be a valid signer name');
    checkSignerName(out, signerName, at.child('signerName'));
    checkLabelSelector(out, labelSelector, at.child('labelSelector'));
  } else out.required(at, 'either name or signerName must be specified');
  if (!bundle.path) out.required(at.child('path'));
  checkLocalNonReserved(out, bundle.path ?? '', at.child('path'));
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];

function checkPodCertificate(out: Findings, certificate: Json, at: Path, claim: Claim): void {
  const { signerName = '', keyType = '', maxExpirationSeconds, userAnnotations } = certificate;
  checkSignerName(out, signerName, at.child('signerName'));
  for (const key in userAnnotations) checkDomainPrefixedKey(out, key.toLowerCase(), at.child('userAnnotations'));
  if (!KEY_TYPES.includes(keyType)) out.notSupported(at.child('keyType'), keyType, KEY_TYPES);
  if (maxExpirationSeconds !== undefined) {
    const limit = isKubernetesSigner(signerName) ? 86_400 : 7_862_400;
    const field = at.child('maxExpirationSeconds');
    if (maxExpirationSeconds < 3600) out.invalid(field, maxExpirationSeconds, 'if provided, maxExpirationSeconds must be >= 3600');
    if (maxExpirationSeconds > limit) out.invalid(field, maxExpirationSeconds, `if provided, maxExpirationSeconds must be <= ${limit}`);
  }
  let files = 0;
  for (const field of ['credentialBundlePath', 'keyPath', 'certificateChainPath']) {
    if (!certificate[field]) continue;
    files++;
    checkLocalNonReserved(out, certificate[field], at.child(field));
    claim(certificate[field]);
  }
  if (files === 0) out.required(at, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath');
}

function isKubernetesSigner(signerName: string): boolean {
  const host = signerName.split('/', 1)[0];
  return host === 'kubernetes.io' || host.endsWith('.kubernetes.io');
}

/** `example.com/signer-name`, the name of who signs certificates. */
export function checkSignerName(out: Findings, signerName: string, at: Path): void {
  if (signerName === '') return out.required(at);
  const segments = signerName.split('/');
  if (segments.length !== 2) {
    return out.invalid(at, signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  const [domain, path] = segments;
  if (domain.length > 253) out.tooLong(at, 253);
  checkSegments(out, domain, isDns1123Label, at);
  if (!domain.includes('.')) out.invalid(at, domain, 'should be a domain with at least two segments separated by dots');
  checkSegments(out, path, isDns1123Subdomain, at);
  if (signerName.length > 571) out.tooLong(at, 571);
}

function checkSegments(out: Findings, text: string, rule: (label: string) => string[], at: Path): void {
  for (const label of text.split('.')) {
    const messages = rule(label);
    for (const message of messages) out.invalid(at, text, `validating label ${quote(label)}: ${message}`);
    if (messages.length > 0) return;
  }
}
