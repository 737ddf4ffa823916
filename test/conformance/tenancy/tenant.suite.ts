import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HierarchicalResourceQuotaKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { SubnamespaceAnchorKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../../src/client/client.ts';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CronJob,
  Deployment,
  LimitRange,
  Namespace,
  NetworkPolicy,
  Pod,
  RoleBinding,
} from '../../../src/client/kinds.ts';
import { CiliumClusterwideNetworkPolicy } from '../../../src/areas/tenancy/tenant/model/cilium-policy.ts';
import { findCondition } from '../../../src/kube/conditions.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { TenantWorld } from './tenant-world.ts';

const SCALED: Kind = { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledObject', plural: 'scaledobjects', namespaced: true };

/** A Tenant, what it gives its owners and keeps from them, suspended and deleted. */
export function tenantSuite(start: () => Promise<ApiTarget>): void {
  let world: TenantWorld;
  let alice: Client;
  let bob: Client;
  beforeAll(async () => {
    world = await TenantWorld.over(await start());
    [alice, bob] = await Promise.all([world.as('alice'), world.as('bob')]);
  }, 300_000);
  afterAll(() => world?.stop(), 60_000);

  const pod = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'example/app' }], ...spec },
  });

  describe('a Tenant', { timeout: 60_000 }, () => {
    it('becomes namespaces, quota, limits, a boundary and owners, in all of its namespaces', async () => {
      const tenant = await world.tenant('acme', {
        owners: [{ kind: 'User', name: 'alice' }],
        labels: { 'cost-center': '42' },
        quota: { hard: { 'requests.cpu': '10' }, namespaces: 3 },
        runs: { share: 3 },
      });
      expect(tenant.status).toMatchObject({
        phase: 'Active',
        isolation: 'Namespace',
        namespaces: ['acme', 'acme--sys'],
        namespaceCount: 2,
      });
      expect(tenant.status!.usage).toMatchObject({ 'requests.cpu': { hard: '10' } });
      await world.namespace('acme', 'acme--dev', alice);
      const dev = await world.eventually(async () => {
        const found = await world.client.resource(Namespace).get('acme--dev');
        return found.metadata.annotations?.['tenantry.dev/run-share'] === '3' && found;
      });
      expect(dev.metadata.labels).toMatchObject({
        'tenantry.dev/tenant': 'acme',
        'cost-center': '42',
        'pod-security.kubernetes.io/enforce': 'baseline',
      });
      await world.eventually(async () => {
        const copies = await Promise.all([
          world.find(() => world.client.resource(RoleBinding, 'acme--dev').get('tenantry:owners')),
          world.find(() => world.client.resource(LimitRange, 'acme--dev').get('tenant')),
          world.find(() => world.client.resource(NetworkPolicy, 'acme--dev').get('tenant-boundary')),
        ]);
        return copies.every((copy) => copy !== undefined);
      });
      expect(await world.find(() => world.client.resource(RoleBinding, 'acme--sys').get('tenantry:owners'))).toBeUndefined();
      expect(await world.find(() => world.client.resource(NetworkPolicy, 'acme--sys').get('tenant-boundary'))).toBeUndefined();
      await world.until('acme', ({ status }) => status?.namespaceCount === 3);
    });

    it('writes nothing again, when nothing changed', async () => {
      await world.until('acme', ({ status }) => status?.usage?.['count/subnamespaceanchors.hnc.x-k8s.io']?.used === '1');
      const before = await world.ready('acme');
      const versions = async () =>
        (await world.client.resource(NetworkPolicy).list()).items
          .concat((await world.client.resource(Namespace).list()).items as never[])
          .map(({ metadata }) => metadata.resourceVersion);
      const written = await versions();
      // A change of any node wakes all tenants.
      await world.node('waker');
      await world.client.resource(TenantKind).patch('acme', { type: 'merge', patch: { metadata: { labels: { touched: 'yes' } } } });
      await world.tenant('waker-tenant');
      expect((await world.get('acme')).status).toEqual(before.status);
      const after = await versions();
      expect(written.every((version) => after.includes(version))).toBe(true);
    });

    it('takes labels from its namespaces that it no longer names, and repairs what somebody changed', async () => {
      await world.patch('acme', { labels: { 'cost-center': null, team: 'blue' } });
      await world.client.resource(RoleBinding, 'acme').delete('tenantry:owners');
      await world.client.resource(LimitRange, 'acme').patch('tenant', { type: 'merge', patch: { spec: { limits: [] } } });
      await world.eventually(async () => {
        const { labels } = (await world.client.resource(Namespace).get('acme--dev')).metadata;
        return labels?.['team'] === 'blue' && labels['cost-center'] === undefined;
      });
      await world.eventually(() => world.find(() => world.client.resource(RoleBinding, 'acme').get('tenantry:owners')));
      await world.eventually(async () => ((await world.client.resource(LimitRange, 'acme').get('tenant')).spec?.limits ?? []).length === 1);
    });

    it('has a boundary for Cilium as well, where that is', async () => {
      await world.definition(CiliumClusterwideNetworkPolicy);
      const policy = await world.eventually(() =>
        world.find(() => world.client.resource(CiliumClusterwideNetworkPolicy).get('tenantry-acme')),
      );
      expect(policy['spec'].endpointSelector.matchExpressions[0].key).toContain('acme.tree.hnc.x-k8s.io/depth');
    });

    it.each([
      ['a namespace that is somebody else’s', 'taken', {}, "it exists and is not the tenant's"],
      ['everybody as owner', 'open', { owners: [{ kind: 'Group', name: 'system:authenticated' }] }, 'cannot own a tenant'],
      ['labels with a meaning', 'odd', { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } }, 'is reserved'],
      ['no nodes to be dedicated', 'lonely', { isolation: 'DedicatedNodes' }, 'spec.nodePool: is needed'],
    ])('is refused with %s', async (_what, name, spec, message) => {
      if (name === 'taken') await world.client.resource(Namespace).create({ metadata: { name } });
      await expect(world.client.resource(TenantKind).create({ metadata: { name }, spec })).rejects.toThrow(message);
    });
  });

  describe('an owner', { timeout: 60_000 }, () => {
    it('sees the own Tenant and namespaces, and nobody else’s', async () => {
      await world.tenant('beta', { owners: [{ kind: 'User', name: 'bob' }] });
      expect((await alice.resource(TenantKind).get('acme')).status?.phase).toBe('Active');
      expect((await alice.resource(Namespace).get('acme--dev')).metadata.name).toBe('acme--dev');
      for (const refused of [
        () => alice.resource(TenantKind).get('beta'),
        () => alice.resource(TenantKind).list(),
        () => alice.resource(Namespace).list(),
        () => alice.resource(Namespace).get('beta'),
        () => alice.resource(ConfigMap, 'beta').list(),
        () => alice.resource(ConfigMap, 'acme--sys').list(),
        () => alice.resource(TenantKind).patch('acme', { type: 'merge', patch: { spec: { quota: null } } }),
        () => bob.resource(ConfigMap, 'acme--dev').list(),
      ])
        await expect(refused()).rejects.toMatchObject({ code: 403 });
    });

    it('cannot touch what the platform keeps in the tenant, nor speak for it', async () => {
      const metadata = { name: 'mine', labels: { 'tenantry.dev/owned-by-tenant': 'acme' } };
      for (const refused of [
        () => alice.resource(HierarchicalResourceQuotaKind, 'acme').delete('tenant'),
        () => alice.resource(NetworkPolicy, 'acme').delete('tenant-boundary'),
        () => alice.resource(RoleBinding, 'acme').delete('tenantry:owners'),
        () => alice.resource(NetworkPolicy, 'acme--dev').delete('tenant-boundary'),
        () => alice.resource(ConfigMap, 'acme--dev').create({ metadata }),
        () => alice.resource(ConfigMap, 'acme--dev').create({ metadata: { name: 'mine', annotations: { 'tenantry.dev/x': '1' } } }),
      ])
        await expect(refused()).rejects.toThrow(/kept by the platform|only be set by the platform|cannot delete object propagated/);
      await alice.resource(ConfigMap, 'acme--dev').create({ metadata: { name: 'mine' } });
    });

    it('cannot leave the platform no room by quotas of its own, nor undo those of the Tenant', async () => {
      const quotas = alice.resource(HierarchicalResourceQuotaKind, 'acme--dev');
      const hard = { 'count/networkpolicies.networking.k8s.io': '1' };
      await expect(quotas.create({ metadata: { name: 'mine' }, spec: { hard } })).rejects.toThrow('which the platform writes');
      await expect(quotas.create({ metadata: { name: 'tenant-high' }, spec: { hard: { pods: '9' } } })).rejects.toThrow(
        'choose another name',
      );
      await quotas.create({ metadata: { name: 'mine' }, spec: { hard: { 'count/configmaps': '90' } } });
    });

    it('cannot give rights that it does not have, nor rights to everybody', async () => {
      const binding = (name: string, subject: object) => ({
        metadata: { name: 'more' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
      });
      const bindings = alice.resource(RoleBinding, 'acme--dev');
      const carol = { kind: 'User', name: 'carol' };
      await expect(bindings.create(binding('cluster-admin', carol))).rejects.toMatchObject({ code: 403 });
      await expect(bindings.create(binding('view', { kind: 'Group', name: 'system:authenticated' }))).rejects.toThrow('which is everybody');
      await bindings.create(binding('view', carol));
    });

    it('makes as many namespaces as the tenant may have', async () => {
      await world.namespace('acme', 'acme--test', alice);
      await expect(alice.resource(SubnamespaceAnchorKind, 'acme').create({ metadata: { name: 'acme--more' } })).rejects.toMatchObject({
        code: 403,
      });
    });

    it.each([
      ['a node by name', { nodeName: 'waker' }, 'names its node itself'],
      ['the machine’s network', { hostNetwork: true }, /hostNetwork|PodSecurity/],
      ['a folder of the machine', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, /hostPath/],
      ['the taint of other tenants', { tolerations: [{ key: 'tenantry.dev/tenant', operator: 'Exists' }] }, 'tolerates the taint'],
      ['every taint', { tolerations: [{ operator: 'Exists' }] }, 'tolerates every taint'],
      ['the nodes of another tenant', { nodeSelector: { 'tenantry.dev/tenant': 'beta' } }, 'nodeSelector names'],
      ['the priority of the platform', { priorityClassName: 'system-node-critical' }, "is the platform's"],
    ])('cannot have a Pod that asks for %s', async (_what, spec, message) => {
      await expect(alice.resource(Pod, 'acme--dev').create(pod('escape', spec))).rejects.toThrow(message);
      const template = { metadata: { labels: { app: 'x' } }, spec: pod('x', spec).spec };
      const deployment = { metadata: { name: 'escape' }, spec: { selector: { matchLabels: { app: 'x' } }, template } };
      await expect(alice.resource(Deployment, 'acme--dev').create(deployment)).rejects.toThrow(/is forbidden/);
    });

    it('uses the registries that the Tenant allows', async () => {
      await world.patch('beta', { allowed: { registries: ['registry.example/beta'] } });
      await world.ready('beta');
      await expect(bob.resource(Pod, 'beta').create(pod('a'))).rejects.toThrow('is not from an allowed registry');
      const allowed = pod('b', { containers: [{ name: 'main', image: 'registry.example/beta/app:1' }] });
      expect((await bob.resource(Pod, 'beta').create(allowed)).spec?.nodeSelector).toBeUndefined();
    });
  });

  describe('a suspended Tenant', { timeout: 60_000 }, () => {
    it('has no replicas and starts nothing, and is as before when it is resumed', async () => {
      await world.deployment('acme--dev', 'web', 3, alice);
      await world.deployment('acme--dev', 'idle', 0, alice);
      const job = { template: { spec: { template: { spec: { ...pod('x').spec, restartPolicy: 'Never' } } } }, schedule: '0 0 1 1 *' };
      await alice
        .resource(CronJob, 'acme--dev')
        .create({ metadata: { name: 'yearly' }, spec: { schedule: job.schedule, jobTemplate: job.template } });
      await world.patch('acme', { suspended: true });
      const suspended = await world.ready('acme');
      expect(suspended.status?.phase).toBe('Suspended');
      const deployments = alice.resource(Deployment, 'acme--dev');
      expect((await deployments.get('web')).spec?.replicas).toBe(0);
      expect((await alice.resource(CronJob, 'acme--dev').get('yearly')).spec?.suspend).toBe(true);
      for (const refused of [
        () => alice.resource(Pod, 'acme--dev').create(pod('p')),
        () => deployments.patch('web', { type: 'merge', patch: { spec: { replicas: 1 } } }),
        () => deployments.subresource('scale').patch('web', { type: 'merge', patch: { spec: { replicas: 1 } } }),
        () => world.deployment('acme--dev', 'new', 1, alice),
        () =>
          deployments.patch('web', {
            type: 'merge',
            patch: { metadata: { annotations: { 'tenantry.dev/replicas-before-suspension': null } } },
          }),
      ])
        await expect(refused()).rejects.toThrow(/is suspended|only be set by the platform/);

      await world.patch('acme', { suspended: null });
      expect((await world.ready('acme')).status?.phase).toBe('Active');
      await world.eventually(async () => (await deployments.get('web')).spec?.replicas === 3);
      const resumed = await deployments.get('web');
      expect(resumed.metadata.annotations?.['tenantry.dev/replicas-before-suspension']).toBeUndefined();
      expect((await deployments.get('idle')).spec?.replicas).toBe(0);
      expect((await alice.resource(CronJob, 'acme--dev').get('yearly')).spec?.suspend).toBe(false);
      expect((await world.client.resource(Namespace).get('acme')).metadata.annotations?.['tenantry.dev/suspended']).toBeUndefined();
    });
  });

  describe('a deleted Tenant', { timeout: 60_000 }, () => {
    it('is only suspended during its grace period', async () => {
      await world.tenant('going', { deletion: { gracePeriodSeconds: 3600 } });
      await world.deployment('going', 'web', 2);
      await world.client.resource(TenantKind).delete('going');
      const going = await world.until('going', ({ status }) => status?.deletionTime !== undefined);
      expect(going.status?.phase).toBe('Deleting');
      await world.eventually(async () => (await world.client.resource(Deployment, 'going').get('web')).spec?.replicas === 0);
      await world.patch('going', { deletion: { gracePeriodSeconds: 0 } });
      await world.eventually(async () => (await world.find(() => world.get('going'))) === undefined);
      expect(await world.find(() => world.client.resource(Namespace).get('going'))).toBeUndefined();
    });

    it('goes in order: what needs its controllers first, everything else waits', async () => {
      await world.definition(SCALED);
      await world.tenant('ordered', { owners: [{ kind: 'User', name: 'alice' }] });
      const scaled = world.client.resource(SCALED, 'ordered');
      await scaled.create({ metadata: { name: 'web', finalizers: ['finalizer.keda.sh'] } });
      await world.client.resource(TenantKind).delete('ordered');
      const held = await world.until('ordered', ({ status }) => findCondition(status?.conditions, 'HooksRun')?.status === 'False');
      expect(findCondition(held.status?.conditions, 'HooksRun')?.message).toBe('waits for scaledobjects ordered/web');
      expect((await scaled.get('web')).metadata.deletionTimestamp).toBeDefined();
      for (const name of ['ordered', 'ordered--sys'])
        expect((await world.client.resource(Namespace).get(name)).metadata.deletionTimestamp).toBeUndefined();
      expect(await world.find(() => world.client.resource(RoleBinding, 'ordered').get('tenantry:owners'))).toBeUndefined();
      await scaled.patch('web', { type: 'merge', patch: { metadata: { finalizers: null } } });
      await world.eventually(async () => (await world.find(() => world.get('ordered'))) === undefined);
    });

    it('leaves nothing behind', async () => {
      await world.client.resource(TenantKind).delete('acme');
      await world.eventually(async () => (await world.find(() => world.get('acme'))) === undefined);
      const left = (await world.client.resource(Namespace).list()).items
        .map(({ metadata }) => metadata.name!)
        .filter((name) => name.startsWith('acme'));
      expect(left).toEqual([]);
      expect(await world.find(() => world.client.resource(CiliumClusterwideNetworkPolicy).get('tenantry-acme'))).toBeUndefined();
      for (const kind of [ClusterRole, ClusterRoleBinding])
        expect(await world.find(() => world.client.resource<never>(kind as never).get('tenantry:tenant:acme'))).toBeUndefined();
    });

    it('leaves its namespaces and what is in them, when they are to be retained', async () => {
      await world.tenant('kept', { owners: [{ kind: 'User', name: 'alice' }], deletion: { policy: 'Retain' } });
      await world.namespace('kept', 'kept--data', alice);
      await world.eventually(() =>
        world.find(() => alice.resource(ConfigMap, 'kept--data').create({ metadata: { name: 'precious' } })).catch(() => undefined),
      );
      const own = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' };
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'tenantry:tenant-owner' };
      await alice.resource(RoleBinding, 'kept').create({
        metadata: { name: 'mine', annotations: { 'propagate.hnc.x-k8s.io/none': 'true' } },
        roleRef,
        subjects: [own],
      });
      await world.client.resource(TenantKind).delete('kept');
      await world.eventually(async () => (await world.find(() => world.get('kept'))) === undefined);
      expect((await world.client.resource(ConfigMap, 'kept--data').get('precious')).metadata.name).toBe('precious');
      await world.eventually(async () => {
        const { labels, deletionTimestamp } = (await world.client.resource(Namespace).get('kept--data')).metadata;
        return (
          deletionTimestamp === undefined &&
          labels?.['tenantry.dev/tenant'] === undefined &&
          labels?.['kept.tree.hnc.x-k8s.io/depth'] === undefined
        );
      });
      await world.eventually(
        async () =>
          (await alice
            .resource(ConfigMap, 'kept--data')
            .list()
            .catch(() => 'refused')) === 'refused',
      );
      const anchor = alice.resource(SubnamespaceAnchorKind, 'kept').create({ metadata: { name: 'without-bounds' } });
      await expect(anchor).rejects.toThrow('was kept from a tenant that is gone');
    });
  });
}
