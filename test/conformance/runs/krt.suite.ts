import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { allow, type AllowFlags } from '../../../src/cli/krt/allow.ts';
import { apply } from '../../../src/cli/krt/apply.ts';
import { listArtifacts } from '../../../src/cli/krt/artifact.ts';
import { cancel, deleteRuns, deleteRuntimes } from '../../../src/cli/krt/change-runs.ts';
import { get } from '../../../src/cli/krt/get.ts';
import { list } from '../../../src/cli/krt/list.ts';
import { logs } from '../../../src/cli/krt/logs.ts';
import { printNames } from '../../../src/cli/krt/names.ts';
import { run, type RunCommandFlags } from '../../../src/cli/krt/run.ts';
import { getRuntime, listRuntimes } from '../../../src/cli/krt/runtime.ts';
import type { Session } from '../../../src/cli/terminal/session.ts';
import { top } from '../../../src/cli/krt/top.ts';
import { wait } from '../../../src/cli/krt/wait.ts';
import { watch } from '../../../src/cli/krt/watch.ts';
import { Namespace, Role, RoleBinding } from '../../../src/client/kinds.ts';
import { krtSetting, type KrtSetting } from './krt-terminal.ts';

let setting: KrtSetting;
const aSession: KrtSetting['aSession'] = (options) => setting.aSession(options);
const typed: KrtSetting['typed'] = (work, options) => setting.typed(work, options);
const runs = () => setting.cluster.client.resource(RunKind, 'default');
const start = (name: string, arg: string, flags: RunCommandFlags = {}) => typed((session) => run(session, [arg], { name, ...flags }));

/** Every command of krt, the same on every API server. */
export function krtSuite(name: string, startServer: () => Promise<{ kubeconfig: string; close(): Promise<void> }>): void {
  describe(`krt on ${name}`, () => {
    let server: Awaited<ReturnType<typeof startServer>>;
    beforeAll(async () => {
      server = await startServer();
      setting = await krtSetting(server.kubeconfig);
    }, 120_000);
    afterAll(async () => {
      await setting?.close();
      await server?.close();
    });

    describe('run', runTests);
    describe('list and get', listTests);
    describe('logs', logTests);
    describe('wait', waitTests);
    describe('cancel and delete', changeTests);
    describe('apply', applyTests);
    describe('Runtimes', runtimeTests);
    describe('watch', watchTests);
    describe('artifacts', artifactTests);
  });
}

function runTests(): void {
  it('makes a Run, says its name and goes', async () => {
    const { code, out, err } = await typed((session) => run(session, ['ok'], { label: ['test=run'], ttl: '1h' }));
    expect([code, err]).toEqual([0, '']);
    const name = /^Run (run-[a-z0-9]{8}) created\n$/.exec(out)![1];
    expect(await runs().get(name)).toMatchObject({ metadata: { labels: { test: 'run' } }, spec: { ttlSecondsAfterFinished: 3600 } });
  });

  it.each([
    ['succeeds', 'ok', 0, 'succeeded: execution completed\n', ''],
    ['fails', 'exit 7', 7, '', 'krt: Run wait-fails failed: exit status 7\n'],
  ])('--wait exits as a Run that %s', async (word, arg, exit, said, complaint) => {
    const { code, out, err } = await start(`wait-${word}`, arg, { wait: true });
    expect([code, err]).toEqual([exit, complaint]);
    expect(out).toBe(`Run wait-${word} created\n${said === '' ? '' : `Run wait-${word} ${said}`}`);
  });

  it('--follow prints what the Run wrote and nothing else', async () => {
    const { code, out, err } = await start('followed', 'exit 3', { follow: true });
    expect([code, out]).toEqual([3, 'exit wrote this\n']);
    expect(err).toBe('Run followed created\nkrt: Run followed failed: exit status 3\n');
  });

  it('--wait -o prints the Run as it ended', async () => {
    const { code, out } = await start('shaped', 'ok', { wait: true, output: 'jsonpath={.status.outputs.answer}' });
    expect([code, out]).toEqual([0, '42']);
    expect((await start('named', 'ok', { output: 'name' })).out).toBe('run.kruntimes.io/named\n');
  });

  it('says why a Run waits; Ctrl-C cancels it, a second one leaves', async () => {
    const { session, seen } = aSession();
    const ended = run(session, ['wait'], { name: 'waiting', wait: true });
    await vi.waitFor(() => expect(seen.err).toContain('Run waiting is Pending: waiting for a Pod\n'));
    seen.interrupt();
    await vi.waitFor(async () => expect((await runs().get('waiting')).spec.cancelRequested).toBe(true));
    seen.interrupt();
    expect(await ended).toBe(130);
    expect(seen.isInterruptible).toBe(false);
  });

  it('Ctrl-C waits for the end that it asked for', async () => {
    const { session, seen } = aSession();
    const ended = run(session, ['slow'], { name: 'interrupted', wait: true });
    await vi.waitFor(async () => expect((await runs().get('interrupted')).status?.phase).toBe('Running'));
    seen.interrupt();
    expect(await ended).toBe(130);
    expect(seen.err).toContain('Run interrupted was cancelled: cancelled by user');
  });

  it('tells of a Runtime that there is not', async () => {
    const { code, err } = await start('lonely', 'ok', { runtime: 'nosuch' });
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('There is no Runtime "nosuch" in namespace "default": the Run waits until there is'),
    ]);
  });

  it.each<[string, string[], RunCommandFlags, Partial<Session>, string]>([
    ['nothing', [], {}, {}, 'Cannot run nothing'],
    ['a name that is taken', ['ok'], { name: 'followed' }, {}, 'Cannot create Run "followed": runs.kruntimes.io "followed" already exists'],
    ['a name that is none', ['ok'], { name: 'A b' }, {}, 'Cannot create Run "A b": Run.kruntimes.io "A b" is invalid: metadata.name'],
    ['a namespace that is not there', ['ok'], {}, { namespace: 'nosuch' }, 'there is no namespace "nosuch"; create it'],
    ['a format that is none', ['ok'], { output: 'xml' }, {}, 'Cannot print as "xml": the formats are'],
  ])('refuses %s', async (_name, args, flags, options, message) => {
    await expect(typed((session) => run(session, args, flags), options)).rejects.toThrow(message);
  });
}

