import { byteLength } from './go-text.ts';

/**
 * The formats of names, in Kubernetes' words. Every check answers with the messages of what is wrong; an empty list is a yes.
 */
export type NameCheck = (value: string) => string[];

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const WILDCARD_SUBDOMAIN = `\\*\\.${SUBDOMAIN}`;
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;
const CONFIG_MAP_KEY = '[-._a-zA-Z0-9]+';
const ENV_VAR_NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const PERCENT = '[0-9]+%';
const HTTP_HEADER = '[-A-Za-z0-9]+';

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const LABEL_RE = whole(LABEL);
const SUBDOMAIN_RE = whole(SUBDOMAIN);
const LABEL_1035_RE = whole(LABEL_1035);
const WILDCARD_SUBDOMAIN_RE = whole(WILDCARD_SUBDOMAIN);
const C_IDENTIFIER_RE = whole(C_IDENTIFIER);
const QUALIFIED_NAME_RE = whole(QUALIFIED_NAME);
const CONFIG_MAP_KEY_RE = whole(CONFIG_MAP_KEY);
const ENV_VAR_NAME_RE = whole(ENV_VAR_NAME);
const PERCENT_RE = whole(PERCENT);
const HTTP_HEADER_RE = whole(HTTP_HEADER);

const OK: string[] = [];
Object.freeze(OK);

export const LABEL_MAX_LENGTH = 63;
export const SUBDOMAIN_MAX_LENGTH = 253;

export function regexError(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  const list = examples.map((e) => `'${e}', `).join(' or ');
  return `${message} (e.g. ${list}regex used for validation is '${pattern}')`;
}

export function maxLengthError(length: number): string {
  return `must be no more than ${length} characters`;
}

