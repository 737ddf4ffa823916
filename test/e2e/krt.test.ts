import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PLAIN_NODE } from '../support/node-client.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { type, type Outcome } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-krt-'));
const data = join(folder, 'data');
// Nothing but the instance: no kubeconfig of whoever runs the tests.
const env = { TENANTRY_DATA: data, KUBECONFIG: '', HOME: folder };
let engine: SpawnedEngine;
let collector: OtlpReceiver;

beforeAll(async () => {
  chmodSync(folder, 0o711);
  collector = await OtlpReceiver.start();
  engine = await spawnEngine(data, { args: [...PLAIN_NODE, '--otlp-endpoint', collector.endpoint] });
}, 60_000);
afterAll(async () => {
  await engine?.stop();
  await collector?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A command that hangs is ended, so that the test can say what it said. The first Runs wait for their Pods, on a busy machine for long. */
const limited = (...command: string[]): Promise<Outcome> => type(process.execPath, command, env, 120_000);
const krt = (...args: string[]): Promise<Outcome> => limited('bin/krt', ...args);

vi.setConfig({ testTimeout: 150_000 });

describe('krt, right after `tenantry up`', () => {
  test('runs a command, with nothing to set up', async () => {
    const { code, stdout, stderr } = await krt('run', '--follow', '--', 'echo', 'hi');
    expect(stderr).toMatch(/^Run run-[a-z0-9]{8} created\n/);
    expect([code, stdout]).toEqual([0, 'hi\n']);
  });

  test('knows the Runtimes that come with it', async () => {
    const { stdout } = await krt('runtime', 'list', '-o', 'name');
    expect(stdout.split('\n').sort()).toEqual([
      '',
      'runtime.kruntimes.io/bash',
      'runtime.kruntimes.io/node',
      'runtime.kruntimes.io/python',
    ]);
    // As a completion script asks for them.
    expect((await krt('__names', 'runtimes', '--', 'runtime', 'get', '--data', data)).stdout).toBe('bash\nnode\npython\n');
  });

  test('`tenantry run` is the same', async () => {
    const { code, stdout } = await limited('bin/tenantry', 'run', '--follow', '--data', data, '--', 'echo', 'a  b');
    expect([code, stdout]).toEqual([0, 'a  b\n']);
    expect((await limited('bin/tenantry', 'runs', 'list', '-o', 'name')).stdout).toMatch(/^run\.kruntimes\.io\/run-/);
  });
});

describe('a Run', () => {
  test('is told to a collector, by those who place it and by those who run it', async () => {
    const { stdout } = await krt('run', '--follow', '--name', 'traced', '--', 'echo $TRACEPARENT');
    const [, traceId, spanId] = stdout.split('-');
    const spans = () => collector.trace(traceId).map(({ service, name }) => `${service} ${name}`);
    await vi.waitFor(
      () => expect(spans()).toEqual(expect.arrayContaining(['tenantry run', 'tenantry queued', 'runtimed terminal'])),
      30_000,
    );
    expect(collector.trace(traceId).find(({ name }) => name === 'execute')?.spanId).toBe(spanId);
    expect(collector.problems).toEqual([]);
  });

  test('fails at once where its Runtime has no interpreter, which the Runtime says', async () => {
    const container = { name: 'runtime', image: 'tenantry.dev/runtime-python', env: [{ name: 'PATH', value: '/nowhere' }] };
    const spec = { template: { spec: { containers: [container] } } };
    const file = join(folder, 'no-python.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'kruntimes.io/v1alpha1', kind: 'Runtime', metadata: { name: 'no-python' }, spec }));
    await krt('apply', '-f', file);
    const { code, stderr } = await krt('run', '-r', 'no-python', '--wait', '--', '-c', 'print(1)');
    expect([code, stderr]).toEqual([125, expect.stringContaining('interpreter not found: python3')]);
    expect((await krt('runtime', 'get', 'no-python')).stdout).toContain(
      'InterpreterAvailable=False InterpreterMissing: interpreter not found',
    );
    await krt('runtime', 'delete', 'no-python');
  });

  test('writes to both streams, empty lines and all, while somebody follows it and after', async () => {
    const script = 'echo one; echo; echo two >&2; sleep 0.3; echo three; printf end';
    const followed = await krt('run', '--follow', '--name', 'streams', '--', script);
    expect(followed.stdout).toBe('one\n\nthree\nend');
    expect(followed.stderr).toContain('two\n');
    const after = await krt('logs', 'streams');
    expect([after.stdout, after.stderr]).toEqual(['one\n\nthree\nend', 'two\n']);
  });

  test('is followed line by line as it runs', async () => {
    const child = spawn(process.execPath, ['bin/krt', 'run', '--follow', '--name', 'live', '--', 'echo begun; sleep 600'], {
      env: { ...process.env, ...env },
    });
    const exit = new Promise((resolve) => void child.once('close', resolve));
    await new Promise<void>((resolve) => child.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('begun') && resolve()));
    expect((await krt('logs', 'live')).stdout).toBe('begun\n');
    // Ctrl-C ends the Run, not only the looking.
    child.kill('SIGINT');
    expect(await exit).toBe(130);
    expect((await krt('get', 'live', '-o', 'jsonpath={.status.phase}')).stdout).toBe('Cancelled');
  });

  test.each([
    ['fails as its program does', ['--', 'exit 7'], 7, 'failed: exit status 7'],
    ['is ended when its time is over', ['--timeout', '300ms', '--', 'sleep 60'], 124, 'timed out: timeout after 300ms'],
    ['that asks for a Secret that is not there', ['--secret', 'A=nosuch/key', '--', 'true'], 125, 'Secret "nosuch" not found'],
  ])('%s', async (_name, args, exit, said) => {
    const { code, stderr } = await krt('run', '--wait', ...args);
    expect(stderr).toContain(said);
    expect(code).toBe(exit);
  });

  test('takes its script from a file, with arguments, variables and outputs', async () => {
    const file = join(folder, 'count.js');
    writeFileSync(
      file,
      'require("fs").writeFileSync(process.env.KRUNTIME_OUTPUTS, `args=${process.argv.slice(2)}\\nword=${process.env.WORD}\\n`)',
    );
    const outputs = 'jsonpath={.spec.runtime} {.status.outputs.args} {.status.outputs.word}';
    const { code, stdout } = await krt('run', '--wait', '-f', file, '--env', 'WORD=x=y', '-o', outputs, '--', 'a', 'b');
    expect([code, stdout]).toEqual([0, 'node a,b x=y']);
  });

  test('is gone after `delete`, although it was running', async () => {
    await krt('run', '--name', 'doomed', '--', 'sleep 600');
    await krt('wait', 'doomed', '--for', 'phase=Running');
    expect((await krt('delete', 'doomed')).stdout).toBe('run.kruntimes.io "doomed" deleted\n');
    expect((await krt('get', 'doomed')).stderr).toContain('Cannot find Run "doomed": there is none in namespace "default"');
  });
});

describe('artifacts', () => {
  const manifest = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: artifacts }
spec: { accessModes: [ReadWriteMany], resources: { requests: { storage: 1Gi } } }
---
apiVersion: kruntimes.io/v1alpha1
kind: Runtime
metadata: { name: crafts }
spec:
  artifactStore: { driver: filesystem, filesystem: { volumeClaimName: artifacts } }
  template: { spec: { containers: [{ name: runtime, image: tenantry.dev/runtime-bash }] } }
`;

  test('that a Run leaves are listed and fetched', async () => {
    const file = join(folder, 'crafts.yaml');
    writeFileSync(file, manifest);
    expect((await krt('apply', '-f', file)).stdout).toBe('persistentvolumeclaim/artifacts created\nruntime.kruntimes.io/crafts created\n');
    const script = 'cd "$KRUNTIME_ARTIFACTS_DIR"; echo done > report.txt; mkdir logs; head -c 500000 /dev/zero > logs/large';
    expect((await krt('run', '--wait', '-r', 'crafts', '--name', 'crafted', '--', script)).code).toBe(0);
    expect((await krt('artifact', 'list', 'crafted', '-o', 'name')).stdout).toBe('logs\nreport.txt\n');
    const { stdout } = await krt('artifact', 'download', 'crafted', 'report.txt', '-o', folder);
    expect(stdout).toBe(`Downloaded report.txt (file, 5 bytes) to ${join(folder, 'report.txt')}\n`);
    expect(readFileSync(join(folder, 'report.txt'), 'utf8')).toBe('done\n');
    const archive = join(folder, 'logs.tar.gz');
    expect((await krt('artifact', 'download', 'crafted', 'logs', '-o', archive)).code).toBe(0);
    expect((await type('tar', ['-xzOf', archive])).stdout).toHaveLength(500_000);
  });
});

describe('the SDK', () => {
  test('comes with its types', async () => {
    const program = join(folder, 'program.mts');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(process.cwd(), join(folder, 'node_modules', 'tenantry'));
    const check = (text: string) => {
      writeFileSync(program, `import { connect, runs, type RunResult } from 'tenantry';\n${text}\n`);
      const options = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2023',
        '--lib',
        'es2023,dom',
        '--types',
        '',
      ];
      return type(process.execPath, ['node_modules/typescript/bin/tsc', ...options, program]);
    };
    const right = await check(`const result: RunResult = await connect({ namespace: 'a' }).run({ args: ['x'], timeout: '5s' });
      const handle = await runs.submit({ script: 'x', env: { A: { secret: 's', key: 'k' } } });
      for await (const { stream, text } of handle.output()) console.log(stream === 'stderr', text.length, result.outputs.a);`);
    expect([right.code, right.stdout]).toEqual([0, '']);
    expect((await check(`await runs.run({ arguments: ['x'] });`)).stdout).toContain(`'arguments' does not exist in type 'RunRequest'`);
  });

  test('does what the guide says', async () => {
    const file = 'docs/guide/runs-sdk.mjs';
    expect(readFileSync('docs/guide/runs.md', 'utf8')).toContain(readFileSync(file, 'utf8'));
    const { code, stdout, stderr } = await limited(file);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trim().split('\n');
    expect(lines.slice(0, 4)).toEqual(['0 42 answer=42', 'stdout 1', 'stdout 2', 'stdout 3']);
    expect(lines.at(-1)).toBe('Cancelled');
  });
});
