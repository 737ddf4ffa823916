import { describe, expect, test } from 'vitest';
import { credentialHash, credentialsFor, type RegistryCredential } from './credentials.ts';
import { credentialsFromDockerConfig } from './docker-config.ts';

const keyed = (registry: string): RegistryCredential => ({ registry, username: registry, password: 'p' });

describe('credentialsFor', () => {
  test.each<[string, string, string[], string[]]>([
    ['its host', 'registry.example/app', ['registry.example', 'other.example'], ['registry.example']],
    ['its host and port', 'registry.example:5000/app', ['registry.example', 'registry.example:5000'], ['registry.example:5000']],
    ['a path prefix', 'registry.example/team/app', ['registry.example/other', 'registry.example/team'], ['registry.example/team']],
    ['the longest path first', 'r.io/a/b/c', ['r.io', 'r.io/a/b', 'r.io/a'], ['r.io/a/b', 'r.io/a', 'r.io']],
    ['a glob in a label', 'eu.gcr.io/app', ['*.gcr.io', 'gcr.io', '*.*.gcr.io'], ['*.gcr.io']],
    ['a part of a label', 'k8s-eu.example/app', ['k8s-*.example', 'k9s-*.example'], ['k8s-*.example']],
    ['a key with a scheme', 'registry.example/app', ['https://registry.example/v2/'], ['https://registry.example/v2/']],
    ['the old key of Docker Hub', 'docker.io/library/app', ['https://index.docker.io/v1/'], ['https://index.docker.io/v1/']],
    ['docker.io itself before the old key', 'docker.io/team/app', ['index.docker.io', 'docker.io'], ['docker.io']],
    ['nothing of another registry', 'registry.example/app', ['index.docker.io', 'example', 'x.registry.example'], []],
    ['nothing for an empty key', 'registry.example/app', ['', 'https://'], []],
  ])('an image is given %s', (_name, image, keys, expected) => {
    expect(credentialsFor(image, keys.map(keyed)).map(({ registry }) => registry)).toEqual(expected);
  });

  test('credentials of one key keep their order', () => {
    const first = { registry: 'r.io', username: 'first', password: 'p' };
    const second = { registry: 'r.io', username: 'second', password: 'p' };
    expect(credentialsFor('r.io/app', [first, second])).toEqual([first, second]);
  });

  test('a hostile glob is answered at once', () => {
    const started = performance.now();
    expect(credentialsFor(`${'a'.repeat(5000)}/app`, [keyed(`${'*a'.repeat(500)}b`)])).toEqual([]);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

test('credentialHash tells passwords apart and shows none', () => {
  const one = credentialHash({ registry: 'r.io', username: 'u', password: 'one' });
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(credentialHash({ registry: 'r.io', username: 'u', password: 'two' })).not.toBe(one);
  expect(credentialHash({ registry: 'https://r.io', username: 'u', password: 'one' })).toBe(one);
});

describe('credentialsFromDockerConfig', () => {
  const auth = Buffer.from('me:se:cret').toString('base64');

  test.each<[string, string, 'dockerconfigjson' | 'dockercfg', RegistryCredential[]]>([
    [
      'auth',
      JSON.stringify({ auths: { 'r.io': { auth } } }),
      'dockerconfigjson',
      [{ registry: 'r.io', username: 'me', password: 'se:cret' }],
    ],
    [
      'username and password',
      JSON.stringify({ auths: { 'r.io': { username: 'me', password: 'x' } } }),
      'dockerconfigjson',
      [{ registry: 'r.io', username: 'me', password: 'x' }],
    ],
    ['the older form', JSON.stringify({ 'r.io': { auth } }), 'dockercfg', [{ registry: 'r.io', username: 'me', password: 'se:cret' }]],
    [
      'entries without anything',
      JSON.stringify({ auths: { 'r.io': {}, 'q.io': null, 's.io': { auth: 'bm9jb2xvbg==' } } }),
      'dockerconfigjson',
      [],
    ],
    ['no entries', '{}', 'dockerconfigjson', []],
  ])('%s is read', (_name, text, form, expected) => {
    expect(credentialsFromDockerConfig(text, form)).toEqual(expected);
  });

  test('text that is no JSON is refused without quoting it', () => {
    expect(() => credentialsFromDockerConfig('hunter2', 'dockerconfigjson')).toThrow(
      'Cannot read the pull secret: it is no JSON; make it with `kubectl create secret docker-registry`',
    );
  });
});
