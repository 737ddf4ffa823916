import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMap, Event, Pod } from '../../src/client/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { registriesPath } from '../../src/main/registries-file.ts';
import { nodeUser, until, type NodeUser } from '../support/node-client.ts';
import { startTestRegistry, type TestRegistry } from '../support/oci-registry.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { binary } from './binaries.ts';
import { nodeTools } from './node-tools.ts';
import { pushPluginImage } from './plugin-image.ts';

/** The guide from its first command to its last, with a real image in real containers and real networks. */
describe('a plugin, from init to uninstall', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-plugins-'));
  const data = join(folder, 'data');
  const plugin = join(folder, 'hello');
  const key = join(folder, 'acme.key');
  let kubectl: string;
  let gateway: string;
  let token: string;
  let engine: SpawnedEngine;
  let user: NodeUser;
  let registry: TestRegistry;

  beforeAll(async () => {
    await nodeTools('runc', 'nft', 'ip', 'conntrack');
    kubectl = await binary('kubectl');
    registry = await startTestRegistry();
    mkdirSync(join(data, 'node'), { recursive: true });
    writeFileSync(registriesPath(data), `registries:\n  "${registry.host}":\n    insecure: true\n`);
    engine = await spawnEngine(data, { args: ['--node', 'oci'] });
    user = nodeUser(engine.target.url, data);
  }, 120_000);
  afterAll(async () => {
    await user?.close();
    await engine?.stop();
    await registry?.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const tenantry = (...args: string[]): Promise<string> => program(process.execPath, 'bin/tenantry', ...args);

  /** As a user types it. */
  async function program(command: string, ...args: string[]): Promise<string> {
    const child = spawn(command, args, { env: { ...process.env, KUBECONFIG: join(data, 'kubeconfig') } });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}: ${err}${out}`);
    return out;
  }

  async function podOf(tenant: string): Promise<KubeObject> {
    const pods = user.client.resource<KubeObject>(Pod, `plugin-${tenant}-hello`);
    const { items } = await pods.list();
    return items.find(({ metadata }) => metadata.deletionTimestamp === undefined)!;
  }

  /** What a script in the plugin's own container says. */
  async function inside(tenant: string, script: string): Promise<string> {
    const name = (await podOf(tenant)).metadata.name!;
    return program(kubectl, 'exec', '-n', `plugin-${tenant}-hello`, name, '--', '/usr/bin/node', '--input-type=module', '-e', script);
  }

  /** `open`, `ECONNREFUSED`, or `lost` when nothing ever answers. */
  function knock(tenant: string, host: string, port: number): Promise<string> {
    return inside(
      tenant,
      `import { connect } from 'node:net';
       const socket = connect(${port}, '${host}');
       const said = (word) => (process.stdout.write(word), process.exit());
       socket.once('connect', () => said('open')).once('error', ({ code }) => said(code));
       setTimeout(() => said('lost'), 1500);`,
    );
  }

  async function release(version: string): Promise<string> {
    const path = join(plugin, 'plugin.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('0.1.0', version));
    pushPluginImage(registry, 'acme/hello', version, plugin);
    await tenantry('plugin', 'sign', plugin, '--key', key, '--plain-http');
    return tenantry('plugin', 'publish', plugin);
  }

  /** Calls the tool as an application of the tenant does. */
  async function greet(): Promise<unknown> {
    const body = JSON.stringify({ name: 'Ada' });
    const answer = await fetch(`${gateway}/school/hello/mcp/hello`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body,
    });
    if (answer.status !== 200) throw new Error(`the gateway answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  async function askUntil(signal: AbortSignal): Promise<{ answers: number; failures: string[] }> {
    const told = { answers: 0, failures: [] as string[] };
    while (!signal.aborted) {
      await greet().then(
        () => told.answers++,
        (error: unknown) => told.failures.push(String(error)),
      );
    }
    return told;
  }

  it('is written, signed and published', async () => {
    await tenantry('plugin', 'init', plugin, '--publisher', 'acme', '--image', `${registry.host}/acme/hello`);
    await tenantry('plugin', 'lint', plugin);
    pushPluginImage(registry, 'acme/hello', '0.1.0', plugin);
    const publisher = await tenantry('plugin', 'sign', plugin, '--key', key, '--generate-key', '--plain-http');
    writeFileSync(join(folder, 'publisher.yaml'), publisher);
    await program(kubectl, 'apply', '-f', join(folder, 'publisher.yaml'));
    expect(await tenantry('plugin', 'publish', plugin)).toContain('VERIFIED');
  });

  it('is installed for two tenants, and runs', async () => {
    for (const tenant of ['school', 'rival']) {
      await tenantry('tenant', 'create', tenant, '--owner', `owner-of-${tenant}`);
      expect(await tenantry('plugin', 'install', 'acme/hello@0.1.0', '--tenant', tenant)).toContain('ACTIVE');
    }
    expect(await tenantry('plugin', 'list', '--tenant', 'school')).toMatch(/hello\s+.*0\.1\.0.*ACTIVE/);
  });

  it('has no rights, no capabilities, a root that cannot be written, and no token but its own', async () => {
    const script = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
      const status = readFileSync('/proc/self/status', 'utf8');
      const field = (name) => status.match(new RegExp(name + ':\\\\s+(\\\\S+)'))[1];
      const tried = (action) => { try { action(); return 'done'; } catch ({ code }) { return code; } };
      const [, claims] = readFileSync('/var/run/secrets/tenantry.dev/identity/token', 'utf8').split('.');
      console.log(JSON.stringify({
        uid: process.getuid(), capabilities: field('CapEff'), noNewPrivileges: field('NoNewPrivs'), seccomp: field('Seccomp'),
        root: tried(() => writeFileSync('/app/x', '')), kubernetes: existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token'),
        subject: JSON.parse(Buffer.from(claims, 'base64url')).sub,
      }));`;
    expect(JSON.parse(await inside('school', script))).toEqual({
      uid: 10_001,
      capabilities: '0000000000000000',
      noNewPrivileges: '1',
      seccomp: '2',
      root: 'EROFS',
      kubernetes: false,
      subject: 'plugin:hello:school',
    });
  });

  it('reaches nobody that it did not name, and whoever looks is told', async () => {
    const rival = (await podOf('rival')).status.podIP as string;
    const own = (await podOf('school')).status.podIP as string;
    const machine = own.replace(/\d+$/, '1');
    expect(await knock('school', rival, 8080)).toBe('lost');
    expect(await knock('school', machine, 22)).toBe('lost');
    expect(await knock('school', '10.0.0.1', 443)).toBe('lost');
    expect(await knock('school', own, 8080)).toBe('open');
    expect(
      await inside(
        'school',
        `import { lookup } from 'node:dns/promises'; await lookup('kubernetes.default.svc.cluster.local'); console.log('found')`,
      ),
    ).toContain('found');
    const events = user.client.resource<KubeObject>(Event, 'plugin-school-hello');
    const denials = await until(
      async () =>
        (await events.list()).items.filter((event) => event['reason'] === 'NetworkPolicyDenied').map((event) => String(event['note'])),
      (notes) => notes.some((note) => note.includes(rival)),
    );
    expect(denials.find((note) => note.includes(rival))).toContain(
      'no egress rule of the NetworkPolicies default-deny, plugin-egress allows it',
    );
  });

  it('answers through the gateway, for its tenant', async () => {
    await program(kubectl, 'create', 'serviceaccount', 'app', '-n', 'school');
    await program(kubectl, 'create', 'rolebinding', 'app', '--clusterrole=edit', '--serviceaccount=school:app', '-n', 'school');
    token = (await program(kubectl, 'create', 'token', 'app', '-n', 'school')).trim();
    gateway = (await user.client.resource<KubeObject>(ConfigMap, 'tenantry-system').get('plugin-gateway')).data.url;
    expect(await greet()).toEqual({ text: 'Hello, Ada!', degraded: false });
  });

  it('has its logs read by the owner of its tenant, and by no other', async () => {
    const logs = (tenant: string, owner: string) => tenantry('plugin', 'logs', 'hello', '--tenant', tenant, '--as', owner);
    expect(
      await until(
        () => logs('school', 'owner-of-school'),
        (text) => text.includes('listening'),
      ),
    ).toContain('"level":"info"');
    await expect(logs('rival', 'owner-of-school')).rejects.toThrow('forbidden');
  });

  it('has a secret as a file, and in the same Pod what it is changed to', async () => {
    const manifest = readFileSync(join(plugin, 'plugin.yaml'), 'utf8');
    writeFileSync(join(plugin, 'plugin.yaml'), `${manifest}  secrets:\n    - { name: api, property: key }\n`);
    expect(await release('0.1.1')).toContain('VERIFIED');
    writeFileSync(join(plugin, 'plugin.yaml'), manifest);
    const value = join(folder, 'value');
    const put = async (text: string) => {
      writeFileSync(value, text);
      await tenantry('secrets', 'put', 'hello/api', '--tenant', 'rival', '--from-file', `key=${value}`);
    };
    const read = () =>
      inside(
        'rival',
        `import { readFileSync } from 'node:fs'; console.log(readFileSync('/var/run/secrets/tenantry.dev/secrets/api', 'utf8'))`,
      );
    await put('first');
    expect(await tenantry('plugin', 'upgrade', 'hello', '--to', '0.1.1', '--tenant', 'rival')).toContain('ACTIVE');
    expect(await read()).toContain('first');
    const { name } = (await podOf('rival')).metadata;
    await put('second');
    await until(read, (text) => text.includes('second'));
    expect((await podOf('rival')).metadata.name).toBe(name);
  });

  it('is upgraded and rolled back under requests, none of which fails, and leaves nothing behind', async () => {
    expect(await release('0.2.0')).toContain('VERIFIED');
    const stop = new AbortController();
    const asking = askUntil(stop.signal);
    expect(await tenantry('plugin', 'upgrade', 'hello', '--to', '0.2.0', '--tenant', 'school')).toContain('ACTIVE');
    // As the document of the platform writes it.
    expect(await program(process.execPath, 'bin/bd', 'plugin', 'rollback', 'hello', '--tenant', 'school')).toContain('0.1.0');
    stop.abort();
    expect(await asking).toEqual({ failures: [], answers: expect.any(Number) });
    expect(await tenantry('plugin', 'get', 'hello', '--tenant', 'school')).toContain('0.1.0');
    await tenantry('plugin', 'uninstall', 'hello', '--tenant', 'school', '--delete-data');
    const namespaces = await program(kubectl, 'get', 'namespaces', '-o', 'name');
    expect(namespaces).not.toContain('plugin-school-hello');
    expect(namespaces).toContain('plugin-rival-hello');
  });
});
