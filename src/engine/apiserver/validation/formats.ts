import { validateDomainPrefixedKey, validateDomainPrefixedPath, validateFullyQualifiedName } from '../../../kube/domain-names.ts';
import { parseCidr, parseIp } from '../../../kube/ip.ts';
import { isConfigMapKey, isDns1123Label, isDns1123Subdomain, isQualifiedName, regexError } from '../../../kube/names.ts';
import { isPortName, isPortNumber } from '../../../kube/ports.ts';
import type { Json } from '../../../kube/object.ts';
import { deepEqual, semanticEqual } from './equality.ts';
import type { Findings } from './findings.ts';
import { NOT_NEGATIVE, NOT_POSITIVE } from './quantities.ts';
import type { Path } from './path.ts';

/** Checks of single values that many kinds share. */
export const FIELD_IMMUTABLE = 'field is immutable';

export function checkDnsLabel(out: Findings, value: string, at: Path): void {
  out.invalidEach(at, value, isDns1123Label(value));
}

export function checkDnsSubdomain(out: Findings, value: string, at: Path): void {
  out.invalidEach(at, value, isDns1123Subdomain(value));
}

export function checkQualifiedName(out: Findings, value: string, at: Path): void {
  out.invalidEach(at, value, isQualifiedName(value));
}

export function checkConfigMapKey(out: Findings, value: string, at: Path): void {
  out.invalidEach(at, value, isConfigMapKey(value));
}

export function checkNonnegative(out: Findings, value: number | undefined, at: Path): void {
  if (value !== undefined && value < 0) out.invalid(at, value, NOT_NEGATIVE);
}

export function checkPositive(out: Findings, value: number | undefined, at: Path): void {
  if ((value ?? 0) <= 0) out.invalid(at, value ?? 0, NOT_POSITIVE);
}

/** Scalars, lists of scalars and metav1 types, which print as they are served. */
export function checkImmutable(out: Findings, value: Json, old: Json, at: Path): void {
  if (!deepEqual(value, old)) out.invalid(at, value, FIELD_IMMUTABLE);
}

/** As above for a Go struct: compared by its meaning, printed by `print`. */
export function checkImmutableForm(out: Findings, type: string, value: Json, old: Json, at: Path, print: () => Json): void {
  if (!semanticEqual(type, value, old)) out.invalid(at, print(), FIELD_IMMUTABLE);
}

/** A value of a closed set; absent is a required value missing. */
export function checkOneOf(out: Findings, value: string | undefined, supported: readonly string[], at: Path): void {
  if (value === undefined || value === '') out.required(at);
  else if (!supported.includes(value)) out.notSupported(at, value, supported);
}

export function checkPortNumber(out: Findings, port: number, at: Path): void {
  out.invalidEach(at, port, isPortNumber(port));
}

/** `targetPort`, probes: a number, or the name of a port. */
export function checkPortNumberOrName(out: Findings, port: number | string | undefined, at: Path): void {
  if (typeof port === 'string') out.invalidEach(at, port, isPortName(port));
  else checkPortNumber(out, port ?? 0, at);
}

export function checkLegacyIp(out: Findings, value: string, at: Path, known: readonly string[] = []): boolean {
  if (parseIp(value) !== undefined || known.includes(value)) return true;
  out.invalid(at, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
  return false;
}

export function checkLegacyCidr(out: Findings, value: string, at: Path, known: readonly string[] = []): boolean {
  if (parseCidr(value) !== undefined || known.includes(value)) return true;
  out.invalid(at, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  return false;
}

const UNDERSCORE_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const UNDERSCORE_SUBDOMAIN = `${UNDERSCORE_LABEL}(\\.${UNDERSCORE_LABEL})*`;
const UNDERSCORE_SUBDOMAIN_RE = new RegExp(`^${UNDERSCORE_SUBDOMAIN}$`);

/** Search domains, which Active Directory writes with underscores. */
export function checkSearchDomain(out: Findings, value: string, at: Path): void {
  if (value.length > 253) out.invalid(at, value, 'must be no more than 253 characters');
  if (value.length <= 4096 && UNDERSCORE_SUBDOMAIN_RE.test(value)) return;
  const message =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  out.invalid(at, value, regexError(message, UNDERSCORE_SUBDOMAIN, 'example.com'));
}

/** `example.com/path`. */
export function checkDomainPrefixedPath(out: Findings, value: string, at: Path): void {
  out.addAll(validateDomainPrefixedPath(at.toString(), value));
}

/** `example.com/key`. */
export function checkDomainPrefixedKey(out: Findings, value: string, at: Path): void {
  out.addAll(validateDomainPrefixedKey(at.toString(), value));
}

/** At least three segments, as names of webhooks have. */
export function checkFullyQualifiedName(out: Findings, value: string, at: Path): void {
  out.addAll(validateFullyQualifiedName(at.toString(), value));
}
