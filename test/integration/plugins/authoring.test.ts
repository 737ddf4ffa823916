import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PublisherKind, type Publisher } from '../../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import type { Session } from '../../../src/cli/terminal/session.ts';
import { init } from '../../../src/cli/plugin/init.ts';
import { lint } from '../../../src/cli/plugin/lint.ts';
import { publish } from '../../../src/cli/plugin/publish.ts';
import { sign } from '../../../src/cli/plugin/sign.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { NO_PROXY } from '../../../src/lib/oci/proxy-settings.ts';
import { registriesPath } from '../../../src/main/registries-file.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { startTestRegistry, type TestRegistry } from '../../support/oci-registry.ts';

describe('an author', { timeout: 60_000 }, () => {
  let world: TenantWorld;
  let registry: TestRegistry;
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-author-'));
  const keyFile = join(folder, 'acme.key');
  let said = '';
  const terminal = { out: (text: string) => void (said += text), err: (text: string) => void (said += text) };

  beforeAll(async () => {
    registry = await startTestRegistry();
    const target = await startEmbeddedTarget(ownCustomResourceDefinitions);
    mkdirSync(join(target.data, 'node'), { recursive: true });
    writeFileSync(registriesPath(target.data), `registries:\n  "${registry.host}":\n    insecure: true\n`);
    world = await TenantWorld.over(target);
  }, 60_000);
  afterAll(async () => {
    await world?.stop();
    await registry?.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const session = (): Session =>
    ({ ...terminal, clock: realClock, cluster: { client: world.client, server: 'here' }, namespace: 'default' }) as never;
  const ports = () => ({
    out: (text: string) => void (printed += text),
    err: terminal.err,
    signal: new AbortController().signal,
    credentials: [],
    accessTo: (host: string) => ({
      clock: realClock,
      proxy: NO_PROXY,
      registries: { registries: { [host]: { mirrors: [], insecure: true } } },
    }),
  });
  let printed = '';

  it('begins with a plugin that is fine, and that runs', async () => {
    expect(await init(terminal, folder, { name: 'hello', publisher: 'acme', image: `${registry.host}/acme/hello` })).toBe(0);
    said = '';
    expect(await lint(terminal, folder, {})).toBe(0);
    expect(said).toBe('acme/hello@0.1.0 is fine\n');
    const server = spawn(process.execPath, [join(folder, 'server.mjs')], { env: { PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
      const url = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
      expect((await fetch(`${url}/health`)).status).toBe(200);
      const answer = await fetch(`${url}/mcp/hello`, { method: 'POST', body: '{"name":"Ada"}' });
      expect(await answer.json()).toEqual({ text: 'Hello, Ada!', degraded: true });
      expect((await fetch(`${url}/mcp/hello`, { method: 'POST', body: 'x' })).status).toBe(400);
    } finally {
      server.kill();
      await once(server, 'exit');
    }
  });

  it('learns at each step what is missing, until the version is verified', async () => {
    expect(await publish(session(), folder, {})).toBe(1);
    expect(said).toContain('acme/hello@0.1.0 is DRAFT: there is no Publisher "acme"');

    registry.push('acme/hello', '0.1.0', { layers: [[{ name: 'app', content: 'x' }]], config: { User: '10001' } });
    await expect(sign(ports(), folder, { key: keyFile })).rejects.toThrow('--generate-key makes one');
    expect(await sign(ports(), folder, { key: keyFile, generateKey: true })).toBe(0);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    await expect(sign(ports(), folder, { key: keyFile, generateKey: true })).rejects.toThrow('there is a file of that name');
    expect(await sign(ports(), folder, { key: keyFile })).toBe(0);

    await world.client.resource(PublisherKind).create(parse(printed) as Publisher);
    said = '';
    expect(await publish(session(), folder, {})).toBe(0);
    expect(said).toMatch(/acme\/hello@0\.1\.0 is VERIFIED: .*\/acme\/hello@sha256:[0-9a-f]{64}\n$/);
  });

  it('cannot change what is published', async () => {
    const file = join(folder, 'plugin.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('Says hello', 'Says goodbye'));
    await expect(publish(session(), folder, {})).rejects.toThrow('that version is published with other content; raise metadata.version');
  });

  it('is told how to go on with a key in cosign’s own form', async () => {
    writeFileSync(
      join(folder, 'cosign.key'),
      '-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAA==\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n',
    );
    await expect(sign(ports(), folder, { key: join(folder, 'cosign.key') })).rejects.toThrow('sign with `cosign sign --key`');
  });
});
