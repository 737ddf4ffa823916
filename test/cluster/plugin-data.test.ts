import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CrossTenantAttemptKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { Pod } from '../../src/client/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { registriesPath } from '../../src/main/registries-file.ts';
import { nodeUser, until, type NodeUser } from '../support/node-client.ts';
import { startTestRegistry, type TestRegistry } from '../support/oci-registry.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { binary } from './binaries.ts';
import { nodeTools } from './node-tools.ts';
import { pushPluginImage } from './plugin-image.ts';

/** What PostgreSQL answers to the question whether it speaks TLS, asked from inside a container. */
const ASK = `import { readFileSync } from 'node:fs';
  import { connect } from 'node:net';
  const read = (name) => readFileSync('/var/run/secrets/tenantry.dev/database/' + name, 'utf8');
  const said = (word) => (process.stdout.write(word), process.exit());
  const socket = connect(Number(read('port')), read('host'), () => socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])));
  socket.once('data', (bytes) => said(bytes.toString())).once('error', ({ code }) => said(code));
  setTimeout(() => said('lost'), 3000);`;

describe('the data of a plugin in a real container', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-plugin-data-'));
  const data = join(folder, 'data');
  const plugin = join(folder, 'hello');
  let kubectl: string;
  let engine: SpawnedEngine;
  let user: NodeUser;
  let registry: TestRegistry;

  beforeAll(async () => {
    await nodeTools('runc', 'nft', 'ip', 'conntrack');
    kubectl = await binary('kubectl');
    registry = await startTestRegistry();
    mkdirSync(join(data, 'node'), { recursive: true });
    writeFileSync(registriesPath(data), `registries:\n  "${registry.host}":\n    insecure: true\n`);
    await up();
    const key = join(folder, 'acme.key');
    await tenantry('plugin', 'init', plugin, '--publisher', 'acme', '--image', `${registry.host}/acme/hello`);
    const manifest = join(plugin, 'plugin.yaml');
    writeFileSync(manifest, `${readFileSync(manifest, 'utf8')}  database: {}\n`);
    pushPluginImage(registry, 'acme/hello', '0.1.0', plugin);
    writeFileSync(join(folder, 'publisher.yaml'), await tenantry('plugin', 'sign', plugin, '--key', key, '--generate-key', '--plain-http'));
    await program(kubectl, 'apply', '-f', join(folder, 'publisher.yaml'));
    await tenantry('plugin', 'publish', plugin);
    for (const tenant of ['school', 'rival']) {
      await tenantry('tenant', 'create', tenant);
      expect(await tenantry('plugin', 'install', 'acme/hello@0.1.0', '--tenant', tenant)).toContain('ACTIVE');
    }
  }, 180_000);
  afterAll(async () => {
    await user?.close();
    await engine?.stop();
    await registry?.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function up(): Promise<void> {
    await user?.close();
    engine = await spawnEngine(data, { args: ['--node', 'oci'] });
    user = nodeUser(engine.target.url, data);
  }

  const tenantry = (...args: string[]): Promise<string> => program(process.execPath, 'bin/tenantry', ...args);

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
    const { items } = await user.client.resource<KubeObject>(Pod, `plugin-${tenant}-hello`).list();
    return items.find(({ metadata }) => metadata.deletionTimestamp === undefined)!;
  }

  async function inside(script: string): Promise<string> {
    const name = (await podOf('school')).metadata.name!;
    return program(kubectl, 'exec', '-n', 'plugin-school-hello', name, '--', '/usr/bin/node', '--input-type=module', '-e', script);
  }

  const postmaster = (): string => readFileSync(join(data, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0];

  it('is reached at the address that the plugin was told', async () => {
    expect(await inside(ASK)).toBe('N');
  });

  it('outlives the process that started the server', async () => {
    const before = postmaster();
    await engine.kill();
    await up();
    // The node is there a moment later.
    const answer = await until(
      () => inside(ASK).catch(() => ''),
      (said) => said !== '',
    );
    expect(answer).toBe('N');
    expect(postmaster()).toBe(before);
  });

  it('is all that it reaches: what it knocks at else is on record', async () => {
    const rival = (await podOf('rival')).status.podIP as string;
    const knock = `import { connect } from 'node:net'; connect(8080, '${rival}').on('error', () => {}); setTimeout(() => process.exit(), 1500);`;
    await inside(knock);
    const found = await until(
      async () => (await user.client.resource(CrossTenantAttemptKind, 'school').list()).items.map(({ spec }) => spec),
      (specs) => specs.some(({ kind, target }) => kind === 'network' && target.startsWith(rival)),
    );
    expect(found.find(({ target }) => target.startsWith(rival))).toMatchObject({
      plugin: 'hello',
      rule: 'networkpolicy:egress',
      target: `${rival} TCP port 8080`,
    });
    expect(await tenantry('audit', '--tenant', 'school')).toContain(rival);
  });
});
