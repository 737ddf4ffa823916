import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Publisher } from '../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { appProject, AppProjectKind } from '../../src/areas/plugins/neighbours/app-project.ts';
import { imageValidatingPolicy, ImageValidatingPolicyKind } from '../../src/areas/plugins/neighbours/image-validating-policy.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { isContained } from '../../src/kube/is-contained.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { installObjects } from '../../src/main/areas.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { type } from '../e2e/command.ts';

const STRICT = { fieldValidation: 'Strict' as const };

/** The folder of a module's sources. */
async function sourceOf(module: string): Promise<string> {
  const { code, stdout, stderr } = await type('go', ['mod', 'download', '-json', module], {}, 600_000);
  if (code !== 0) throw new Error(`Cannot fetch "${module}": go ended with ${code}; this test needs Go. It said: ${stderr.slice(-2000)}`);
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

describe('what is made for other projects is as their own definitions want it', { timeout: 120_000 }, () => {
  let plane: ControlPlane;
  let client: Client;
  beforeAll(async () => {
    const [kyverno, argo] = [await sourceOf('github.com/kyverno/kyverno@v1.18.2'), await sourceOf('github.com/argoproj/argo-cd/v3@v3.3.0')];
    plane = await startControlPlane();
    client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
    const files = [
      join(kyverno, 'config/crds/policies.kyverno.io/policies.kyverno.io_imagevalidatingpolicies.yaml'),
      join(argo, 'manifests/crds/appproject-crd.yaml'),
    ];
    await installObjects(
      client,
      files.map((file) => parse(readFileSync(file, 'utf8')) as KubeObject),
    );
  }, 1_800_000);
  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  }, 60_000);

  it.each([
    ['keys', 2],
    ['no key', 0],
  ])('an ImageValidatingPolicy with %s', async (_, count) => {
    const publicKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ type: 'spki', format: 'pem' });
    const keys = Array.from({ length: count }, (__, index) => ({ id: `k${index}`, publicKey: publicKey().toString() }));
    const publisher = { metadata: { name: `acme-${count}` }, spec: { keys } } as unknown as Publisher;
    const wanted = imageValidatingPolicy(publisher, Date.now());
    const stored = await client.resource<KubeObject>(ImageValidatingPolicyKind).create(wanted, STRICT);
    // Nothing is dropped or rewritten, so that a round in which nothing changed writes nothing.
    expect(isContained(wanted, stored)).toBe(true);
  });

  it('an AppProject', async () => {
    const wanted = appProject({ namespace: 'default', sourceRepos: ['https://git.example/a.git'] });
    expect(isContained(wanted, await client.resource<KubeObject>(AppProjectKind, 'default').create(wanted, STRICT))).toBe(true);
  });

  it('and they do look', async () => {
    const wanted = appProject({ namespace: 'default', sourceRepos: [] });
    const crooked = { ...wanted, metadata: { name: 'crooked' }, spec: { ...wanted.spec, destination: [] } };
    await expect(client.resource<KubeObject>(AppProjectKind, 'default').create(crooked, STRICT)).rejects.toThrow('unknown field');
  });
});
