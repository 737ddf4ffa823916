import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectShim } from '../../../src/engine/node/shim/client/connect-shim.ts';
import { builtShim } from '../../conformance/node-driver/built-shim.ts';
import { makeShimFolder, type ShimFolder } from '../../conformance/node-driver/shim-folder.ts';
import { eventually } from '../controllers/eventually.ts';

/** An agent as a process of its own: starts one program to stay, and runs one that is only for it. */
const AGENT = `
  import { connectShim } from './src/engine/node/shim/client/connect-shim.ts';
  const [dir, program] = process.argv.slice(2);
  const shim = await connectShim({ dir, program });
  const common = { env: { PATH: '/usr/bin:/bin' }, cwd: '/', terminal: false, stdin: false };
  const log = { path: dir + '/logs/stays.log', maxBytes: 1000000, maxFiles: 2 };
  const { pid } = await shim.start({ ...common, id: 'stays', stdinOnce: false, labels: { pod: 'x' }, log,
    argv: ['/bin/sh', '-c', 'i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.05; done'] });
  const run = await shim.run({ ...common, argv: ['/bin/sh', '-c', 'echo $$; exec sleep 300'] });
  run.stdout.once('data', (text) => console.log(JSON.stringify({ stays: pid, goes: Number(String(text)) })));
  setInterval(() => {}, 1000);
`;

let folder: ShimFolder;
let agent: ChildProcess | undefined;

beforeEach(async () => {
  folder = await makeShimFolder();
});

afterEach(async () => {
  agent?.kill('SIGKILL');
  await folder.dispose();
});

async function startAgent(): Promise<{ stays: number; goes: number }> {
  const program = await builtShim();
  const outfile = join(folder.dir, 'agent.mjs');
  await build({
    stdin: { contents: AGENT, resolveDir: process.cwd(), loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const child = spawn(process.execPath, [outfile, folder.dir, program], { stdio: ['ignore', 'pipe', 'inherit'] });
  agent = child;
  return new Promise((resolve, reject) => {
    child.stdout.once('data', (text: Buffer) => resolve(JSON.parse(String(text)) as { stays: number; goes: number }));
    child.once('exit', () => reject(new Error('the agent ended')));
  });
}

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('kill -9 of the agent', () => {
  it('leaves containers running and logged, ends what was only for it, and the next agent goes on', async () => {
    const { stays, goes } = await startAgent();
    const shimPid = folder.shimPid();
    agent!.kill('SIGKILL');
    await eventually(
      () => isRunning(goes),
      (running) => !running,
    );
    const size = () => readFileSync(join(folder.dir, 'logs', 'stays.log'), 'utf8').length;
    const before = size();
    await eventually(size, (now) => now > before);
    const next = await folder.connect();
    expect(await next.list()).toMatchObject([{ id: 'stays', pid: stays, labels: { pod: 'x' }, end: undefined }]);
    const ended = next.ended('stays');
    await next.signal('stays', 'SIGTERM');
    expect(await ended).toMatchObject({ exitCode: 143, signal: 'SIGTERM' });
    expect(folder.shimPid()).toBe(shimPid);
  });
});

describe('a data directory with a long path', () => {
  it('has its socket elsewhere, and everything works', async () => {
    const dir = join(folder.dir, ...Array.from({ length: 12 }, (_, index) => `deep-folder-${index}`));
    await mkdir(dir, { recursive: true });
    const program = await builtShim();
    const clients = await Promise.all([connectShim({ dir, program }), connectShim({ dir, program })]);
    expect(await Promise.all(clients.map((client) => client.list()))).toEqual([[], []]);
    for (const client of clients) client.close({ endIfIdle: true });
  });
});
