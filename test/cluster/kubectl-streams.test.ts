import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary } from './binaries.ts';
import { openWorkbench, type Workbench } from './kubectl.ts';
import { nodeTools } from './node-tools.ts';

let bench: Workbench;
let path: string;

const POD = `
apiVersion: v1
kind: Pod
metadata: { name: tools }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: tenantry.dev/tools
    command: [sh, -c, 'echo started; echo trouble >&2; trap "exit 0" TERM; while true; do sleep 0.2; [ -f /tmp/say ] && cat /tmp/say && rm /tmp/say; done']
  - name: reader
    image: tenantry.dev/tools
    stdin: true
    stdinOnce: true
    command: [sh, -c, 'while read l; do echo "got $l"; done; echo end']
---
apiVersion: v1
kind: Pod
metadata: { name: hello }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: main, image: tenantry.dev/hello, ports: [{ containerPort: 8080 }] }]
---
apiVersion: v1
kind: Pod
metadata: { name: crasher }
spec:
  restartPolicy: OnFailure
  containers:
  - { name: main, image: tenantry.dev/tools, command: [sh, -c, 'echo a run; exit 1'] }
---
apiVersion: v1
kind: Pod
metadata: { name: missing }
spec:
  containers: [{ name: main, image: tenantry.dev/tools, envFrom: [{ configMapRef: { name: none } }] }]
`;

beforeAll(async () => {
  await nodeTools('runc', 'nft', 'ip');
  path = await binary('kubectl');
  bench = await openWorkbench();
  await bench.works('apply -f -', POD);
  await bench.works('wait --for=condition=Ready pod/tools pod/hello --timeout=60s');
});
afterAll(() => bench.close());

const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

function start(words: string[], env: Record<string, string> = {}, command = path): ChildProcess & { said: string } {
  const child = spawn(command, words, {
    cwd: bench.folder,
    env: { ...process.env, KUBECONFIG: join(bench.folder, 'data/kubeconfig'), ...env },
  });
  const heard = Object.assign(child, { said: '' });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (heard.said += chunk.toString()));
  return heard;
}

async function until(child: ChildProcess & { said: string }, wanted: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = wanted.exec(child.said);
    if (found !== null) return found;
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${child.said}`);
    await Promise.race([once(child.stdout!, 'data'), once(child.stderr!, 'data'), once(child, 'exit')]);
  }
}

describe.each([
  ['WebSocket', {}],
  ['SPDY', SPDY],
])('over %s', (_, env) => {
  const exec = (command: string[], stdin?: string) =>
    bench.kubectl(['exec', ...(stdin === undefined ? [] : ['-i']), 'tools', '-c', 'main', '--', ...command], stdin, env);

  it('exec gives back both outputs and the exit code', async () => {
    const said = await exec(['sh', '-c', 'echo out; echo err >&2; exit 7']);
    expect(said).toEqual({ code: 7, out: 'out\n', err: 'err\ncommand terminated with exit code 7\n' });
  });

  it('the end of input reaches the program, and everything before it', async () => {
    const { out, code } = await exec(['wc', '-c'], 'x'.repeat(3_000_000));
    expect([out.trim(), code]).toEqual(['3000000', 0]);
  });

  it('a large output arrives whole', async () => {
    const { out, code } = await exec(['sh', '-c', 'head -c 20000000 /dev/zero | tr "\\0" a; echo end']);
    expect([out.length, out.endsWith('aend\n'), code]).toEqual([20_000_004, true, 0]);
  });

  it('a command that is not there is told', async () => {
    const { err, code } = await exec(['nosuch']);
    expect(code).toBe(1);
    expect(err).toMatch(/Internal error occurred: error executing command in container: .*"nosuch": executable file not found/);
  });

  it('a folder is copied in and out again', async () => {
    const name = `folder-${env === SPDY ? 'spdy' : 'ws'}`;
    mkdirSync(join(bench.folder, name));
    const bytes = randomBytes(4_000_000);
    writeFileSync(join(bench.folder, name, 'large.bin'), bytes);
    writeFileSync(join(bench.folder, name, 'small.txt'), 'small');
    const copy = async (from: string, to: string) => bench.kubectl(['cp', '-c', 'main', from, to], '', env);
    expect(await copy(name, `tools:/tmp/${name}`)).toMatchObject({ code: 0 });
    expect(await copy(`tools:/tmp/${name}`, `${name}-back`)).toMatchObject({ code: 0 });
    expect(readFileSync(join(bench.folder, `${name}-back`, 'large.bin')).equals(bytes)).toBe(true);
    expect(readFileSync(join(bench.folder, `${name}-back`, 'small.txt'), 'utf8')).toBe('small');
  });

  it('a port of a Pod is a port here, for many requests', async () => {
    const forward = start(['port-forward', 'pod/hello', ':8080'], env);
    const [, port] = await until(forward, /Forwarding from 127\.0\.0\.1:(\d+) -> 8080/);
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (__, index) =>
        (await fetch(`http://127.0.0.1:${port}/${index}`, { headers: { connection: 'close' } })).text(),
      ),
    );
    answers.forEach((answer, index) => expect(answer).toContain(`path: /${index}`));
    forward.kill();
    await once(forward, 'exit');
  });

  it('a port where nobody listens is told, and does not end the others', async () => {
    const forward = start(['port-forward', 'pod/hello', ':81', ':8080'], env);
    const [, port] = await until(forward, /127\.0\.0\.1:(\d+) -> 8080/);
    const [, none] = await until(forward, /127\.0\.0\.1:(\d+) -> 81\b/);
    await expect(fetch(`http://127.0.0.1:${none}/`)).rejects.toThrow();
    await until(forward, /error forwarding port 81 to pod hello/);
    forward.kill();
    await once(forward, 'exit');
    expect(Number(port)).toBeGreaterThan(0);
  });

  it('a terminal has the size of the one it is shown in', async () => {
    const line = `stty rows 33 cols 111; ${path} exec -it tools -c main -- sh -c 'sleep 0.5; stty size; tty'`;
    const terminal = start(['-qec', line, '/dev/null'], env, 'script');
    await once(terminal, 'exit');
    expect(terminal.said).toMatch(/33 111\r?\n\/dev\/pts\/\d/);
  });
});

