import { expect, it } from 'vitest';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Publisher } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { publisherKnown } from './publisher-known.step.ts';

const version = (...cidrs: string[]) =>
  ({
    spec: {
      publisher: 'acme',
      manifest: { spec: { runtime: { image: 'r.example/acme/a:1' }, egress: { cidrs: cidrs.map((cidr) => ({ cidr, ports: [443] })) } } },
    },
  }) as unknown as PluginVersion;

it.each<[string, string[], Publisher['spec'] | undefined, string]>([
  ['nobody', [], undefined, 'PublisherUnknown'],
  ['who may publish from anywhere', [], { keys: [] }, 'Known'],
  ['who publishes from elsewhere', [], { keys: [], repositories: ['r.example/acme-evil'] }, 'RepositoryNotAllowed'],
  ['who names a public range', ['203.0.113.0/24'], { keys: [] }, 'Known'],
  ['who names all addresses', ['0.0.0.0/0'], { keys: [] }, 'Known'],
  ['who names the metadata of a cloud', ['169.254.169.254/32'], { keys: [] }, 'EgressNotAllowed'],
  ['who names a private range', ['10.1.0.0/16'], { keys: [] }, 'EgressNotAllowed'],
  ['who names an allowed private range', ['10.1.2.0/24'], { keys: [], privateEgress: ['10.1.0.0/16'] }, 'Known'],
])('a version by a publisher %s', async (_, cidrs, spec, reason) => {
  const publisher = spec && ({ metadata: { name: 'acme' }, spec } as Publisher);
  expect(await publisherKnown(() => publisher).run(version(...cidrs), {} as never)).toMatchObject({ reason });
});