function listTests(): void {
  const own = { selector: 'test=list' };
  beforeAll(async () => {
    await start('list-a', 'ok', { wait: true, label: ['test=list'] });
    await start('list-b', 'exit 2', { wait: true, label: ['test=list'] });
    await start('list-c', 'wait', { label: ['test=list'] });
    await setting.cluster.client.resource(Namespace).create({ metadata: { name: 'other' } });
    await typed((session) => run(session, ['ok'], { name: 'list-d', label: ['test=list'] }), { namespace: 'other' });
  });

  it('shows a table, oldest first', async () => {
    const { out } = await typed((session) => list(session, own));
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toBe('NAME     NAMESPACE   RUNTIME   PHASE       ASSIGNED POD   AGE');
    expect(lines[1]).toMatch(/^list-a   default     bash      Succeeded   pod-1          \d+s$/);
    expect(lines[3]).toMatch(/^list-c   default     bash      Pending     <none>         \d+s$/);
    expect(lines).toHaveLength(4);
  });

  it.each([
    ['all namespaces', { allNamespaces: true }, ['list-a', 'list-b', 'list-c', 'list-d']],
    ['a phase, however it is written', { phase: 'failed' }, ['list-b']],
    ['those that wait, seen by somebody or not', { phase: 'Pending', allNamespaces: true }, ['list-c', 'list-d']],
    ['a Runtime', { runtime: 'python' }, []],
    ['those that go on', { unfinished: true }, ['list-c']],
  ])('chooses by %s', async (_name, flags, names) => {
    const { out } = await typed((session) => list(session, { ...own, ...flags, output: 'name' }));
    expect(out).toBe(names.map((name) => `run.kruntimes.io/${name}\n`).join(''));
  });

  it('says so when there is nothing', async () => {
    const { code, out, err } = await typed((session) => list(session, { selector: 'test=nothing' }));
    expect([code, out, err]).toEqual([0, '', 'There are no such Runs in namespace "default"\n']);
  });

  it('prints for programs', async () => {
    const as = async (output: string) => (await typed((session) => list(session, { ...own, phase: 'Failed', output }))).out;
    expect(JSON.parse(await as('json'))).toMatchObject({ kind: 'List', items: [{ kind: 'Run', metadata: { name: 'list-b' } }] });
    expect(await as('json')).not.toContain('managedFields');
    expect(await as('yaml')).toContain('\n    metadata:\n');
    expect(await as('wide')).toMatch(/EXIT {3}ATTEMPT {3}DURATION {3}MESSAGE\n.* 2 {6}1 {9}0s {9}exit status 2\n$/);
    expect(await as('jsonpath={.items[*].status.exitCode}')).toBe('2');
  });

  it('get shows all of one', async () => {
    const { out } = await typed((session) => get(session, ['list-a'], {}));
    expect(out).toMatch(/^Name: {10}list-a\nNamespace: {5}default\nLabels: {8}test=list\nRuntime: {7}bash\nPhase: {9}Succeeded\n/);
    expect(out).toMatch(/\nOutputs: {7}answer=42\nConditions: {4}Scheduled=True Assigned: .*\n {15}Running=False Completed\n/);
    expect(JSON.parse((await typed((session) => get(session, ['list-a'], { output: 'json' }))).out).kind).toBe('Run');
  });

  it('get of one that is not there says what to do', async () => {
    await expect(typed((session) => get(session, ['nosuch'], {}))).rejects.toThrow(
      'Cannot find Run "nosuch": there is none in namespace "default"; `krt list -A` shows what there is',
    );
  });
}

