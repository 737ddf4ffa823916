import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExecutionState, type HealthResponse, type ListResponse, type StatusResponse } from '../../protocol/generated/executor_pb.js';
import { isOver, stateName, type Peer, type StatusCode } from './peer.ts';
import type { Programs } from './programs.ts';

export interface Bench {
  peer: Peer;
  programs: Programs;
  /** A new id, with a folder that the server sees. */
  next(): { id: string; workingDir: string };
}

export interface Check {
  name: string;
  /** `must`: runtimed does not work without it. `should`: something is worse without it, the hint says what. */
  level: 'must' | 'should';
  hint: string;
  /** Throws what it finds wrong. @returns a remark */
  run(bench: Bench): Promise<string | void>;
}

const FULL = 1 << 20;
const MARK = '\n[output truncated]\n';
const PARALLEL = 32;

/** Everything that runtimed relies on, from the protocol's description and from what it does with the answers. */
export const CHECKS: readonly Check[] = [
  must('Health says healthy', 'otherwise the Pod takes no Runs', async ({ peer }) => {
    const { healthy, message } = await peer.call<HealthResponse>('health', {});
    expect(healthy, `it says: ${message}`);
  }),
  must('Execute returns before the program ends, with its id', 'runtimed gives it 10 seconds', async (bench) => {
    const { id, workingDir } = bench.next();
    const began = performance.now();
    const answer = await bench.peer.call<{ id: string }>('execute', { id, args: bench.programs.sleeps, workingDir });
    equal('the id', answer.id, id);
    expect(performance.now() - began < 5000, 'it took more than 5 s');
    const { state } = await bench.peer.call('status', { id });
    expect(state === ExecutionState.RUNNING || state === ExecutionState.PENDING, `the state is ${stateName(state)}, not RUNNING`);
    await bench.peer.call('cancel', { id });
  }),
  must('Status of a program that succeeded', 'state, exit code and both outputs', async (bench) => {
    const end = await run(bench, { args: bench.programs.hello });
    state(end, ExecutionState.SUCCEEDED);
    equal('the exit code', end.exitCode, 0);
    equal('stdout', end.stdout, 'out\n');
    equal('stderr', end.stderr, 'err\n');
  }),
  must('Status of a program that failed', 'FAILED, the exit code, and an error', async (bench) => {
    const end = await run(bench, { args: bench.programs.fails });
    state(end, ExecutionState.FAILED);
    equal('the exit code', end.exitCode, 3);
    expect(end.errorMessage !== '', 'the error message is empty');
  }),
  must('Status of an unknown id', 'NOT_FOUND tells runtimed that the execution is lost', refuses('status', ['NOT_FOUND'])),
  must('Cancel of an unknown id', 'NOT_FOUND', refuses('cancel', ['NOT_FOUND'])),
  must('Forget of an unknown id', 'NOT_FOUND or UNIMPLEMENTED', refuses('forget', ['NOT_FOUND', 'UNIMPLEMENTED'])),
  should('Execute without an id', 'INVALID_ARGUMENT, rather than an execution that nobody can ask for', async ({ peer, programs }) => {
    equal('the code', await peer.codeOf('execute', { args: programs.hello }), 'INVALID_ARGUMENT');
  }),
  must('Execute of an id that has ended runs it again', 'retries of a Run have the same id', async (bench) => {
    const { id, workingDir } = bench.next();
    state(await run(bench, { id, workingDir, args: bench.programs.fails }), ExecutionState.FAILED);
    const again = await run(bench, { id, workingDir, args: bench.programs.hello });
    state(again, ExecutionState.SUCCEEDED);
    equal('stdout', again.stdout, 'out\n');
  }),
  must('Execute of an id that is running replaces it', 'runtimed tries again when it did not hear the answer', async (bench) => {
    const { id, workingDir } = bench.next();
    await started(bench, { id, workingDir, args: bench.programs.sleeps });
    const again = await run(bench, { id, workingDir, args: bench.programs.hello });
    equal('stdout', again.stdout, 'out\n');
  }),
  must('List has what is running', 'runtimed finds its executions again after a restart', async (bench) => {
    const { id, workingDir } = bench.next();
    await started(bench, { id, workingDir, args: bench.programs.sleeps });
    const { entries } = await bench.peer.call<ListResponse>('list', {});
    expect(
      entries.some((entry) => entry.id === id),
      'it is not in the list',
    );
    await bench.peer.call('cancel', { id });
  }),
  must('Cancel ends the program and forgets it', 'a cancelled or deleted Run must not go on', async (bench) => {
    const { id, workingDir } = bench.next();
    await started(bench, { id, workingDir, args: bench.programs.sleeps });
    await bench.peer.call('cancel', { id });
    equal('the code of Status afterwards', await bench.peer.codeOf('status', { id }), 'NOT_FOUND');
  }),
  must('Cancel ends a program that does not listen', 'SIGKILL after 2 seconds; runtimed waits for 5', async (bench) => {
    const { id, workingDir } = bench.next();
    await started(bench, { id, workingDir, args: bench.programs.stubborn });
    const began = performance.now();
    await bench.peer.call('cancel', { id });
    expect(performance.now() - began < 5000, `it took ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }),
  must('a timeout in seconds', 'FAILED, -1, and exactly `timeout`: else the Run is not in phase Timeout', (bench) =>
    timesOut(bench, { timeoutSeconds: 1n }),
  ),
  should('a timeout in milliseconds', 'timeouts below a second are kept by runtimed only with this field (100)', (bench) =>
    timesOut(bench, { timeoutMillis: 300n }),
  ),
  must('Forget of a running program', 'FAILED_PRECONDITION or UNIMPLEMENTED; it goes on', async (bench) => {
    const { id, workingDir } = bench.next();
    await started(bench, { id, workingDir, args: bench.programs.sleeps });
    oneOf('the code', await bench.peer.codeOf('forget', { id }), ['FAILED_PRECONDITION', 'UNIMPLEMENTED']);
    state(await bench.peer.call('status', { id }), ExecutionState.RUNNING);
    await bench.peer.call('cancel', { id });
  }),
  should('Forget releases an ended execution', 'without it memory grows with every Run', async (bench) => {
    const { id, workingDir } = bench.next();
    await run(bench, { id, workingDir, args: bench.programs.hello });
    equal('the code', await bench.peer.codeOf('forget', { id }), 'OK');
    equal('the code of Status afterwards', await bench.peer.codeOf('status', { id }), 'NOT_FOUND');
  }),
  must('output is kept up to a mebibyte, with a mark', 'an output without end must not fill the memory', async (bench) => {
    const { stdout } = await run(bench, { args: bench.programs.floods });
    expect(stdout.endsWith(MARK), 'the mark is missing at its end');
    // Bytes that are no text may have become up to three each.
    expect(Buffer.byteLength(stdout) <= 3 * FULL + MARK.length, `${Buffer.byteLength(stdout)} bytes were kept`);
  }),
  must('output that is no UTF-8', 'Status answers; strings of the protocol are text', async (bench) => {
    const { stdout } = await run(bench, { args: bench.programs.floods });
    expect(stdout.includes('\uFFFD'), 'the bytes are gone instead of replaced');
  }),
  must('List with many full outputs', 'larger than the 4 MiB that gRPC allows by default', async (bench) => {
    await Promise.all(Array.from({ length: 5 }, () => run(bench, { args: bench.programs.floods })));
    await bench.peer.call('list', {});
  }),
  must('the environment reaches the program as it is', 'spaces, quotes, dollar signs and newlines included', async (bench) => {
    const greeting = `it's "$HOME" \\ \`x\`\n\ttwo`;
    const { stdout } = await run(bench, { args: bench.programs.greets, env: { GREETING: greeting } });
    equal('the variable', stdout, greeting);
  }),
  must('a file is run in its folder, with its arguments', 'inline sources and repositories', async (bench) => {
    const { id, workingDir } = bench.next();
    writeFileSync(join(workingDir, 'main'), bench.programs.file);
    const { stdout } = await run(bench, { id, workingDir, entrypoint: 'main', args: [`a 'b' $c`] });
    equal('what it writes', stdout, `${workingDir}\na 'b' $c\n`);
  }),
  must('an inline script is the file named script', 'what runs when no entrypoint is named', async (bench) => {
    const { id, workingDir } = bench.next();
    writeFileSync(join(workingDir, 'script'), bench.programs.file);
    const { stdout } = await run(bench, { id, workingDir, args: ['x'] });
    equal('what it writes', stdout, `${workingDir}\nx\n`);
  }),
  must('an entrypoint outside of its folder is not run', 'neither by `..` nor through a link', async (bench) => {
    const { id, workingDir } = bench.next();
    const other = bench.next();
    writeFileSync(join(other.workingDir, 'secret'), bench.programs.file);
    mkdirSync(join(workingDir, 'in'));
    symlinkSync(join(other.workingDir, 'secret'), join(workingDir, 'in/link'));
    for (const entrypoint of [`../${other.id}/secret`, 'in/link']) {
      const code = await bench.peer.codeOf('execute', { id, workingDir, entrypoint, args: ['x'] });
      if (code === 'OK') state(await bench.peer.end(id), ExecutionState.FAILED);
      else oneOf('the code', code, ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'PERMISSION_DENIED', 'NOT_FOUND']);
    }
  }),
  must('nothing to run', 'FAILED with `no args or script provided`: reason PrepareSource', async (bench) => {
    const end = await run(bench, {});
    state(end, ExecutionState.FAILED);
    equal('the error message', end.errorMessage, 'no args or script provided');
  }),
  must(`${PARALLEL} programs at a time`, 'each with its own output', async (bench) => {
    const all = Array.from({ length: PARALLEL }, (_, index) => String(index));
    const ends = await Promise.all(all.map((text) => run(bench, { args: bench.programs.greets, env: { GREETING: text } })));
    equal('the outputs', ends.map(({ stdout }) => stdout).join(), all.join());
  }),
  should('Watch streams the output, then the end', 'without it runtimed asks ten times a second', async (bench) => {
    const { id, workingDir } = bench.next();
    await bench.peer.call('execute', { id, workingDir, args: bench.programs.hello });
    const seen = await bench.peer.watch(id);
    expect(seen !== undefined, 'it is not implemented');
    equal('stdout', seen!.stdout, 'out\n');
    equal('stderr', seen!.stderr, 'err\n');
    expect(seen!.end !== undefined, 'the last event is no end');
    state(seen!.end!, ExecutionState.SUCCEEDED);
  }),
  should('Watch goes on where the watcher was', 'logs have nothing twice after a broken connection', async (bench) => {
    const { id, workingDir } = bench.next();
    await run(bench, { id, workingDir, args: bench.programs.hello });
    const seen = await bench.peer.watch(id, { stdout: 2 });
    expect(seen !== undefined, 'it is not implemented');
    equal('stdout from byte 2 on', seen!.stdout, 't\n');
  }),
  should('Attach carries many executions over one stream', 'without it each Run takes three calls', async (bench) => {
    const [one, other, refused] = [bench.next(), bench.next(), bench.next()];
    const seen = await bench.peer.attach([
      { ...one, args: bench.programs.hello },
      { ...refused, args: bench.programs.hello, isolation: 'of-another-world' },
      { ...other, args: bench.programs.greets, env: { GREETING: 'other' } },
    ]);
    expect(seen !== undefined, 'it is not implemented');
    const [first, second] = [seen!.get(one.id)!, seen!.get(other.id)!];
    expect(first.started && second.started, 'a start was not answered');
    equal('the outputs', [first.stdout, first.stderr, second.stdout].join('|'), 'out\n|err\n|other');
    state(first.end!, ExecutionState.SUCCEEDED);
    equal('the code of what cannot be started', String(seen!.get(refused.id)!.refused), 'FAILED_PRECONDITION');
  }),
  should(
    'an isolation that the server does not have is refused',
    'FAILED_PRECONDITION (field 101): never less than was asked for',
    async (bench) => {
      const { id, workingDir } = bench.next();
      const code = await bench.peer.codeOf('execute', { id, workingDir, args: bench.programs.hello, isolation: 'of-another-world' });
      equal('the code', code, 'FAILED_PRECONDITION');
    },
  ),
];

