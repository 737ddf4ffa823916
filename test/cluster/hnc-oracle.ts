import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { ClusterRoleBinding, Namespace, ServiceAccount } from '../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { installObjects } from '../../src/main/areas.ts';
import { connectTarget, type ApiTarget } from '../support/api-target.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { startControllerManager } from './controller-manager.ts';
import { hncBinary, hncSource } from './hnc-binaries.ts';

const EXCLUDED = ['kube-system', 'kube-public', 'kube-node-lease', 'hnc-system'];

/** The original HNC 1.1 on a real kube-apiserver, with its own definitions and webhooks: what ours is compared with. */
export async function startHncOracle(): Promise<ApiTarget> {
  const [program, source] = [await hncBinary('hnc-manager'), await hncSource()];
  const plane = await startControlPlane();
  const endManager = await startControllerManager(plane, ['namespace', 'garbage-collector']);
  const admin = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
  await admin.resource(Namespace).create({ metadata: { name: 'hnc-system' } });
  for (const kind of ['hierarchyconfigurations', 'subnamespaceanchors', 'hncconfigurations'])
    await installObjects(admin, documents(join(source, 'config/crd/bases', `hnc.x-k8s.io_${kind}.yaml`)));
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-hnc-'));
  const port = await freePort();
  const child = startHnc(program, plane, folder, port, await tokenKubeconfig(plane, admin, folder));
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await Promise.all([ended, admin.close(), endManager()]);
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const target = connectTarget({
    name: 'HNC',
    url: plane.url,
    kubeconfig: plane.kubeconfig,
    ca: plane.ca,
    token: plane.adminToken,
    close,
  });
  const webhooks = documents(join(source, 'config/webhook/manifests.yaml')).map((object) => atUrl(object, port, plane.ca));
  await installObjects(admin, webhooks);
  await answers(target);
  return target;
}

/** The manager finds its certificate below the folder for temporary files. */
function startHnc(program: string, plane: ControlPlane, folder: string, port: number, kubeconfig: string) {
  const certificates = join(folder, 'k8s-webhook-server/serving-certs');
  mkdirSync(certificates, { recursive: true });
  copyFileSync(plane.certificates.serverCert, join(certificates, 'tls.crt'));
  copyFileSync(plane.certificates.serverKey, join(certificates, 'tls.key'));
  const flags = [
    '--metrics-addr=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
    '--enable-stackdriver=false',
    `--webhook-server-port=${port}`,
    '--max-reconciles=10',
    '--apiserver-qps-throttle=500',
    ...EXCLUDED.map((name) => `--excluded-namespace=${name}`),
  ];
  return spawn(program, flags, { stdio: 'ignore', env: { ...process.env, TMPDIR: folder, KUBECONFIG: kubeconfig } });
}

/** HNC lets whatever is written by its own account pass, so it needs one. */
async function tokenKubeconfig(plane: ControlPlane, admin: Client, folder: string): Promise<string> {
  const accounts = admin.resource(ServiceAccount, 'hnc-system');
  await accounts.create({ metadata: { name: 'manager' } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'ServiceAccount', name: 'manager', namespace: 'hnc-system' }];
  await admin.resource(ClusterRoleBinding).create({ metadata: { name: 'hnc-manager' }, roleRef, subjects });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { expirationSeconds: 7200 } };
  const { status } = (await accounts.subresource('token').create('manager', request as never)) as Json;
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, readFileSync(plane.kubeconfig, 'utf8').replace(plane.adminToken, status.token), { mode: 0o600 });
  return path;
}

function documents(path: string): KubeObject[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
}

/** As HNC's own kustomization patches it, and at an address that the API server of a test can reach. */
function atUrl(configuration: KubeObject, port: number, ca: string): KubeObject {
  const webhooks = (configuration['webhooks'] as Json[]).map(({ clientConfig, rules, ...webhook }) => ({
    ...webhook,
    ...(webhook.name === 'objects.hnc.x-k8s.io'
      ? {
          timeoutSeconds: 2,
          rules: rules.map((rule: Json) => ({ ...rule, scope: 'Namespaced' })),
          namespaceSelector: { matchLabels: { 'hnc.x-k8s.io/included-namespace': 'true' } },
        }
      : { rules }),
    clientConfig: { url: `https://127.0.0.1:${port}${clientConfig.service.path}`, caBundle: Buffer.from(ca).toString('base64') },
  }));
  return { ...configuration, metadata: { name: `hnc-${configuration.metadata.name}` }, webhooks };
}

/** Its webhooks refuse everything until it listens, and it listens once its caches are full. */
async function answers(target: ApiTarget): Promise<void> {
  const namespace = { metadata: { name: 'oracle-probe', labels: { 'hnc.x-k8s.io/included-namespace': 'false' } } };
  await vi.waitFor(
    async () => {
      const { body } = await target.request('POST', '/api/v1/namespaces', namespace);
      if (!String(body.message).includes('you cannot change the value')) throw new Error(`HNC does not answer yet: ${body.message}`);
    },
    { timeout: 120_000, interval: 200 },
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
