import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PublisherKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { AppProjectKind } from '../../../src/areas/plugins/neighbours/app-project.ts';
import { ImageValidatingPolicyKind } from '../../../src/areas/plugins/neighbours/image-validating-policy.ts';
import { CustomResourceDefinition, Namespace, Secret } from '../../../src/client/kinds.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { PluginWorld } from './plugin-world.ts';

/** A definition that takes anything: what the real ones say is asked in test/full. */
function definitionOf({ group, version, kind, plural, namespaced }: Kind): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

describe('beside plugins', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    // Otherwise there with the first installation.
    await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  const define = (kind: Kind) => world.client.resource<KubeObject>(CustomResourceDefinition).create(definitionOf(kind));
  const find = (kind: Kind, name: string, namespace?: string) =>
    world.tenants.find(() => world.client.resource<KubeObject>(kind, namespace).get(name));
  const appears = (kind: Kind, name: string, namespace?: string) => world.tenants.eventually(() => find(kind, name, namespace));

  it('Kyverno gets a policy per publisher once it is there, kept, repaired and removed', async () => {
    await define(ImageValidatingPolicyKind);
    const policy = await appears(ImageValidatingPolicyKind, 'tenantry-plugins-acme');
    expect(policy.spec.attestors).toHaveLength(1);

    await world.client
      .resource<KubeObject>(ImageValidatingPolicyKind)
      .patch('tenantry-plugins-acme', { type: 'merge', patch: { spec: { validationActions: ['Audit'] } } });
    await world.tenants.eventually(
      async () => (await find(ImageValidatingPolicyKind, 'tenantry-plugins-acme'))?.spec.validationActions[0] === 'Deny',
    );
    await world.client.resource(ImageValidatingPolicyKind).delete('tenantry-plugins-acme');
    await appears(ImageValidatingPolicyKind, 'tenantry-plugins-acme');

    await world.publisher('acme', 'acme', 'second');
    await world.tenants.eventually(
      async () => (await find(ImageValidatingPolicyKind, 'tenantry-plugins-acme'))?.spec.attestors.length === 2,
    );
    await world.client
      .resource(Secret, 'tenantry-system')
      .create({ metadata: { name: 'plugin-platform' }, stringData: { kyverno: 'off' } });
    await world.tenants.eventually(async () => (await find(ImageValidatingPolicyKind, 'tenantry-plugins-acme')) === undefined);
    await world.client.resource(Secret, 'tenantry-system').delete('plugin-platform');
    await appears(ImageValidatingPolicyKind, 'tenantry-plugins-acme');
    await world.client.resource(PublisherKind).delete('acme');
    await world.tenants.eventually(async () => (await find(ImageValidatingPolicyKind, 'tenantry-plugins-acme')) === undefined);
  });

  it('Argo CD gets the project "plugins" once it and its namespace are there, and it moves with the settings', async () => {
    await define(AppProjectKind);
    await world.client.resource(Namespace).create({ metadata: { name: 'argocd' } });
    const { spec } = await appears(AppProjectKind, 'plugins', 'argocd');
    expect(spec).toMatchObject({ sourceRepos: [], destinations: [{ namespace: 'plugin-*' }], clusterResourceWhitelist: [] });

    await world.client.resource(Namespace).create({ metadata: { name: 'gitops' } });
    const stringData = { 'argocd-namespace': 'gitops', 'argocd-source-repos': 'https://git.example/a.git, https://git.example/b.git' };
    await world.client.resource(Secret, 'tenantry-system').create({ metadata: { name: 'plugin-platform' }, stringData });
    const moved = await appears(AppProjectKind, 'plugins', 'gitops');
    expect(moved.spec.sourceRepos).toEqual(['https://git.example/a.git', 'https://git.example/b.git']);
    await world.tenants.eventually(async () => (await find(AppProjectKind, 'plugins', 'argocd')) === undefined);
    await world.client.resource(AppProjectKind, 'gitops').delete('plugins');
    await appears(AppProjectKind, 'plugins', 'gitops');
  });
});
