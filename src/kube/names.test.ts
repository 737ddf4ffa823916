import { describe, expect, it } from 'vitest';
import * as names from './names.ts';
import { isPortName, isPortNumber } from './ports.ts';

const a = (n: number): string => 'a'.repeat(n);

const TABLE: Record<string, { check: names.NameCheck; good: string[]; bad: string[] }> = {
  isDns1123Label: {
    check: names.isDns1123Label,
    good: ['a', 'ab', 'a1', 'a-1', 'a--1--2--b', '0', '01', '1-2', a(63)],
    bad: ['', 'A', 'ABC', '-', 'a-', '-a', '_', 'a_b', ' a', 'a.b', '#a#', a(64), 'a\n'],
  },
  isDns1123Subdomain: {
    check: names.isDns1123Subdomain,
    good: ['a', 'a.a', 'ab.a', 'a-1.b', '0.0', '1.2.3.4', 'a.b.c.d.e', a(253)],
    bad: ['', 'A', 'a..b', '.a', 'a.', 'a.-b', 'a_b.c', 'a,b', 'Aa.b', a(254)],
  },
  isDns1035Label: {
    check: names.isDns1035Label,
    good: ['a', 'a-1', a(63)],
    bad: ['0', '1a', 'A', 'a.b', 'a-', '', a(64)],
  },
  isWildcardDns1123Subdomain: {
    check: names.isWildcardDns1123Subdomain,
    good: ['*.example.com', '*.bar.com', '*.foo.bar.com'],
    bad: ['*.*.bar.com', '*.foo.*.com', '*bar.com', 'f*.bar.com', '*', ''],
  },
  isQualifiedName: {
    check: names.isQualifiedName,
    good: ['simple', '1-starts-with-num', '1234/5678', '1.2.3.4/5678', 'example.com/Uppercase_Is_OK_123', a(63), `${a(253)}/${a(63)}`],
    bad: [
      'nospecialchars%^=@',
      'cantendwithadash-',
      'only/one/slash',
      'Example.com/abc',
      'example.com/',
      '/simple',
      a(64),
      `${a(254)}/abc`,
    ],
  },
  isLabelValue: {
    check: names.isLabelValue,
    good: ['', 'simple', '1234', 'end-with-num-1', a(63)],
    bad: ['nospecialchars%^=@', 'Tama-nui-te-rā.is.Māori.sun', '-starts', 'ends.with.dot.', a(64)],
  },
  isConfigMapKey: {
    check: names.isConfigMapKey,
    good: ['a', 'good', 'good.key', 'UPPER_CASE', '.a', a(253)],
    bad: ['', '.', '..', '..bad', 'b*d', 'bad&bad', a(254)],
  },
  isEnvVarName: {
    check: names.isEnvVarName,
    good: ['TEST', 'my.env-name', '_a', '-x'],
    bad: ['1a', '', '.', '..', '..foo', 'a=b', 'a b'],
  },
  isRelaxedEnvVarName: { check: names.isRelaxedEnvVarName, good: ['1a', 'a b', '!#$', '..'], bad: ['', 'a=b', 'é', '\t'] },
  isPercent: { check: names.isPercent, good: ['0%', '100%'], bad: ['', '%', '1', '-1%', '1%%'] },
  isHttpHeaderName: { check: names.isHttpHeaderName, good: ['X-A', 'a'], bad: ['', 'a b', 'a:b', 'a_b'] },
  isPathSegmentName: { check: names.isPathSegmentName, good: ['a:b', 'system:Node', '...'], bad: ['.', '..', 'a/b', 'a%b'] },
  isPortName: { check: isPortName, good: ['http', 'a-1', '1a'], bad: ['', '80', 'a--b', '-a', 'b-', 'Http', a(16)] },
};

describe.each(Object.entries(TABLE))('%s', (_, { check, good, bad }) => {
  it.each(good)('accepts %j', (value) => expect(check(value)).toEqual([]));
  it.each(bad)('refuses %j', (value) => expect(check(value).length).toBeGreaterThan(0));
});

it('messages are those of Kubernetes', () => {
  expect(names.isDns1123Label('My_Name')).toEqual([
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ]);
  expect(names.isDns1123Label('a.b')).toEqual(['must not contain dots']);
  expect(names.isDns1123Subdomain(a(254))).toEqual(['must be no more than 253 characters']);
  expect(names.isQualifiedName(`${a(254)}/x`)).toEqual(['prefix part must be no more than 253 bytes']);
  expect(names.isQualifiedName('a/')).toEqual([
    'name part must be non-empty',
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ]);
  expect(names.isLabelValue('é'.repeat(32))).toHaveLength(2);
  expect(isPortNumber(0)).toEqual(['must be between 1 and 65535, inclusive']);
});
