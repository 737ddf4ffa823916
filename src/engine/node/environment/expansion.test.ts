import { describe, expect, it } from 'vitest';
import { expand, expandCommand, expandSubPath, valueFrom } from './expansion.ts';

const variables = new Map([
  ['VAR_A', 'A'],
  ['VAR_B', 'B'],
  ['VAR_C', 'C'],
  ['VAR_REF', '$(VAR_A)'],
  ['VAR_EMPTY', ''],
]);

// The table of Kubernetes' own expansion package.
const cases: [name: string, input: string, output: string][] = [
  ['whole string', '$(VAR_A)', 'A'],
  ['repeat', '$(VAR_A)-$(VAR_A)', 'A-A'],
  ['beginning', '$(VAR_A)-1', 'A-1'],
  ['middle', '___$(VAR_B)___', '___B___'],
  ['end', '___$(VAR_C)', '___C'],
  ['compound', '$(VAR_A)_$(VAR_B)_$(VAR_C)', 'A_B_C'],
  ['escape and expand', '$$(VAR_B)_$(VAR_A)', '$(VAR_B)_A'],
  ['compound escape', '$$(VAR_A)_$$(VAR_B)', '$(VAR_A)_$(VAR_B)'],
  ['mixed in escapes', 'f000-$$VAR_A', 'f000-$VAR_A'],
  ['backslash escape is ignored', 'foo\\$(VAR_C)bar', 'foo\\Cbar'],
  ['backslash before an escape', 'foo\\\\$(VAR_C)bar', 'foo\\\\Cbar'],
  ['lots of backslashes', 'foo\\\\\\\\$(VAR_A)bar', 'foo\\\\\\\\Abar'],
  ['nested references are not expanded', '$(VAR_A$(VAR_B))', '$(VAR_A$(VAR_B))'],
  ['nested with text', '$(VAR_A$(VAR_B)', '$(VAR_A$(VAR_B)'],
  ['value is not expanded again', '$(VAR_REF)', '$(VAR_A)'],
  ['value with an operator, compound', '%%$(VAR_REF)--$(VAR_REF)%%', '%%$(VAR_A)--$(VAR_A)%%'],
  ['empty value', 'foo$(VAR_EMPTY)bar', 'foobar'],
  ['unterminated', 'foo$(VAR_Awhoops!', 'foo$(VAR_Awhoops!'],
  ['unterminated at the end', 'foo$(', 'foo$('],
  ['missing opener', 'f00__(VAR_A)__', 'f00__(VAR_A)__'],
  ['brace is no opener', '$?_boo_$!', '$?_boo_$!'],
  ['unknown variable', '$(VAR_X)', '$(VAR_X)'],
  ['empty name', '$()', '$()'],
  ['operator at the end', 'foo$', 'foo$'],
  ['operator only', '$', '$'],
  ['several operators at the end', 'foo$$$', 'foo$$'],
  ['even operators before a reference', 'foo$$$$(VAR_A)', 'foo$$(VAR_A)'],
  ['odd operators before a reference', 'foo$$$(VAR_A)', 'foo$A'],
  ['operator before a character of several bytes', '$é$😀$(VAR_A)', '$é$😀A'],
  ['no reference', 'plain', 'plain'],
  ['empty', '', ''],
];

describe('expand', () => {
  it.each(cases)('%s', (_, input, output) => {
    expect(expand(input, valueFrom(variables))).toBe(output);
  });

  it('valueFrom prefers the first that knows the name', () => {
    const valueOf = valueFrom(new Map([['A', '1']]), new Map(Object.entries({ A: '2', B: '3' })));
    expect([valueOf('A'), valueOf('B'), valueOf('C')]).toEqual(['1', '3', '$(C)']);
  });
});

describe('expandCommand', () => {
  it('expands command and args from the environment', () => {
    const container = { command: ['echo', '$(HOME)'], args: ['$(X)', '$$(X)', '$(Y)'] };
    expect(expandCommand(container, { HOME: '/root', X: '1' })).toEqual({ command: ['echo', '/root'], args: ['1', '$(X)', '$(Y)'] });
  });

  it('leaves to the image what the container does not say', () => {
    expect(expandCommand({ command: [] }, {})).toEqual({});
  });

  it('finds no variable on the prototype', () => {
    expect(expandCommand({ args: ['$(constructor)'] }, {})).toEqual({ args: ['$(constructor)'] });
  });
});

describe('expandSubPath', () => {
  it('puts values in', () => {
    expect(expandSubPath('$(NS)/$(POD)-$$(x)', { NS: 'a', POD: 'b' })).toBe('a/b-$(x)');
  });

  it.each([
    ['missing', '$(B)/$(A)', {}, 'missing value for A, B'],
    ['empty', '$(A)', { A: '' }, 'missing value for A'],
    ['on the prototype only', '$(toString)', {}, 'missing value for toString'],
  ])('refuses a variable that is %s', (_, expression, env, message) => {
    expect(() => expandSubPath(expression, env)).toThrow(message);
  });
});
