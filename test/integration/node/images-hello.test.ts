import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

/** The program of the image tenantry.dev/hello, as a process. */
const folder = mkdtempSync(join(tmpdir(), 'tenantry-hello-'));
const program = join(folder, 'hello.mjs');
const running: ChildProcess[] = [];

beforeAll(() => build({ entryPoints: ['src/main/hello.ts'], outfile: program, bundle: true, format: 'esm', platform: 'node' }));
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

async function startHello(env: Record<string, string>): Promise<{ child: ChildProcess; port: string }> {
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  return { child, port: /:(\d+)\n/.exec(line)![1] };
}

const exitOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));

describe('tenantry.dev/hello', () => {
  test('it says which Pod it is, is healthy, and ends when asked to', async () => {
    const { child, port } = await startHello({ PORT: '0', POD_IP: '127.0.0.1', POD_NAME: 'web-1', POD_NAMESPACE: 'shop' });
    const answer = await fetch(`http://127.0.0.1:${port}/some/path?x=1`);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await answer.text()).toMatch(/^Hello from Pod web-1\nnamespace: shop\nhostname: .+\npath: \/some\/path\?x=1\n$/);
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe('ok\n');
    const exit = exitOf(child);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });

  test('a port that is taken is told in one sentence', async () => {
    const { port } = await startHello({ PORT: '0', POD_IP: '127.0.0.1' });
    const second = spawn(process.execPath, [program], { env: { PORT: port, POD_IP: '127.0.0.1' }, stdio: ['ignore', 'ignore', 'pipe'] });
    running.push(second);
    let errors = '';
    second.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    expect(await exitOf(second)).toBe(1);
    expect(errors).toContain(`hello: Cannot listen on port "${port}"`);
  });
});
