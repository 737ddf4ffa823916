import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureKubernetesKeys } from '../../src/areas/clusters/control-plane/kubernetes/kubernetes-keys.ts';
import { controlPlaneObjects, underClusterKeyNeeds } from '../../src/areas/clusters/control-plane/under-cluster/control-plane-objects.ts';
import { aPlane } from '../../src/areas/clusters/control-plane/under-cluster/testing/some-plane.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import type { ApiTarget } from '../support/api-target.ts';
import { startKubernetesTarget } from './kubernetes-target.ts';

const PLURALS: Record<string, string> = { NetworkPolicy: 'networkpolicies' };

/** As an under-cluster takes them: a real API server, with everything that it checks. */
describe('the objects of a control plane on a Kubernetes', { timeout: 120_000 }, () => {
  let target: ApiTarget;
  let folder: string;

  beforeAll(async () => {
    target = await startKubernetesTarget();
    folder = mkdtempSync(join(tmpdir(), 'tenantry-objects-'));
  }, 120_000);
  afterAll(async () => {
    await target?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const pathOf = ({ apiVersion, kind, metadata }: KubeObject) => {
    const prefix = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    return `${prefix}/namespaces/${metadata.namespace}/${PLURALS[kind] ?? `${kind.toLowerCase()}s`}/${metadata.name}`;
  };
  const apply = async (object: KubeObject) => {
    const path = `${pathOf(object)}?fieldManager=tenantry&force=true&fieldValidation=Strict`;
    const { status, body } = await target.request('PATCH', path, object, { contentType: 'application/apply-patch+yaml' });
    return { status, message: body.message as string | undefined };
  };

  it('are taken by a real API server to the last field, and change nothing when they are applied again', async () => {
    const plane = aPlane({ replicas: 2, etcdReplicas: 3 });
    await target.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: plane.namespace } });
    const wanted = { id: 'x', namespace: 'acme', name: 'dev', version: '1.35.4', names: [], accessRevision: 0 };
    await ensureKubernetesKeys(folder, wanted, underClusterKeyNeeds(plane), realClock);
    const keys = Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
    const objects = controlPlaneObjects({ ...plane, keys });
    for (const object of objects) {
      expect([pathOf(object), await apply(object)]).toEqual([pathOf(object), { status: 201 }]);
      expect([pathOf(object), await apply(object)]).toEqual([pathOf(object), { status: 200 }]);
    }
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    for (const object of deployments) expect((await target.request('GET', pathOf(object))).body.metadata.generation).toBe(1);
    // Members of the store are reached by names that its certificate has.
    const store = new X509Certificate(keys['etcd-peer.crt']);
    expect(store.checkHost('dev-etcd-2.dev-etcd.tenant-acme.svc')).toBeDefined();
    expect(new X509Certificate(keys['apiserver.crt']).checkHost('dev-api.tenant-acme.svc')).toBeDefined();
  });
});
