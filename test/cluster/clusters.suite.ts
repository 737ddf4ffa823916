import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TenantCluster } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { type } from '../e2e/command.ts';
import { makeCertificates } from './certificates.ts';
import { hncBinary, hncSource } from './hnc-binaries.ts';
import { openWorkbench, type Workbench } from './kubectl.ts';

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

interface Made {
  tenant: string;
  id: string;
  endpoint: string;
  kubeconfig: string;
}

/** What differs between the providers of control planes. */
export interface ClusterStory {
  provider: string;
  /** For `tenantry up`. */
  flags(): Promise<string[]>;
  /** Of a disk that holds a control plane and not much more. */
  diskSize: string;
  readsWithoutDisk: boolean;
  /** Of one write: stores have some room of their own. */
  writeBytes: number;
}

const until = (met: () => Promise<unknown>) => vi.waitUntil(met, { timeout: 60_000, interval: 100 });

/** As root, as an operator runs it. The tests are one story: each goes on where the one before it ended. */
export function clusterStory({ provider, flags, diskSize, readsWithoutDisk, writeBytes }: ClusterStory): void {
  describe(`${provider} clusters of two tenants`, () => {
    let up: string[];
    let bench: Workbench;
    let engine: SpawnedEngine;
    let data: string;
    let acme: Made;
    let beta: Made;
    const kubectl = (words: string[], stdin?: string) => bench.kubectl(words, stdin);
    const inside = (cluster: Made, line: string, stdin?: string) =>
      kubectl(['--kubeconfig', cluster.kubeconfig, ...line.split(' ')], stdin);
    const tenantry = (...words: string[]) => type(process.execPath, ['bin/tenantry', ...words, '--kubeconfig', join(data, 'kubeconfig')]);
    const record = ({ id }: Made) => JSON.parse(readFileSync(join(data, 'clusters/records', `${id}.json`), 'utf8'));
    const phase = async ({ tenant }: Made) => (await bench.works(`get tcl dev -n ${tenant} -o jsonpath={.status.phase}`)).trim();
    const condition = async ({ tenant }: Made, name: string) => {
      const { status } = JSON.parse(await bench.works(`get tcl dev -n ${tenant} -o json`)) as TenantCluster;
      return findCondition(status?.conditions, name)?.reason;
    };

    async function make(tenant: string): Promise<Made> {
      expect(await tenantry('tenant', 'create', tenant, '--owner', `${tenant}-owner`)).toMatchObject({ code: 0 });
      const { code, stdout } = await tenantry('cluster', 'create', 'dev', '-n', tenant);
      expect(code).toBe(0);
      expect(stdout).toContain(provider);
      const { stdout: text } = await tenantry('cluster', 'kubeconfig', 'dev', '-n', tenant);
      const id = (await bench.works(`get tcl dev -n ${tenant} -o jsonpath={.metadata.uid}`)).trim();
      return { tenant, id, endpoint: /https:\S+/.exec(stdout)![0], kubeconfig: bench.file(`${tenant}.kubeconfig`, text) };
    }

    beforeAll(async () => {
      if (process.getuid?.() !== 0) throw new Error('Cannot test processes with users of their own: this is not root; run it as root');
      up = ['--node', 'none', ...(await flags())];
      bench = await openWorkbench(up);
      engine = bench.engine;
      data = join(bench.folder, 'data');
      acme = await make('acme');
      beta = await make('beta');
    });
    afterAll(async () => {
      for (const cluster of [acme, beta].filter(Boolean))
        await tenantry('cluster', 'delete', 'dev', '-n', cluster.tenant, '--confirm', 'dev');
      // Nothing is left of them on the machine.
      expect(leftovers([acme, beta])).toEqual([]);
      await engine?.stop();
      rmSync(bench.folder, { recursive: true, force: true });
    });

    it('kubectl is administrator of a whole cluster', async () => {
      expect((await inside(acme, 'auth can-i * *')).out.trim()).toBe('yes');
      const manifests = [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'widgets.shop.example' },
          spec: {
            group: 'shop.example',
            scope: 'Namespaced',
            names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
            versions: [
              {
                name: 'v1',
                served: true,
                storage: true,
                schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
              },
            ],
          },
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'widget-reader' },
          rules: [{ apiGroups: ['shop.example'], resources: ['widgets'], verbs: ['get', 'list'] }],
        },
      ];
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
      expect(await inside(acme, 'apply --server-side -f -', list)).toMatchObject({ code: 0 });
      expect((await inside(acme, 'wait --for=condition=Established crd/widgets.shop.example')).code).toBe(0);
      const widget = JSON.stringify({ apiVersion: 'shop.example/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'team' }, size: 3 });
      expect(await inside(acme, 'apply -f -', widget)).toMatchObject({ code: 0 });
      expect((await inside(acme, 'create deployment web --image=x -n team')).code).toBe(0);
      await until(async () => (await inside(acme, 'get replicasets -n team -o name')).out.includes('web-'));
      // The other tenant's cluster has nothing of it.
      expect((await inside(beta, 'get ns team')).err).toContain('NotFound');
    });

    it('an unmodified controller-runtime program works in it', async () => {
      const [program, source] = [await hncBinary('hnc-manager'), await hncSource()];
      for (const kind of ['hierarchyconfigurations', 'subnamespaceanchors', 'hncconfigurations']) {
        const file = join(source, 'config/crd/bases', `hnc.x-k8s.io_${kind}.yaml`);
        expect(await inside(acme, `apply --server-side -f ${file}`)).toMatchObject({ code: 0 });
      }
      await inside(acme, 'create namespace hnc-system');
      // It finds the certificate for its webhooks, which nobody asks here, below the folder for temporary files.
      const certificates = join(bench.folder, 'k8s-webhook-server/serving-certs');
      mkdirSync(certificates, { recursive: true });
      const { serverCert, serverKey } = makeCertificates(certificates);
      copyFileSync(serverCert, join(certificates, 'tls.crt'));
      copyFileSync(serverKey, join(certificates, 'tls.key'));
      const flags = [
        '--metrics-addr=127.0.0.1:0',
        '--health-probe-bind-address=127.0.0.1:0',
        '--enable-stackdriver=false',
        `--webhook-server-port=${await freePort()}`,
      ];
      const env = { ...process.env, TMPDIR: bench.folder, KUBECONFIG: acme.kubeconfig };
      const manager = spawn(program, flags, { stdio: 'ignore', env });
      try {
        const anchor = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'SubnamespaceAnchor', metadata: { name: 'child', namespace: 'team' } };
        await until(async () => (await inside(acme, 'apply -f -', JSON.stringify(anchor))).code === 0);
        await until(async () => (await inside(acme, 'get namespace child -o jsonpath={.metadata.annotations}')).out.includes('team'));
      } finally {
        manager.kill('SIGKILL');
      }
    });

    it('no credential of one tenant is good for the cluster of the other, nor for the host', async () => {
      await inside(acme, 'create serviceaccount robot');
      const token = (await inside(acme, 'create token robot')).out.trim();
      const { stdout: ownersOfHost } = await tenantry('tenant', 'kubeconfig', 'acme');
      const owner = bench.file('owner.kubeconfig', ownersOfHost);
      const host = engine.target.url;
      const servers = { own: acme.endpoint, other: beta.endpoint, host };
      const credentials: Record<string, string[]> = {
        "the cluster's certificate": ['--kubeconfig', acme.kubeconfig],
        'a token of its service account': ['--kubeconfig', bench.file('empty', ''), '--token', token],
        "the owner's certificate of the host": ['--kubeconfig', owner],
      };
      const allowed: string[] = [];
      for (const [name, words] of Object.entries(credentials)) {
        for (const [where, url] of Object.entries(servers)) {
          const asked = ['auth', 'whoami', ...words, '--server', url, '--insecure-skip-tls-verify', '--request-timeout=10s'];
          // A kubeconfig that holds an authority cannot be told to believe anybody.
          const cleaned = asked.map((word) => (word.endsWith('.kubeconfig') ? withoutAuthority(word) : word));
          const { code, err } = await kubectl(cleaned);
          if (code === 0) allowed.push(`${name} at ${where}`);
          else expect(err).toMatch(/Unauthorized|logged in/);
        }
      }
      expect(allowed).toEqual([
        "the cluster's certificate at own",
        'a token of its service account at own',
        "the owner's certificate of the host at host",
      ]);
      // And nobody takes another's server for its own.
      expect((await kubectl(['get', 'ns', '--kubeconfig', acme.kubeconfig, '--server', beta.endpoint])).err).toMatch(/certificate/);
    });

    function withoutAuthority(path: string): string {
      const text = readFileSync(path, 'utf8').replace(/\n.*certificate-authority-data.*/, '');
      return bench.file(`open-${path.split('/').at(-1)}`, text);
    }

    it('processes have users of their own, who reach nothing of each other', async () => {
      const [a, b] = [record(acme), record(beta)];
      expect(a.user).not.toBe(b.user);
      expect(statSync(`/proc/${a.process.pid}`).uid).toBe(a.user);
      expect(await condition(acme, 'ProcessIsolated')).toBe('OwnUser');
      const folder = join(data, 'clusters', beta.id);
      const attempts = [
        `require('fs').readdirSync(${JSON.stringify(join(folder, 'data/store'))})`,
        `require('fs').readFileSync(${JSON.stringify(join(folder, 'pki/ca.key'))})`,
        `process.kill(${b.process.pid}, 'SIGKILL')`,
        `require('fs').readdirSync(${JSON.stringify(join(data, 'clusters/backups'))})`,
        `require('fs').readFileSync(${JSON.stringify(join(data, 'pki/ca.key'))})`,
        `require('fs').readFileSync('/proc/${b.process.pid}/environ')`,
      ];
      for (const attempt of attempts)
        expect([attempt, await codeOf(attempt, a.user)]).toEqual([attempt, expect.stringMatching(/^E(ACCES|PERM)$/)]);
      const socket = `require('net').connect(${JSON.stringify(join(folder, 'data/control.sock'))})`;
      expect(await codeOf(`new Promise((_, no) => ${socket}.on('error', no).on('connect', () => no({ code: 'CONNECTED' })))`, a.user)).toBe(
        'EACCES',
      );
      // Nor may it put other keys in place of its own.
      const own = join(data, 'clusters', acme.id);
      const replace = `process.chdir(process.argv[1]), require('fs').writeFileSync('../pki/ca.key', '')`;
      expect(await codeOf(replace, a.user, [join(own, 'data')])).toMatch(/^E(ACCES|PERM)$/);
    });

    /** Namespaces and cgroups that are still there. */
    function leftovers(clusters: Made[]): string[] {
      const instance = createHash('sha256').update(join(data, 'clusters')).digest('hex').slice(0, 6);
      const namespaces = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
      const groups = existsSync('/sys/fs/cgroup/pids') ? readdirSync('/sys/fs/cgroup/pids') : readdirSync('/sys/fs/cgroup');
      const folders = clusters.map(({ id }) => join(data, 'clusters', id)).filter(existsSync);
      return [...[...namespaces, ...groups].filter((name) => name.startsWith(`tenantry-plane-${instance}`)), ...folders];
    }

    /** The code of the error that a program of that user ends with. */
    function codeOf(expression: string, user: number, args: string[] = []): Promise<string> {
      const program = `(async () => { try { await (${expression}); console.log('OK'); } catch (e) { console.log(e.code); } process.exit(); })()`;
      return new Promise((resolve) => {
        const child = spawn(process.execPath, ['-e', program, ...args], { uid: user, gid: user, cwd: '/' });
        let out = '';
        child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
        child.on('close', () => resolve(out.trim()));
      });
    }

    it('kill -9 of Tenantry leaves the clusters as they are, and the next start finds them', async () => {
      const before = [acme, beta].map((cluster) => record(cluster).process.pid);
      await engine.kill();
      expect((await inside(acme, 'get ns team')).code).toBe(0);
      engine = await spawnEngine(data, { args: up });
      await until(async () => (await phase(acme)) === 'Ready' && (await phase(beta)) === 'Ready');
      expect([acme, beta].map((cluster) => record(cluster).process.pid)).toEqual(before);
      // It is followed again.
      process.kill(before[0], 'SIGKILL');
      await until(async () => record(acme).process.pid !== before[0] && (await inside(acme, 'get ns team')).code === 0);
      expect(record(beta).process.pid).toBe(before[1]);
    });

    it('a full disk is told by the cluster that has it, and the other does not notice', { timeout: 180_000 }, async () => {
      expect(await tenantry('cluster', 'sleep', 'dev', '-n', 'acme')).toMatchObject({ code: 0 });
      const folder = join(data, 'clusters', acme.id, 'data');
      const { user } = record(acme);
      execFileSync('cp', ['-a', `${folder}/.`, `${bench.folder}/saved`]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskSize},mode=0700,uid=${user},gid=${user}`, 'tenantry-test', folder]);
      try {
        execFileSync('cp', ['-a', `${bench.folder}/saved/.`, folder]);
        expect(await tenantry('cluster', 'wake', 'dev', '-n', 'acme')).toMatchObject({ code: 0 });
        fill(join(folder, 'filler'));
        let written = 0;
        const aConfigMap = () => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `c${written++}` },
          data: { a: 'x'.repeat(writeBytes) },
        });
        await until(async () => (await inside(acme, 'create --request-timeout=5s -f -', JSON.stringify(aConfigMap()))).code !== 0);
        await until(async () => (await condition(acme, 'ControlPlaneReady')) === 'DiskFull');
        if (readsWithoutDisk) expect((await inside(acme, 'get ns team')).code).toBe(0);
        expect((await inside(beta, 'create namespace one')).code).toBe(0);
        expect(await phase(beta)).toBe('Ready');
        rmSync(join(folder, 'filler'));
        await until(async () => (await inside(acme, 'create namespace two')).err === '');
        await until(async () => (await phase(acme)) === 'Ready');
        expect(await tenantry('cluster', 'sleep', 'dev', '-n', 'acme')).toMatchObject({ code: 0 });
      } finally {
        execFileSync('umount', ['--lazy', folder]);
      }
    });

    function fill(path: string): void {
      const chunk = Buffer.alloc(4096);
      try {
        for (;;) writeFileSync(path, chunk, { flag: 'a' });
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
      }
    }
  });
}
