import { describe, expect, it } from 'vitest';
import type { Json } from '../../../kube/object.ts';
import { checkManifest } from './check-manifest.ts';

function valid(): Json {
  return {
    apiVersion: 'adapstory.com/v1',
    kind: 'Plugin',
    metadata: { name: 'hello-learner', version: '1.2.0', publisher: 'acme' },
    spec: {
      runtime: {
        image: 'registry.example/acme/hello:1.2.0',
        resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
        startupProbe: { path: '/health', port: 8080 },
      },
      mcpTools: [{ name: 'hello_learner', description: 'Says hello.', endpoint: '/mcp/hello', schema: 'schemas/hello.json' }],
      events: { consumes: ['enrollment.completed.v1'] },
    },
  };
}

/** The manifest with one field set, by its path. */
function changed(path: string, value: Json): Json {
  const manifest = valid();
  const names = path.split('.');
  const last = names.pop()!;
  const inner = names.reduce((object: Json, name) => (object[name] ??= {}), manifest);
  if (value === undefined) delete inner[last];
  else inner[last] = value;
  return manifest;
}

const found = (manifest: Json) => checkManifest(manifest).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('a manifest', () => {
  it('is one, as it should be', () => {
    expect(found(valid())).toEqual([]);
  });

  it.each<[string, string, Json, string]>([
    ['another apiVersion', 'apiVersion', 'v1', 'apiVersion: expected "adapstory.com/v1", found "v1"'],
    ['no name', 'metadata.name', undefined, 'metadata.name: required, but missing'],
    ['a misspelt field', 'metadata.dispalyName', 'x', 'metadata.dispalyName: unknown field; did you mean "displayName"?'],
    ['a field of nowhere', 'spec.runtime.zzzzzzz', 1, 'spec.runtime.zzzzzzz: unknown field; the fields here are image, resources,'],
    ['a version that is not SemVer', 'metadata.version', '1.2', 'metadata.version: "1.2" does not match'],
    ['the tag latest', 'spec.runtime.image', 'r.example/a/b:latest', 'spec.runtime.image: the tag "latest" moves'],
    ['no tag', 'spec.runtime.image', 'r.example/a/b', 'spec.runtime.image: has no tag, which means latest'],
    ['a short digest', 'spec.runtime.image', 'r.example/a/b@sha256:12', 'spec.runtime.image: "sha256:12" is no digest'],
    ['an image with a shell in it', 'spec.runtime.image', 'r/a;rm -rf /:1', 'spec.runtime.image: "r/a;rm -rf /:1" is no image'],
    [
      'more than the limit',
      'spec.runtime.resources.requests.cpu',
      '2',
      'spec.runtime.resources.requests.cpu: 2 is more than the limit 500m',
    ],
    ['an amount that is none', 'spec.runtime.resources.limits.cpu', 'much', 'spec.runtime.resources.limits.cpu: expected an amount'],
    ['max below min', 'spec.runtime.replicas', { min: 3, max: 2 }, 'spec.runtime.replicas.max: 2 is less than min 3'],
    ['canary without steps', 'spec.runtime.upgrade', { strategy: 'canary' }, 'spec.runtime.upgrade.canarySteps: required with strategy'],
    [
      'canary that does not end at 100',
      'spec.runtime.upgrade',
      { strategy: 'canary', canarySteps: [{ weight: 10 }, { weight: 50 }] },
      'spec.runtime.upgrade.canarySteps.1.weight: the last weight is 100, found 50',
    ],
    ['a variable that is none', 'spec.runtime.env', { 'A=B': 'x' }, 'spec.runtime.env.A=B: is no name of a variable'],
    [
      'addresses that are none',
      'spec.egress',
      { cidrs: [{ cidr: '0.0.0.0/33', ports: [1] }] },
      'spec.egress.cidrs.0.cidr: "0.0.0.0/33" is no range',
    ],
    ['an endpoint with the end of a line', 'spec.mcpTools.0.endpoint', '/x\r\nHost: y', 'spec.mcpTools.0.endpoint: '],
    [
      'a secret of somebody else',
      'spec.secrets',
      [{ name: 'x', path: '../../other/x' }],
      'spec.secrets.0.path: "../../other/x" does not match',
    ],
    ['a way out of the folder', 'spec.mcpTools.0.schema', '../../etc/passwd', 'spec.mcpTools.0.schema: "../../etc/passwd" does not match'],
    ['an event without version', 'spec.events.produces', ['course.published'], 'spec.events.produces.0: "course.published" does not match'],
    ['a secret twice', 'spec.secrets', [{ name: 'key' }, { name: 'key' }], 'spec.secrets.1.name: "key" is there twice'],
    ['a list instead of an object', 'spec.runtime', [], 'spec.runtime: expected an object, found a list'],
  ])('is refused with %s', (_, path, value, message) => {
    expect(found(changed(path, value)).join('\n')).toContain(message);
  });

  it('names everything that is wrong at once, up to a bound', () => {
    expect(found({}).length).toBe(4);
    expect(checkManifest({ ...valid(), ...Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 1])) })).toHaveLength(50);
  });
});
