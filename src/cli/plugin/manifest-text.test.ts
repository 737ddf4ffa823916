import { describe, expect, it } from 'vitest';
import { manifestJsonSchema } from '../../api/adapstory.com/v1/manifest-json-schema.ts';
import { readManifest } from './manifest-text.ts';
import { sampleFiles } from './sample-plugin.ts';

const SAMPLE = sampleFiles({ name: 'hello', publisher: 'acme', image: 'registry.example/acme/hello' })['plugin.yaml'];
const problemsOf = (text: string) =>
  readManifest(text, 'plugin.yaml').problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);

describe('a manifest', () => {
  it('is read when it is one', () => {
    expect(problemsOf(SAMPLE)).toEqual([]);
    expect(readManifest(SAMPLE, 'plugin.yaml').manifest!.metadata.name).toBe('hello');
  });

  it.each<[string, string, string, RegExp]>([
    ['a wrong value', 'version: 0.1.0', 'version: "1"', /^plugin\.yaml:6:3: metadata\.version: "1" does not match/],
    [
      'an unknown field',
      '  description:',
      '  descripton:',
      /^plugin\.yaml:8:3: metadata\.descripton: unknown field; did you mean "description"\?/,
    ],
    [
      'a missing field, at what it is missing in',
      '      schema: schemas/hello.json\n',
      '',
      /^plugin\.yaml:18:7: spec\.mcpTools\.0\.schema: required, but missing/,
    ],
    [
      'a field of an item',
      'endpoint: /mcp/hello',
      'endpoint: hello',
      /^plugin\.yaml:20:7: spec\.mcpTools\.0\.endpoint: "hello" does not match/,
    ],
    ['the tag latest', 'hello:0.1.0', 'hello:latest', /^plugin\.yaml:11:5: spec\.runtime\.image: the tag "latest" moves/],
    [
      'a way out of the folder',
      'schemas/hello.json',
      '../../etc/passwd',
      /:21:7: spec\.mcpTools\.0\.schema: "\.\.\/\.\.\/etc\/passwd" does not match/,
    ],
    ['the same field twice', 'kind: Plugin', 'kind: Plugin\nkind: Plugin', /^plugin\.yaml:4:1: expected YAML: Map keys must be unique/],
    ['broken YAML', 'kind: Plugin', 'kind: [Plugin', /^plugin\.yaml:\d+:\d+: expected YAML: /],
    ['an alias of nothing', 'kind: Plugin', 'kind: *nothing', /expected YAML: Unresolved alias/],
    ['a second document', 'apiVersion:', '---\na: 1\n---\napiVersion:', /expected YAML: .*multiple documents/],
    ['a field named __proto__', 'metadata:', '__proto__: { polluted: true }\nmetadata:', /^plugin\.yaml:4:1: __proto__: unknown field/],
  ])('is refused with %s', (_, from, to, expected) => {
    expect(SAMPLE).toContain(from);
    expect(problemsOf(SAMPLE.replace(from, to)).join('\n')).toMatch(expected);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    [
      'aliases that multiply',
      ['a0: &a0 [x, x]', ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)].join('\n'),
      'aliases',
    ],
    ['lists within lists within lists', '['.repeat(100_000), ''],
    ['more than a megabyte', `a: ${'x'.repeat(1024 * 1024)}`, 'larger than'],
    ['nothing', '', 'expected an object'],
  ])('is refused in no time with %s', (_, text, message) => {
    const started = performance.now();
    expect(problemsOf(text)[0]).toContain(message);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('has a JSON Schema that refuses what is refused', () => {
    const schema = manifestJsonSchema() as Record<string, never>;
    expect(schema).toMatchObject({
      additionalProperties: false,
      required: ['apiVersion', 'kind', 'metadata', 'spec'],
      properties: { kind: { enum: ['Plugin'] } },
    });
    expect(JSON.stringify(schema)).not.toContain('x-kubernetes');
  });
});