function logTests(): void {
  it('prints what was kept of a Run that has ended', async () => {
    await start('logged', 'ok', { wait: true });
    expect(await typed((session) => logs(session, 'logged', {}))).toMatchObject({ code: 0, out: 'ok wrote this\n', err: '' });
    expect((await typed((session) => logs(session, 'logged', { tail: '0' }))).out).toBe('');
  });

  it('says so when there is nothing yet; -f waits', async () => {
    await start('unlogged', 'wait');
    const { out, err } = await typed((session) => logs(session, 'unlogged', {}));
    expect([out, err]).toEqual(['', 'Run unlogged is Pending and has written nothing yet; -f waits for it\n']);
    const { session, seen } = aSession();
    const following = logs(session, 'unlogged', { follow: true });
    await vi.waitFor(() => expect(seen.isInterruptible).toBe(true));
    seen.interrupt();
    expect(await following).toBe(0);
  });

  it('refuses a number that is none', async () => {
    await expect(typed((session) => logs(session, 'logged', { tail: 'all' }))).rejects.toThrow('Cannot show the last "all" lines');
  });
}

function waitTests(): void {
  it('for the end exits as the Run did', async () => {
    await start('w-ok', 'ok');
    await start('w-fail', 'exit 9');
    const { code, out } = await typed((session) => wait(session, ['w-ok', 'w-fail'], {}));
    expect(code).toBe(9);
    expect(out.split('\n').sort()).toEqual(['', 'Run w-fail is Failed', 'Run w-ok is Succeeded']);
  });

  it('for a phase, until it can no longer come', async () => {
    await start('w-slow', 'slow');
    expect(await typed((session) => wait(session, ['w-slow'], { for: 'phase=running' }))).toMatchObject({
      code: 0,
      out: 'Run w-slow is Running\n',
    });
    await typed((session) => cancel(session, ['w-slow'], {}));
    await expect(typed((session) => wait(session, ['w-slow'], { for: 'phase=Succeeded' }))).rejects.toThrow('it has ended as Cancelled');
  });

  it('for its deletion, even after its end', async () => {
    const { session, seen } = aSession();
    const waiting = wait(session, ['w-ok'], { for: 'delete' });
    await runs().delete('w-ok');
    expect(await waiting).toBe(0);
    expect(seen.out).toBe('Run w-ok is deleted\n');
  });

  it.each([
    ['too long', 'list-c', { timeout: '50ms' }, 'Cannot wait any longer for Run "list-c": it is Pending after 50ms'],
    ['for something unknown', 'list-c', { for: 'Godot' }, 'Cannot wait for "Godot"'],
    ['for an odd while', 'list-c', { timeout: 'long' }, 'Cannot wait "long"'],
    ['for what is not there', 'nosuch', {}, 'Cannot wait for Run "nosuch": there is none'],
  ])('refuses to wait %s', async (_name, name, flags, message) => {
    await expect(typed((session) => wait(session, [name], flags))).rejects.toThrow(message);
  });
}

