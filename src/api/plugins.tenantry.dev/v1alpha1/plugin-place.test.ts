import { expect, it } from 'vitest';
import type { PluginManifest } from '../../adapstory.com/v1/plugin-manifest.ts';
import { whyOnHost } from './plugin-place.ts';

const resources = { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '1', memory: '1Mi' } };
const manifest = (spec: object, runtime: object = {}): PluginManifest =>
  ({ spec: { runtime: { image: 'x', resources, ...runtime }, ...spec } }) as PluginManifest;

it.each<[string, PluginManifest, RegExp | undefined]>([
  ['that only answers', manifest({}), undefined],
  [
    'with secrets and addresses of the world',
    manifest({ secrets: [{ path: 'a' }], egress: { cidrs: [{ cidr: '1.0.0.0/8', ports: [1] }] } }),
    undefined,
  ],
  ['with a database', manifest({ database: {} }), /its database is the platform’s/],
  ['that consumes events', manifest({ events: { consumes: ['a'] } }), /at the platform’s broker/],
  ['that produces events', manifest({ events: { produces: ['a'] } }), /at the platform’s broker/],
  ['that calls the platform', manifest({ egress: { to: ['gateway', 'otlp'] } }), /it calls gateway, otlp of the platform/],
  ['with a private image', manifest({}, { imagePullSecret: 'pull' }), /a Secret of its publisher/],
])('a plugin %s', (_, given, why) => {
  const said = whyOnHost(given);
  if (why === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(why);
});
