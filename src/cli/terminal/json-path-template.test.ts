import { describe, expect, it } from 'vitest';
import { jsonPathTemplate } from './json-path-template.ts';

const list = {
  items: [
    { metadata: { name: 'a' }, status: { phase: 'Running', outputs: { x: '1' } } },
    { metadata: { name: 'b' }, status: { phase: 'Failed', count: 0 } },
  ],
};

describe('jsonPathTemplate', () => {
  it.each([
    ['a path', '{.items[0].metadata.name}', 'a'],
    ['a path without braces', '.items[0].metadata.name', 'a'],
    ['a path without anything', 'items[1].metadata.name', 'b'],
    ['several results', '{.items[*].metadata.name}', 'a b'],
    ['text around', 'name={.items[0].metadata.name};', 'name=a;'],
    ['a range', '{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}', 'a\tRunning\nb\tFailed\n'],
    ['a filter', '{.items[?(@.status.phase=="Failed")].metadata.name}', 'b'],
    ['an object', '{.items[0].status.outputs}', '{"x":"1"}'],
    ['a zero', '{.items[1].status.count}', '0'],
    ['what is not there', '{.items[0].nothing}', ''],
    ['braces in quotes', '{"{}"}', '{}'],
  ])('prints %s', (_name, template, expected) => {
    expect(jsonPathTemplate(template)(list)).toBe(expected);
  });

  it.each([
    ['an open brace', '{.items', 'unclosed action'],
    ['an open range', '{range .items[*]}x', 'unterminated range'],
    ['an end of nothing', '{end}', 'not in range'],
    ['an open bracket', '{.items[0}', 'unterminated array'],
    ['a word', '{items}', 'unrecognized identifier items'],
  ])('refuses %s', (_name, template, message) => {
    expect(() => jsonPathTemplate(template)).toThrow(message);
  });
});