function must(name: string, hint: string, run: Check['run']): Check {
  return { name, level: 'must', hint, run };
}

function should(name: string, hint: string, run: Check['run']): Check {
  return { name, level: 'should', hint, run };
}

function refuses(method: string, codes: StatusCode[]): Check['run'] {
  return async ({ peer, next }) => oneOf('the code', await peer.codeOf(method, { id: next().id }), codes);
}

async function run(bench: Bench, request: object): Promise<StatusResponse> {
  const order = { ...bench.next(), ...request };
  await bench.peer.call('execute', order);
  return bench.peer.end(order.id);
}

/** Until it has said that it is up: what is done to it before may meet no program at all. */
async function started(bench: Bench, request: { id: string; workingDir: string; args: string[] }): Promise<void> {
  await bench.peer.call('execute', request);
  const until = performance.now() + 10_000;
  for (;;) {
    const now = await bench.peer.call('status', { id: request.id });
    if (now.stdout === 'up\n') return;
    if (isOver(now)) throw new Error(`a program that goes on for a minute is ${stateName(now.state)}`);
    if (performance.now() > until) throw new Error('the output of a running program is not in Status');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function timesOut(bench: Bench, timeout: object): Promise<void> {
  const { id, workingDir } = bench.next();
  await bench.peer.call('execute', { id, workingDir, args: bench.programs.sleeps, ...timeout });
  const end = await bench.peer.end(id, 10_000);
  state(end, ExecutionState.FAILED);
  equal('the exit code', end.exitCode, -1);
  equal('the error message', end.errorMessage, 'timeout');
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

function state({ state: now, errorMessage }: StatusResponse, wanted: ExecutionState): void {
  const because = errorMessage === '' ? '' : ` (${errorMessage})`;
  expect(now === wanted, `the state is ${stateName(now)}${because}, not ${stateName(wanted)}`);
}

function equal<T>(what: string, found: T, wanted: T): void {
  const short = (value: T) => JSON.stringify(value).slice(0, 120);
  expect(found === wanted, `${what} is ${short(found)}, not ${short(wanted)}`);
}

function oneOf<T>(what: string, found: T, wanted: T[]): void {
  expect(wanted.includes(found), `${what} is ${String(found)}, not ${wanted.join(' or ')}`);
}
