import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { aRegistry, fileIn, HELLO, imagesWith, plain, request, storeFolder } from './images-bench.ts';

/** Other processes with the same images: the agent and `tenantry image` may run at once, and each may be killed at any moment. */
const folder = mkdtempSync(join(tmpdir(), 'tenantry-pullers-'));
const program = join(folder, 'puller.mjs');
const running: ChildProcess[] = [];

const PULLER = `
  import { createImages } from './src/engine/node/images/create-images.ts';
  import { realClock } from './src/lib/clock.ts';
  import { silentLog } from './src/lib/log.ts';
  const [dir, host, reference] = process.argv.slice(2);
  const registries = { registries: { [host]: { mirrors: [], insecure: true } } };
  const platform = { os: 'linux', architecture: 'amd64' };
  const images = createImages({ dir, registries, platform, builtIns: { version: '1', images: [] }, clock: realClock, log: silentLog });
  const { id } = await images.ensure({ reference, policy: 'IfNotPresent', credentials: [], signal: new AbortController().signal });
  process.stdout.write(id);
`;

beforeAll(() =>
  build({
    stdin: { contents: PULLER, resolveDir: process.cwd(), loader: 'ts' },
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  }),
);
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

function startPuller(host: string): { child: ChildProcess; ended: Promise<string> } {
  const child = spawn(process.execPath, [program, storeFolder(), host, `${host}/app`], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, ended: new Promise((resolve) => child.once('close', () => resolve(output))) };
}

describe('several processes', () => {
  test('all that pull the same image at once get it, and it is there once', async () => {
    const registry = await aRegistry();
    const { digest } = registry.push('app', 'latest', { layers: [...HELLO, [{ name: 'big', content: 'x'.repeat(1_000_000) }]] });
    const ids = await Promise.all([1, 2, 3].map(() => startPuller(registry.host).ended));
    expect(ids).toEqual([1, 2, 3].map(() => `${registry.host}/app@${digest}`));
    expect(readdirSync(storeFolder('layers')).filter((name) => !name.endsWith('.json'))).toHaveLength(3);
    expect(readdirSync(storeFolder('scratch'))).toEqual([]);
    expect(fileIn(await imagesWith().ensure(request(`${registry.host}/app`, { policy: 'Never' })), 'etc/hello')).toBe('hello');
  });

  test('one that is killed in the middle leaves nothing that counts, and the next start cleans up', async () => {
    const registry = await aRegistry();
    const { layers } = registry.push('app', 'latest', { layers: HELLO });
    const asked = new Promise<void>((resolve) => {
      registry.intercept = (incoming, response) => {
        if (!incoming.url!.endsWith(layers[1])) return false;
        response.writeHead(200, { 'content-length': 1000 }).write('half');
        resolve();
        return true;
      };
    });
    const { child, ended } = startPuller(registry.host);
    await asked;
    child.kill('SIGKILL');
    await ended;
    registry.intercept = undefined;
    const images = imagesWith(plain(registry.host));
    expect(readdirSync(storeFolder('scratch'))).toHaveLength(1);
    expect(await images.list()).toEqual([]);
    await expect(images.ensure(request(`${registry.host}/app`, { policy: 'Never' }))).rejects.toMatchObject({
      reason: 'ErrImageNeverPull',
    });
    await images.cleanUp();
    expect(readdirSync(storeFolder('scratch'))).toEqual([]);
    expect(fileIn(await images.ensure(request(`${registry.host}/app`)), 'etc/world')).toBe('world');
  });
});