export function rangeError(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

/** Names are refused by length long before a pattern could get slow on them, so patterns only see short text. */
function matches(pattern: RegExp, value: string): boolean {
  return value.length <= 65_536 && pattern.test(value);
}

function tooLong(value: string, max: number): boolean {
  return value.length > max || (value.length * 3 > max && byteLength(value) > max);
}

export function isDns1123Label(value: string): string[] {
  if (value.length <= LABEL_MAX_LENGTH && LABEL_RE.test(value)) return OK;
  const messages = tooLong(value, LABEL_MAX_LENGTH) ? [maxLengthError(LABEL_MAX_LENGTH)] : [];
  if (matches(LABEL_RE, value)) return messages;
  const message =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  messages.push(matches(SUBDOMAIN_RE, value) ? 'must not contain dots' : regexError(message, LABEL, 'my-name', '123-abc'));
  return messages;
}

const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

export function isDns1123Subdomain(value: string): string[] {
  if (value.length <= SUBDOMAIN_MAX_LENGTH && SUBDOMAIN_RE.test(value)) return OK;
  const messages = tooLong(value, SUBDOMAIN_MAX_LENGTH) ? [maxLengthError(SUBDOMAIN_MAX_LENGTH)] : [];
  if (!matches(SUBDOMAIN_RE, value)) messages.push(regexError(SUBDOMAIN_MESSAGE, SUBDOMAIN, 'example.com'));
  return messages;
}

export function isDns1035Label(value: string): string[] {
  if (value.length <= LABEL_MAX_LENGTH && LABEL_1035_RE.test(value)) return OK;
  const messages = tooLong(value, LABEL_MAX_LENGTH) ? [maxLengthError(LABEL_MAX_LENGTH)] : [];
  const message =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  if (!matches(LABEL_1035_RE, value)) messages.push(regexError(message, LABEL_1035, 'my-name', 'abc-123'));
  return messages;
}

export function isWildcardDns1123Subdomain(value: string): string[] {
  const messages = tooLong(value, SUBDOMAIN_MAX_LENGTH) ? [maxLengthError(SUBDOMAIN_MAX_LENGTH)] : [];
  const message =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
  if (!matches(WILDCARD_SUBDOMAIN_RE, value)) messages.push(regexError(message, WILDCARD_SUBDOMAIN, '*.example.com'));
  return messages;
}

export function isCIdentifier(value: string): string[] {
  if (matches(C_IDENTIFIER_RE, value)) return OK;
  const message =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
  return [regexError(message, C_IDENTIFIER, 'my_name', 'MY_NAME', 'MyName')];
}

const QUALIFIED_NAME_ERROR = regexError(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_NAME,
  'MyName',
  'my.name',
  '123-abc',
);

/** Keys of labels, annotations and taints, names of finalizers and resources: `name` or `prefix.example.com/name`. */
export function isQualifiedName(value: string): string[] {
  const slash = value.indexOf('/');
  if (slash >= 0 && value.indexOf('/', slash + 1) >= 0) {
    return [`a valid label key ${QUALIFIED_NAME_ERROR} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = slash < 0 ? value : value.slice(slash + 1);
  const messages = slash < 0 ? OK : qualifiedNamePrefix(value.slice(0, slash));
  if (messages.length === 0 && name.length <= LABEL_MAX_LENGTH && QUALIFIED_NAME_RE.test(name)) return OK;
  const all = [...messages];
  if (name.length === 0) all.push('name part must be non-empty');
  else if (tooLong(name, LABEL_MAX_LENGTH)) all.push(`name part must be no more than ${LABEL_MAX_LENGTH} bytes`);
  if (!matches(QUALIFIED_NAME_RE, name)) all.push(`name part ${QUALIFIED_NAME_ERROR}`);
  return all;
}

function qualifiedNamePrefix(prefix: string): string[] {
  if (prefix.length === 0) return ['prefix part must be non-empty'];
  if (prefix.length <= SUBDOMAIN_MAX_LENGTH && SUBDOMAIN_RE.test(prefix)) return OK;
  const messages = tooLong(prefix, SUBDOMAIN_MAX_LENGTH) ? [`prefix part must be no more than ${SUBDOMAIN_MAX_LENGTH} bytes`] : [];
  if (!matches(SUBDOMAIN_RE, prefix)) messages.push(`prefix part ${regexError(SUBDOMAIN_MESSAGE, SUBDOMAIN, 'example.com')}`);
  return messages;
}

export function isLabelValue(value: string): string[] {
  if (value === '' || (value.length <= LABEL_MAX_LENGTH && QUALIFIED_NAME_RE.test(value))) return OK;
  const messages = tooLong(value, LABEL_MAX_LENGTH) ? [`must be no more than ${LABEL_MAX_LENGTH} bytes`] : [];
  if (!matches(QUALIFIED_NAME_RE, value)) {
    const message =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    messages.push(regexError(message, LABEL_VALUE, 'MyValue', 'my_value', '12345'));
  }
  return messages;
}

function parentDirectory(value: string): string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : OK;
}

/** Keys of ConfigMaps and Secrets. */
export function isConfigMapKey(value: string): string[] {
  const messages = tooLong(value, SUBDOMAIN_MAX_LENGTH) ? [maxLengthError(SUBDOMAIN_MAX_LENGTH)] : [];
  if (!matches(CONFIG_MAP_KEY_RE, value)) {
    const message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    messages.push(regexError(message, CONFIG_MAP_KEY, 'key.name', 'KEY_NAME', 'key-name'));
  }
  return [...messages, ...parentDirectory(value)];
}

export function isEnvVarName(value: string): string[] {
  const message =
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit";
  const messages = matches(ENV_VAR_NAME_RE, value) ? OK : [regexError(message, ENV_VAR_NAME, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1')];
  return [...messages, ...parentDirectory(value)];
}

/** What Pods may use: any printable ASCII but '='. */
export function isRelaxedEnvVarName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  if (/^[\x20-\x3c\x3e-\x7e]*$/.test(value)) return OK;
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export function isPercent(value: string): string[] {
  if (matches(PERCENT_RE, value)) return OK;
  return [regexError("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%')];
}

export function isHttpHeaderName(value: string): string[] {
  if (matches(HTTP_HEADER_RE, value)) return OK;
  return [regexError("a valid HTTP header must consist of alphanumeric characters or '-'", HTTP_HEADER, 'X-Header-Name')];
}

/** Names that only have to survive as one segment of a URL: Roles, bindings. */
export function isPathSegmentName(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return isPathSegmentPrefix(value);
}

export function isPathSegmentPrefix(value: string): string[] {
  return ['/', '%'].filter((c) => value.includes(c)).map((c) => `may not contain '${c}'`);
}
