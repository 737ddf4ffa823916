import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { podProblem, type VersionFacts } from './pod-images.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const GOOD = `r.example/acme/hello@${digest('a')}`;
const REVOKED = `r.example/acme/hello@${digest('b')}`;
const FOREIGN = `r.example/globex/hello@${digest('c')}`;
const OTHER_PLUGIN = `r.example/acme/other@${digest('d')}`;

const version = (publisher: string, plugin: string, image: string, phase: string): VersionFacts =>
  ({ spec: { publisher, plugin, version: '1.0.0' }, status: { image, phase } }) as VersionFacts;
const versions = [
  version('acme', 'hello', GOOD, 'VERIFIED'),
  version('acme', 'hello', REVOKED, 'REVOKED'),
  version('globex', 'hello', FOREIGN, 'VERIFIED'),
  version('acme', 'other', OTHER_PLUGIN, 'VERIFIED'),
];

const pod = (spec: object): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
const running = (image: string) => pod({ containers: [{ name: 'app', image }] });
const judged = (made: KubeObject, before?: KubeObject) => podProblem(made, before, { publisher: 'acme', plugin: 'hello' }, versions);

describe('a Pod in the namespace of a plugin', () => {
  it.each([
    ['the digest that was verified', running(GOOD)],
    ['that digest with a tag beside it', running(`r.example/acme/hello:1.0.0@${digest('a')}`)],
  ])('runs with %s', (_, made) => {
    expect(judged(made)).toBeUndefined();
  });

  it.each<[string, KubeObject, string]>([
    ['a tag', running('r.example/acme/hello:1.0.0'), 'it is named by a tag'],
    ['nothing said', running(''), 'it is no image'],
    ['a version that was revoked', running(REVOKED), 'in container "app": version 1.0.0 is REVOKED, not VERIFIED'],
    ['the same plugin name by another publisher', running(FOREIGN), 'it is no version of this plugin'],
    ['another plugin of its publisher', running(OTHER_PLUGIN), 'it is no version of this plugin'],
    ['the right digest from elsewhere', running(`evil.example/x@${digest('a')}`), 'it is no version of this plugin'],
    [
      'a stranger beside it',
      pod({
        containers: [
          { name: 'app', image: GOOD },
          { name: 'x', image: 'busybox' },
        ],
      }),
      'in container "x"',
    ],
    ['a stranger before it', pod({ initContainers: [{ name: 'x', image: 'busybox' }] }), 'in init container "x"'],
    ['a stranger that debugs it', pod({ ephemeralContainers: [{ name: 'x', image: 'busybox' }] }), 'in ephemeral container "x"'],
    ['a stranger mounted', pod({ volumes: [{ name: 'x', image: { reference: 'busybox' } }] }), 'in volume "x"'],
  ])('does not run with %s', (_, made, message) => {
    expect(judged(made)).toContain(message);
  });

  it('may be changed after its version was revoked, but not to another image that is not verified', () => {
    expect(judged(running(REVOKED), running(REVOKED))).toBeUndefined();
    expect(judged(running(`r.example/acme/hello@${digest('e')}`), running(REVOKED))).toContain('no version');
  });
});
