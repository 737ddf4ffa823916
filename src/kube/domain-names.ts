import { invalid, required, type FieldError } from './field-error.ts';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName, regexError } from './names.ts';

/** Names under a domain, as signers, ingress controllers and drivers are called. Findings carry the field they are found in. */

/** At least three segments, no trailing dot: the older of the two rules. */
export function validateFullyQualifiedName(field: string, name: string): FieldError[] {
  if (name === '') return [required(field)];
  const messages = isDns1123Subdomain(name);
  if (messages.length > 0) return [invalid(field, name, messages.join(','))];
  const enough = name.split('.').length >= 3;
  return enough ? [] : [invalid(field, name, 'should be a domain with at least three segments separated by dots')];
}

/** At least two segments; a trailing dot is allowed. */
export function validateFullyQualifiedDomainName(field: string, written: string): FieldError[] {
  if (written === '') return [required(field)];
  const name = written.endsWith('.') ? written.slice(0, -1) : written;
  const messages = isDns1123Subdomain(name);
  if (messages.length > 0) return [invalid(field, name, messages.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) return [invalid(field, name, 'should be a domain with at least two segments separated by dots')];
  for (const label of labels) {
    const wrong = isDns1123Label(label);
    if (wrong.length > 0) return [invalid(field, label, wrong.join(','))];
  }
  return [];
}

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const HTTP_PATH_RE = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `acme.io/foo`, where the path may have slashes of its own. */
export function validateDomainPrefixedPath(field: string, value: string): FieldError[] {
  if (value === '') return [required(field)];
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1) return [invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const host = value.slice(0, slash);
  const path = value.slice(slash + 1);
  const errors = isDns1123Subdomain(host).map((message) => invalid(field, host, message));
  return HTTP_PATH_RE.test(path) ? errors : [...errors, invalid(field, path, regexError('Invalid path', HTTP_PATH))];
}

/** `acme.io/foo`, exactly one slash. */
export function validateDomainPrefixedKey(field: string, key: string): FieldError[] {
  if (key === '') return [required(field)];
  const messages = isQualifiedName(key);
  if (messages.length > 0) return messages.map((message) => invalid(field, key, message));
  return key.includes('/') ? [] : [invalid(field, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}
