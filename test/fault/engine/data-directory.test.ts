import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { spawnEngine } from '../../support/spawned-engine.ts';

/** Promise: a data directory that cannot be used is refused with who holds it, or what is wrong and what to do. */
let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-directory-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

function up(): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0'], {
    timeout: 15_000,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

async function filled(): Promise<string> {
  const engine = await spawnEngine(data);
  for (let i = 0; i < 50; i++) {
    await engine.target.request('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: `c${i}` },
      data: { text: 'x'.repeat(2000) },
    });
  }
  await engine.stop();
  return join(data, 'store');
}

function expectClearRefusal({ status, output }: { status: number | null; output: string }, what: RegExp): void {
  expect(status).toBe(1);
  expect(output).toMatch(what);
  expect(output).toMatch(/Cannot [^:]+: .+;/);
  expect(output, 'no stack trace').not.toMatch(/^\s+at /m);
}

it('a second `up` on the same directory says who holds it', async () => {
  const engine = await spawnEngine(data);
  expectClearRefusal(up(), new RegExp(`${engine.pid}`));
  expect((await engine.target.request('GET', '/readyz')).status).toBe(200);
  await engine.stop();
});

it('a store whose log is damaged in the middle is refused, and left as it is', { timeout: 60_000 }, async () => {
  const store = await filled();
  const segment = readdirSync(store)
    .map((name) => join(store, name))
    .filter((path) => !/lock|format/i.test(path))
    .map((path) => ({ path, size: readFileSync(path).byteLength }))
    .sort((a, b) => b.size - a.size)[0].path;
  const bytes = readFileSync(segment);
  const place = bytes.indexOf('xxxxxxxxxxxxxxxxxxxxxxxx', 20_000);
  expect(place).toBeGreaterThan(0);
  bytes.fill(0x41, place, place + 64);
  writeFileSync(segment, bytes);
  expectClearRefusal(up(), /damaged|corrupt/i);
  expect(readFileSync(segment).equals(bytes)).toBe(true);
});

it('a store of a newer version is refused', { timeout: 60_000 }, async () => {
  const store = await filled();
  const format = readdirSync(store).find((name) => /format/i.test(name))!;
  const text = readFileSync(join(store, format), 'utf8');
  const newer = text.replace(/\d+/, '99');
  expect(newer).not.toBe(text);
  writeFileSync(join(store, format), newer);
  expectClearRefusal(up(), /newer|version 99|format 99/i);
});