function changeTests(): void {
  it('cancel asks, and knows when it is too late', async () => {
    await start('c-slow', 'slow');
    const first = await typed((session) => cancel(session, ['c-slow'], {}));
    expect([first.code, first.out]).toEqual([0, 'Cancellation requested for run c-slow\n']);
    await typed((session) => wait(session, ['c-slow'], {}));
    expect((await typed((session) => cancel(session, ['c-slow'], {}))).out).toBe('Run c-slow had ended already (Cancelled)\n');
  });

  it('cancel leaves every other field as it was written', async () => {
    const spec = { runtime: 'bash', mode: { task: { args: ['slow'] } }, retryPolicy: { maxAttempts: 2 } };
    await runs().create({ metadata: { name: 'c-retry' }, spec });
    await typed((session) => cancel(session, ['c-retry'], {}));
    expect((await runs().get('c-retry')).spec).toEqual({ ...spec, cancelRequested: true });
  });

  it('delete removes what is named, and goes on when one fails', async () => {
    await start('d-one', 'ok', { wait: true });
    const { code, out, err } = await typed((session) => deleteRuns(session, ['nosuch', 'd-one'], {}));
    expect([code, out]).toEqual([1, 'run.kruntimes.io "d-one" deleted\n']);
    expect(err).toContain('krt: Cannot delete Run "nosuch": there is none');
  });

  it('delete removes what is chosen', async () => {
    await start('d-two', 'ok', { wait: true, label: ['test=delete'] });
    await start('d-three', 'wait', { label: ['test=delete'] });
    const { out } = await typed((session) => deleteRuns(session, [], { selector: 'test=delete', finished: true }));
    expect(out).toBe('run.kruntimes.io "d-two" deleted\n');
  });

  it.each([
    ['nothing', [], {}, 'Cannot delete nothing: name Runs, or choose them'],
    ['by name and by filter', ['a'], { all: true }, 'by name and by filter at once'],
  ])('delete refuses %s', async (_name, names, flags, message) => {
    await expect(typed((session) => deleteRuns(session, names, flags))).rejects.toThrow(message);
  });
}

function applyTests(): void {
  const manifest = `
apiVersion: kruntimes.io/v1alpha1
kind: Runtime
metadata: { name: applied }
spec: { replicas: 1, template: { spec: { containers: [{ name: runtime, image: example/a }] } } }
---
apiVersion: kruntimes.io/v1alpha1
kind: Run
metadata: { generateName: applied- }
spec: { runtime: bash, mode: { task: { args: [ok] } } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: applied }
data: { a: b }
`;
  const applied = (text: string) => typed((session) => apply(session, ['f']), { read: () => Promise.resolve(text) });

  it('makes things be as they are written', async () => {
    const first = await applied(manifest);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toMatch(
      /^runtime\.kruntimes\.io\/applied created\nrun\.kruntimes\.io\/applied-\w{5} created\nconfigmap\/applied created\n$/,
    );
    expect((await applied(manifest)).out).toContain('runtime.kruntimes.io/applied unchanged\n');
    expect((await applied(manifest.replace('replicas: 1', 'replicas: 2'))).out).toContain('runtime.kruntimes.io/applied configured\n');
  });

  it('goes on when one is refused', async () => {
    const { code, out, err } = await applied(
      manifest.replace('image: example/a', 'imaeg: example/a').replace('kind: ConfigMap', 'kind: Nonsense'),
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^run\.kruntimes\.io\/applied-\w+ created\n$/);
    expect(err).toContain('krt: Cannot apply Runtime "applied": ');
    expect(err).toContain('does not know that kind');
  });
}

