import { describe, expect, it } from 'vitest';
import { parseManifest } from './apply.ts';

const run = 'apiVersion: kruntimes.io/v1alpha1\nkind: Run\nmetadata: { name: a }\n';

describe('parseManifest', () => {
  it.each([
    ['one document', run, ['a']],
    ['several, some of them empty', `---\n${run}---\n---\n${run.replace('name: a', 'name: b')}`, ['a', 'b']],
    ['JSON', '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}', ['p']],
    ['a List', '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}', ['p']],
  ])('reads %s', (_name, text, names) => {
    expect(parseManifest(text, 'f').map((object) => object.metadata.name)).toEqual(names);
  });

  it.each([
    ['nothing', '# only a comment', 'there is nothing in it'],
    ['no YAML', 'a: b: c', 'Cannot read the manifest "f"'],
    ['no kind', 'metadata: { name: a }', 'without apiVersion and kind'],
    ['no name', 'apiVersion: v1\nkind: Pod', 'has no metadata.name'],
    ['a text', 'hello', 'without apiVersion and kind'],
  ])('refuses %s', (_name, text, message) => {
    expect(() => parseManifest(text, 'f')).toThrow(message);
  });
});
