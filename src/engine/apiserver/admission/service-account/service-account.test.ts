import { describe, expect, it, vi } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { aPod, aRequest, refusalOf } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { serviceAccount } from './service-account.ts';

const ACCOUNTS = { group: '', resource: 'serviceaccounts' };

function anAccount(name: string, extra: Record<string, Json> = {}): KubeObject {
  const { annotations, ...fields } = extra;
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'team', annotations }, ...fields };
}

function withAccounts(...accounts: KubeObject[]) {
  const objects = new ObjectsInMemory();
  for (const account of accounts) objects.put(ACCOUNTS, account);
  return { objects, plugin: serviceAccount({ reader: objects, randomSuffix: () => 'abcde', defaultAccountPatience: 1000 }) };
}

describe('serviceAccount', () => {
  it('binds a pod to the default account and mounts its token into every container', () => {
    const { plugin } = withAccounts(anAccount('default'));
    const request = aRequest('pods', aPod({ initContainers: [{ name: 'i' }] }));
    expect(plugin.mutate!(request)).toBeUndefined();
    const mount = { name: 'kube-api-access-abcde', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
    expect(request.object!.spec).toEqual({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      initContainers: [{ name: 'i', volumeMounts: [mount] }],
      containers: [{ name: 'c', image: 'busybox', volumeMounts: [mount] }],
      volumes: [
        {
          name: 'kube-api-access-abcde',
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
            ],
          },
        },
      ],
    });
    void plugin.validate!(request);
  });

  it.each<[string, Json, Json]>([
    ['the pod says no', { automountServiceAccountToken: false }, { automountServiceAccountToken: true }],
    ['the account says no', {}, { automountServiceAccountToken: false }],
  ])('mounts nothing when %s', (_name, spec, account) => {
    const request = aRequest('pods', aPod(spec));
    void withAccounts(anAccount('default', account)).plugin.mutate!(request);
    expect(request.object!.spec.volumes).toBeUndefined();
  });

  it('leaves a container alone that mounts something at the path itself', () => {
    const mounts = [{ name: 'mine', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }];
    const request = aRequest('pods', aPod({ containers: [{ name: 'c', volumeMounts: mounts }], volumes: [{ name: 'mine' }] }));
    void withAccounts(anAccount('default')).plugin.mutate!(request);
    expect(request.object!.spec.volumes).toEqual([{ name: 'mine' }]);
  });

  it('hands the pull secrets of the account to pods that bring none', () => {
    const { plugin } = withAccounts(anAccount('default', { imagePullSecrets: [{ name: 'reg' }] }));
    const without = aRequest('pods', aPod());
    const bringing = aRequest('pods', aPod({ imagePullSecrets: [{ name: 'own' }] }));
    void plugin.mutate!(without);
    void plugin.mutate!(bringing);
    expect(without.object!.spec.imagePullSecrets).toEqual([{ name: 'reg' }]);
    expect(bringing.object!.spec.imagePullSecrets).toEqual([{ name: 'own' }]);
  });

  it('refuses an account that does not exist', async () => {
    const request = aRequest('pods', aPod({ serviceAccountName: 'builder' }));
    expect(await refusalOf(() => withAccounts().plugin.mutate!(request))).toBe(
      'pods "p" is forbidden: error looking up service account team/builder: serviceaccount "builder" not found',
    );
  });

  it('waits for the default account of a namespace that was just made', async () => {
    const { objects, plugin } = withAccounts();
    const request = aRequest('pods', aPod());
    const pending = plugin.mutate!(request);
    objects.put(ACCOUNTS, anAccount('default'));
    await pending;
    expect(request.object!.spec.volumes).toHaveLength(1);
  });

  it('refuses when the default account does not appear in time', async () => {
    vi.useFakeTimers();
    const refused = refusalOf(() => withAccounts().plugin.mutate!(aRequest('pods', aPod())));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await refused).toContain('error looking up service account team/default: serviceaccount "default" not found');
    vi.useRealTimers();
  });

  const MIRROR = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
  it.each<[string, Json, string]>([
    ['a service account', { serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    ['a secret', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [
      'a token projection',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('refuses a mirror pod with %s', async (_name, spec, message) => {
    const request = aRequest('pods', aPod(spec, MIRROR));
    expect(await refusalOf(() => withAccounts(anAccount('default')).plugin.mutate!(request))).toBe(`pods "p" is forbidden: ${message}`);
  });

  it('leaves the spec of a mirror pod alone', () => {
    const request = aRequest('pods', aPod({}, MIRROR));
    void withAccounts(anAccount('default')).plugin.mutate!(request);
    expect(request.object!.spec.serviceAccountName).toBeUndefined();
  });

  const enforcing = anAccount('default', { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' }, secrets: [{ name: 'ok' }] });
  it.each<[string, Json, string]>([
    [
      'volume',
      { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
      'volume with secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      'environment variable',
      { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's' } } }] }] },
      'container c with envVar E referencing secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      'pull secret',
      { imagePullSecrets: [{ name: 's' }] },
      'imagePullSecrets[0].name="s" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ])('refuses a %s the enforcing account does not list', async (_name, spec, message) => {
    const { plugin } = withAccounts(enforcing);
    const request = aRequest('pods', aPod({ serviceAccountName: 'default', ...spec }));
    expect(await refusalOf(() => plugin.validate!(request))).toBe(`pods "p" is forbidden: ${message}`);
  });
});
