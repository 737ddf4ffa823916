import { quote } from '../../../../kube/go-text.ts';

/** Semantic versions as github.com/blang/semver reads them, whose complaints Kubernetes shows. */
export interface Semver {
  major: bigint;
  minor: bigint;
  patch: bigint;
  prerelease: (string | bigint)[];
}

const DIGITS = /^[0-9]+$/;
const IDENTIFIER = /^[0-9A-Za-z-]+$/;
const MAX = 2n ** 64n - 1n;

function number(text: string, name: string): bigint {
  if (!DIGITS.test(text)) throw new Error(`Invalid character(s) found in ${name.toLowerCase()} number ${quote(text)}`);
  if (text.length > 1 && text.startsWith('0')) throw new Error(`${name} number must not contain leading zeroes ${quote(text)}`);
  return parseUint(text);
}

/** Digits of a 64-bit number. */
const MOST_DIGITS = 20;

function parseUint(text: string): bigint {
  const value = text.length > MOST_DIGITS ? MAX + 1n : BigInt(text);
  if (value > MAX) throw new Error(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  return value;
}

/** @throws Error */
export function parseSemver(text: string): Semver {
  if (text === '') throw new Error('Version string empty');
  const dots = text.split('.');
  if (dots.length < 3) throw new Error('No Major.Minor.Patch elements found');
  const rest = dots.slice(2).join('.');
  const plus = rest.indexOf('+');
  const build = plus < 0 ? undefined : rest.slice(plus + 1);
  const core = plus < 0 ? rest : rest.slice(0, plus);
  const dash = core.indexOf('-');
  const prerelease =
    dash < 0
      ? []
      : core
          .slice(dash + 1)
          .split('.')
          .map(readPrerelease);
  const version = {
    major: number(dots[0], 'Major'),
    minor: number(dots[1], 'Minor'),
    patch: number(dash < 0 ? core : core.slice(0, dash), 'Patch'),
    prerelease,
  };
  for (const part of build === undefined ? [] : build.split('.')) {
    if (part === '') throw new Error('Build meta data is empty');
    if (!IDENTIFIER.test(part)) throw new Error(`Invalid character(s) found in build meta data ${quote(part)}`);
  }
  return version;
}

function readPrerelease(text: string): string | bigint {
  if (text === '') throw new Error('Prerelease is empty');
  if (DIGITS.test(text)) {
    if (text.length > 1 && text.startsWith('0'))
      throw new Error(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`);
    return parseUint(text);
  }
  if (!IDENTIFIER.test(text)) throw new Error(`Invalid character(s) found in prerelease ${quote(text)}`);
  return text;
}

/** Drops a `v`, fills in missing numbers and drops leading zeros. @throws Error */
export function normalizeSemver(text: string): string {
  const bare = text.replace(/^v/, '');
  const first = bare.indexOf('.');
  const second = first < 0 ? -1 : bare.indexOf('.', first + 1);
  const parts =
    first < 0
      ? [bare]
      : second < 0
        ? [bare.slice(0, first), bare.slice(first + 1)]
        : [bare.slice(0, first), bare.slice(first + 1, second), bare.slice(second + 1)];
  const trimmed = parts.map((part) => {
    if (part.length <= 1) return part;
    const short = part.replace(/^0+/, '');
    return short === '' || !/^[0-9]/.test(short) ? `0${short}` : short;
  });
  if (trimmed.length < 3 && /[+-]/.test(trimmed[trimmed.length - 1])) {
    throw new Error('short version cannot contain PreRelease/Build meta data');
  }
  while (trimmed.length < 3) trimmed.push('0');
  return trimmed.join('.');
}

export function compareSemver(left: Semver, right: Semver): number {
  for (const part of ['major', 'minor', 'patch'] as const) if (left[part] !== right[part]) return left[part] > right[part] ? 1 : -1;
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return Math.sign(Number(left.prerelease.length === 0) - Number(right.prerelease.length === 0));
  }
  const length = Math.min(left.prerelease.length, right.prerelease.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [left.prerelease[at], right.prerelease[at]];
    if (a === b) continue;
    if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
    return a > b ? 1 : -1;
  }
  return Math.sign(left.prerelease.length - right.prerelease.length);
}