describe('proxy', () => {
  it('reaches a Pod and a Service by HTTP', async () => {
    const path = '/api/v1/namespaces/default';
    expect(await bench.works(`get --raw ${path}/pods/hello:8080/proxy/to-the-pod?x=1`)).toContain('path: /to-the-pod?x=1');
    await bench.works('label pod hello app=hello');
    await bench.works('expose pod hello --port=80 --target-port=8080');
    await expect
      .poll(() => bench.kubectl(['get', '--raw', `${path}/services/hello:80/proxy/to-the-service`]))
      .toMatchObject({
        code: 0,
        out: expect.stringContaining('path: /to-the-service') as string,
      });
  });

  it('reaches the node, which tells what its Pods use', async () => {
    const [, name] = (await bench.works('get nodes -o name')).trim().split('/');
    const summary = JSON.parse(await bench.works(`get --raw /api/v1/nodes/${name}/proxy/stats/summary`)) as {
      pods: { podRef: { name: string } }[];
    };
    expect(summary.pods.map(({ podRef }) => podRef.name)).toContain('tools');
  });
});

describe('attach', () => {
  it('reaches the program, which ends with its input', async () => {
    const { out, code } = await bench.kubectl(['attach', '-i', 'tools', '-c', 'reader', '-q'], 'one\ntwo\n');
    expect([out, code]).toEqual(['got one\ngot two\nend\n', 0]);
  });

  it('kubectl run -i --rm runs a program from its input and removes it', async () => {
    const { out, code } = await bench.kubectl(
      ['run', 'once', '-i', '--rm', '-q', '--restart=Never', '--image=tenantry.dev/tools', '--command', '--', 'cat'],
      'through a Pod\n',
    );
    expect([out, code]).toEqual(['through a Pod\n', 0]);
    expect(await bench.fails('get pod once')).toContain('not found');
  });
});

describe('logs', () => {
  it('of one container, of its last run, with times, from the end', async () => {
    expect(await bench.works('logs tools -c main')).toBe('started\ntrouble\n');
    expect(await bench.works('logs tools -c main --tail=1')).toBe('trouble\n');
    expect(await bench.works('logs tools -c main --timestamps --tail=1')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\S+ trouble\n$/);
    expect(await bench.works('logs tools -c main --since=1h --limit-bytes=7')).toBe('started');
    expect(await bench.works('logs tools --all-containers --prefix --tail=1')).toContain('[pod/tools/main] trouble');
  });

  it('are followed as they are written', async () => {
    const follow = start(['logs', '-f', 'tools', '-c', 'main', '--tail=1']);
    await until(follow, /trouble\n/);
    await bench.kubectl(['exec', 'tools', '-c', 'main', '--', 'sh', '-c', 'echo news > /tmp/say.new; mv /tmp/say.new /tmp/say']);
    await until(follow, /news\n/);
    follow.kill();
    await once(follow, 'exit');
  });

  it('of the run before are there', async () => {
    await bench.works(`wait pod/crasher --timeout=60s --for=jsonpath={.status.containerStatuses[0].lastState.terminated.reason}=Error`);
    expect(await bench.works('logs crasher --previous')).toBe('a run\n');
    expect(await bench.fails('logs tools -c main --previous')).toContain('previous terminated container "main" in pod "tools" not found');
  });

  it('of a container that has not started are refused with the reason', async () => {
    await bench.works(
      `wait pod/missing --timeout=60s --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError`,
    );
    expect(await bench.fails('logs missing')).toContain(
      'container "main" in pod "missing" is waiting to start: CreateContainerConfigError',
    );
  });

  it('end when the Pod does', async () => {
    const follow = start(['logs', '-f', 'hello']);
    await until(follow, /listening/);
    await bench.works('delete pod hello');
    if (follow.exitCode === null) await once(follow, 'exit');
    expect(follow.exitCode).toBe(0);
  });
});
