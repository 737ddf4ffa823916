import { parseCidr, parseIp } from '../../../kube/ip.ts';

/** String formats that a CRD schema may ask for, each as kube-openapi's strfmt checks it. Names are without dashes. */
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const HEX_COLOR = /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;
const RGB_PART = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const RGB_COLOR = new RegExp(`^rgb\\(\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*\\)$`);
const BASE64_ALPHABET = /^[A-Za-z0-9+/]*$/;
const SSN = /^\d{3}[- ]?\d{2}[- ]?\d{4}$/;
const MAC =
  /^(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\2){6}[0-9a-fA-F]{2})|(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\3){18}[0-9a-fA-F]{2})|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}|(?:[0-9a-fA-F]{4}\.){3}[0-9a-fA-F]{4}|(?:[0-9a-fA-F]{4}\.){9}[0-9a-fA-F]{4})$/;
const NAME_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SHORT_NAME = new RegExp(`^${NAME_LABEL}$`);
const LONG_NAME = new RegExp(`^${NAME_LABEL}(\\.${NAME_LABEL})*$`);
const HOST_LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const HOST_SINGLE = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u;
const HOST_TOP = /^[a-zA-Z\p{L}]{2,63}$/u;
const TIME_OF_DAY = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;

function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return BASE64_ALPHABET.test(padding === 0 ? text : text.slice(0, -padding));
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((label) => Buffer.byteLength(label) > 63)) return false;
  if (labels.length === 1) return HOST_SINGLE.test(text);
  return HOST_TOP.test(labels[labels.length - 1]) && labels.slice(0, -1).every((label) => HOST_LABEL.test(label));
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, place) => total + (place + 1) * (digit === 'X' ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = Array.from(digits.slice(0, 12)).reduce((total, digit, place) => total + (place % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > DAYS[month - 1]) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month !== 2 || day < 29 || leap;
}

function isDateTime(text: string): boolean {
  const parts = text.toLowerCase().split('t');
  if (text.length < 4 || parts.length < 2 || !isDate(parts[0])) return false;
  const match = TIME_OF_DAY.exec(parts[1]);
  return match !== null && match[1] <= '23' && match[2] <= '59' && match[3] <= '59';
}

const GO_DURATION = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const LOOSE_DURATION = /(\d+)\s*([A-Za-zµ]+)/g;
const LOOSE_UNITS = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
];

/** Longer texts are no duration or address that anybody writes, and would make the loose patterns below slow. */
const LONGEST = 1024;

function isDuration(text: string): boolean {
  if (text.length > LONGEST) return false;
  if (text === '0' || text === '+0' || text === '-0' || GO_DURATION.test(text)) return true;
  for (const [, digits, unit] of text.matchAll(LOOSE_DURATION)) {
    if (BigInt(digits) > 9223372036854775807n) return false;
    const name = unit.toLowerCase();
    if (LOOSE_UNITS.some((variants) => variants.includes(name) || name.startsWith(variants[variants.length - 1]))) return true;
  }
  return false;
}

/** net/url.ParseRequestURI: an absolute URI or an absolute path. */
export function isRequestUri(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- Go refuses control characters in URLs
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) return false;
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  if (scheme === null) return text.startsWith('/') && !/%(?![0-9a-fA-F]{2})/.test(text.split('?')[0]);
  const rest = text.slice(scheme[0].length);
  if (!rest.startsWith('/')) return true;
  if (!rest.startsWith('//')) return !/%(?![0-9a-fA-F]{2})/.test(rest.split('?')[0]);
  return isAuthority(rest.slice(2).split(/[/?]/)[0]) && !/%(?![0-9a-fA-F]{2})/.test(rest.split('?')[0]);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  if (at >= 0 && /[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/.test(authority.slice(0, at))) return false;
  const host = authority.slice(at + 1);
  const match = host.startsWith('[') ? /^\[[^\]]*\](?::(\d*))?$/.exec(host) : /^[^:]*(?::(\d*))?$/.exec(host);
  return match !== null && !/[ "<>\\^`{|}]/.test(host);
}

/** net/mail.ParseAddress, for the forms people write: `a@b`, `Name <a@b>`. */
export function isEmail(text: string): boolean {
  if (text.length > LONGEST) return false;
  const named = /^\s*(?:"(?:[^"\\]|\\.)*"|[^<>@,;:"()[\]\\]*)\s*<([^<>]+)>\s*$/.exec(text);
  const address = named === null ? text.trim() : named[1];
  const at = address.lastIndexOf('@');
  if (at <= 0 || at === address.length - 1) return false;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const atoms = /^[\p{L}\p{N}!#$%&'*+\-/=?^_`{|}~]+(?:\.[\p{L}\p{N}!#$%&'*+\-/=?^_`{|}~]+)*$/u;
  const localFine = local.startsWith('"') ? /^"(?:[^"\\]|\\.)*"$/.test(local) : atoms.test(local);
  const domainFine = domain.startsWith('[') ? /^\[[^[\]\\]*\]$/.test(domain) : atoms.test(domain);
  return localFine && domainFine;
}

function isIpv6(text: string): boolean {
  return text.includes(':') && parseIp(text)?.leadingZeros === false;
}

/** Leading zeros are tolerated, as Go before 1.17 did. */
function isIpv4(text: string): boolean {
  return text.includes('.') && parseIp(text) !== undefined;
}

export const FORMATS: Record<string, (text: string) => boolean> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: (text) => parseCidr(text) !== undefined,
  mac: (text) => MAC.test(text) || /^(?:[0-9a-fA-F]{12}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})$/.test(text),
  uuid: (text) => UUID.test(text),
  uuid3: (text) => UUID3.test(text),
  uuid4: (text) => UUID4.test(text),
  uuid5: (text) => UUID5.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && SSN.test(text),
  hexcolor: (text) => HEX_COLOR.test(text),
  rgbcolor: (text) => RGB_COLOR.test(text),
  byte: isBase64,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && SHORT_NAME.test(text),
  k8slongname: (text) => text.length <= 253 && LONG_NAME.test(text),
};

/** The check of a format, or undefined when Kubernetes does not know it and so ignores it. */
export function formatCheck(format: string | undefined): ((text: string) => boolean) | undefined {
  if (format === undefined || format === '') return undefined;
  const name = format.replaceAll('-', '');
  return Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
}