function runtimeTests(): void {
  it('are listed and shown', async () => {
    const { out } = await typed((session) => listRuntimes(session, {}));
    expect(out).toMatch(/^NAME +NAMESPACE +IMAGE +REPLICAS +READY +PORT +AGE\n/);
    expect(out).toMatch(/\nbash +default +example\/bash:1 +1 +0 +9091 +\d+s\n/);
    expect((await typed((session) => getRuntime(session, 'bash', {}))).out).toMatch(
      /^Name: {7}bash\nNamespace: {2}default\nImage: {6}example\/bash:1\n/,
    );
    await expect(typed((session) => getRuntime(session, 'nosuch', {}))).rejects.toThrow('`krt runtime list -A` shows what there is');
    expect((await typed((session) => deleteRuntimes(session, ['applied']))).out).toBe('runtime.kruntimes.io "applied" deleted\n');
  });

  it('are given to users, one after the other', async () => {
    const may = (flags: AllowFlags) => typed((session) => allow(session, 'bash', flags));
    expect((await may({ user: ['eve'] })).out).toBe('User eve may use Runtime bash\n');
    const { out, err } = await may({ user: ['eve'], group: ['release'], serviceAccount: ['ci', 'shop:deployer'] });
    expect(out).toContain('ServiceAccount default:ci may use Runtime bash\nServiceAccount shop:deployer may use Runtime bash\n');
    expect(err).toContain('Runtime bash is open');
    const { client } = setting.cluster;
    expect((await client.resource(RoleBinding, 'default').get('use-bash')).subjects).toMatchObject([
      { kind: 'User', name: 'eve' },
      { kind: 'Group', name: 'release' },
      { kind: 'ServiceAccount', name: 'ci', namespace: 'default' },
      { kind: 'ServiceAccount', name: 'deployer', namespace: 'shop' },
    ]);
    expect((await client.resource(Role, 'default').get('use-bash')).rules).toMatchObject([{ verbs: ['use'], resourceNames: ['bash'] }]);
    await expect(may({})).rejects.toThrow('say who');
    await expect(typed((session) => allow(session, 'nosuch', { user: ['eve'] }))).rejects.toThrow('there is none in namespace');
  });

  it('are named for completion', async () => {
    expect((await typed((session) => printNames(session, 'runtimes'))).out.split('\n')).toContain('bash');
    expect((await typed((session) => printNames(session, 'namespaces'))).out.split('\n')).toContain('kube-system');
  });

  it('top shows how busy they are', async () => {
    const { out } = await typed((session) => top(session, {}));
    expect(out).toMatch(/^RUNTIME +NAMESPACE +PODS +CAPACITY +ACTIVE +WAITING +LONGEST WAIT +WAIT P50\/P95 +RUN P50\/P95\n/);
    expect(out).toMatch(/\nbash +default +0\/0 +0 +\d+ +\d+ +\d+m?\d*s? +<1s\/\S+ +<1s\/\S+\n/);
    const usages = JSON.parse((await typed((session) => top(session, { output: 'json' }))).out) as { runtime: string }[];
    expect(usages.map(({ runtime }) => runtime)).toContain('bash');
  });
}

function watchTests(): void {
  it('prints a line for every change where nobody looks', async () => {
    const { session, seen } = aSession();
    const watching = watch(session, [], { selector: 'test=watch' });
    await vi.waitFor(() => expect(seen.isInterruptible).toBe(true));
    await start('seen', 'ok', { wait: true, label: ['test=watch'] });
    await vi.waitFor(() => expect(seen.out).toMatch(/Succeeded/));
    seen.interrupt();
    await watching;
    const phases = seen.out
      .trimEnd()
      .split('\n')
      .map((text) => text.split(/ {2,}/)[3]);
    expect(phases[0]).toBe('PHASE');
    expect([...new Set(phases)]).toEqual(['PHASE', 'Pending', 'Scheduled', 'Running', 'Succeeded']);
  });

  it('draws a table over itself on a terminal, no longer or wider than that', async () => {
    const { session, seen } = aSession({ isTerminal: true, size: () => ({ columns: 40, rows: 6 }) });
    for (const name of ['t-1', 't-2', 't-3']) await start(name, 'wait', { label: ['test=table'] });
    const watching = watch(session, [], { selector: 'test=table' });
    await vi.waitFor(() => expect(seen.out).toContain('... and 1 more'));
    seen.interrupt();
    await watching;
    const last = seen.out.split('\u001b[J').at(-1)!.trimEnd().split('\n');
    expect(last[0]).toBe('3 Pending (Ctrl-C ends)');
    expect(last.length).toBeLessThanOrEqual(5);
    expect(Math.max(...last.map((text) => text.length))).toBeLessThanOrEqual(40);
    expect(seen.out).toContain('\u001b[5A\r');
  });
}

function artifactTests(): void {
  it('are listed', async () => {
    await start('crafty', 'ok', { wait: true });
    const location = { filesystem: { path: 'x', volumeClaimName: 'c' } };
    const reference = {
      name: 'report',
      driver: 'filesystem',
      type: 'file',
      location,
      sizeBytes: 12,
      createdAt: '2026-01-01T00:00:00Z',
      digest: 'sha256:00',
    };
    await runs().status.patch('crafty', { type: 'merge', patch: { status: { artifactRefs: [reference] } } });
    const { out } = await typed((session) => listArtifacts(session, 'crafty', {}));
    expect(out).toBe('NAME     TYPE   SIZE   CONTENT-TYPE   DIGEST\nreport   file   12                    sha256:00\n');
    expect((await typed((session) => listArtifacts(session, 'logged', {}))).err).toBe('Run logged has no artifacts\n');
  });
}
