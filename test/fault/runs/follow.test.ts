import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { type } from '../../e2e/command.ts';
import { PLAIN_NODE } from '../../support/node-client.ts';
import { spawnEngine } from '../../support/spawned-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-follow-'));
const data = join(folder, 'data');
const env = { TENANTRY_DATA: data, KUBECONFIG: '', HOME: folder };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

test('whoever follows a Run sees every line once, although the engine is killed in the middle of it', async () => {
  chmodSync(folder, 0o711);
  const args = [...PLAIN_NODE, '--port', String(await freePort())];
  const first = await spawnEngine(data, { args });
  const krt = (...words: string[]) => type(process.execPath, ['bin/krt', ...words], env, 60_000);
  expect((await krt('run', '--wait', '--', 'true')).code).toBe(0);
  const followed = krt('run', '--follow', '--name', 'survivor', '--', 'for i in $(seq 30); do echo "$i"; sleep 0.2; done');
  await krt('wait', 'survivor', '--for', 'phase=Running');
  await pause(500);
  await first.kill();
  const second = await spawnEngine(data, { args });
  try {
    const { code, stdout } = await followed;
    expect(stdout.split('\n')).toEqual([...Array.from({ length: 30 }, (_, index) => String(index + 1)), '']);
    expect(code).toBe(0);
  } finally {
    await second.stop();
  }
}, 120_000);
