import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectTarget, type ApiTarget } from './api-target.ts';

/** What the probe inside the server saw since the last reset. Times are CPU milliseconds of the main thread without GC pauses. */
export interface LoopReport {
  turns: number;
  /** The slowest turns of the event loop, slowest first. */
  slowest: number[];
  /** The turn of which one in a hundred takes longer. */
  p99: number;
  longestPause: number;
  peakRss: number;
  rss: number;
  heap: number;
  external: number;
}

export interface MeasuredEngine {
  target: ApiTarget;
  data: string;
  pid: number;
  url: URL;
  tls: { ca: string; cert: string; key: string };
  /** Everything the server wrote to its standard output and error. */
  output(): string;
  reset(): Promise<void>;
  collectGarbage(): Promise<void>;
  report(): Promise<LoopReport>;
  stop(): Promise<number | null>;
}

const PROBE = fileURLToPath(new URL('loop-probe.mjs', import.meta.url));

/** `tenantry up` as a process of its own that measures its own event loop. */
export async function startMeasuredEngine(options: { data?: string; nodeOptions?: string } = {}): Promise<MeasuredEngine> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'tenantry-measured-'));
  const child = spawn(process.execPath, ['--expose-gc', 'bin/tenantry', 'up', '--data', data, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, NODE_OPTIONS: `--import ${PROBE} ${options.nodeOptions ?? ''}` },
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => void child.once('exit', (code) => resolve(code)));
  let tell: ((answer: unknown) => void) | undefined;
  child.on('message', (answer) => tell?.((answer as { probe: unknown }).probe));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /ready at (https:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('exit', (code, signal) => reject(new Error(`tenantry ended with ${code ?? signal} before it was ready: ${output}`)));
  });
  const pem = (name: string) => readFileSync(join(data, 'pki', name), 'utf8');
  const tls = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') };
  const kubeconfig = join(data, 'kubeconfig');
  const target = connectTarget({ name: 'tenantry up', url, kubeconfig, ca: tls.ca, certificate: tls, close: () => Promise.resolve() });
  const ask = (message: string) =>
    new Promise<unknown>((resolve, reject) => {
      tell = resolve;
      void exited.then((code) => reject(new Error(`tenantry ended with ${code} while it was measured: ${output}`)));
      child.send(message);
    });
  return {
    target,
    data,
    pid: child.pid!,
    url: new URL(url),
    tls,
    output: () => output,
    reset: async () => void (await ask('reset')),
    collectGarbage: async () => void (await ask('collect')),
    report: async () => (await ask('report')) as LoopReport,
    stop: async () => {
      await target.close();
      child.kill('SIGTERM');
      const code = await exited;
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
      return code;
    },
  };
}
