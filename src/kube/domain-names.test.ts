import { describe, expect, it } from 'vitest';
import * as domain from './domain-names.ts';
import { fieldErrorText, type FieldError } from './field-error.ts';

describe('names under a domain', () => {
  const cases: [string, FieldError[], RegExp | undefined][] = [
    ['three segments', domain.validateFullyQualifiedName('f', 'a.b.c'), undefined],
    ['two of three', domain.validateFullyQualifiedName('f', 'a.b'), /at least three segments/],
    ['nothing', domain.validateFullyQualifiedName('f', ''), /^f: Required value$/],
    ['two segments and a dot', domain.validateFullyQualifiedDomainName('f', 'a.b.'), undefined],
    ['one segment', domain.validateFullyQualifiedDomainName('f', 'a'), /at least two segments/],
    ['a long label', domain.validateFullyQualifiedDomainName('f', `${'a'.repeat(64)}.b`), /no more than 63/],
    ['a path', domain.validateDomainPrefixedPath('f', 'acme.io/a/b:c'), undefined],
    ['no path', domain.validateDomainPrefixedPath('f', 'acme.io/'), /must be a domain-prefixed path \(such as "acme.io\/foo"\)/],
    ['a bad path', domain.validateDomainPrefixedPath('f', 'acme.io/a b'), /Invalid path \(regex used for validation is/],
    ['a key', domain.validateDomainPrefixedKey('f', 'acme.io/foo'), undefined],
    ['a key without a domain', domain.validateDomainPrefixedKey('f', 'foo'), /must be a domain-prefixed key/],
    ['a key with a path', domain.validateDomainPrefixedKey('f', 'a/b/c'), /a valid label key/],
  ];
  it.each(cases)('%s', (_, errors, pattern) => {
    const text = errors.map(fieldErrorText).join('; ');
    if (pattern) expect(text).toMatch(pattern);
    else expect(text).toBe('');
  });
});
