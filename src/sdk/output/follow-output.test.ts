import { PassThrough, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { runOutput, type OutputOptions } from './follow-output.ts';
import type { OutputPorts } from './output-ports.ts';

function aRun(status?: RunStatus): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'ns', uid: 'u-1' },
    spec: { runtime: 'bash', mode: { task: { args: ['x'] } } },
    ...(status === undefined ? {} : { status }),
  };
}

const running = (pod = 'p-1') => aRun({ phase: 'Running', assignedPod: pod, assignedPodUID: `${pod}-uid` });
const succeeded = (log?: RunStatus['log'], pod = 'p-1') =>
  aRun({ phase: 'Succeeded', assignedPod: pod, assignedPodUID: `${pod}-uid`, exitCode: 0, ...(log === undefined ? {} : { log }) });
const line = (message: string, more: object = {}) => `${JSON.stringify({ run_uid: 'u-1', stream: 'stdout', message, ...more })}\n`;

/** A cluster of closures: what becomes of the Run, and the log of each Pod, are pushed by the test. */
class World {
  readonly clock = new FakeClock();
  readonly logs = new Map<string, PassThrough[]>();
  /** What a log holds when it is asked for without following. */
  readonly stored = new Map<string, string>();
  readonly maps = new Map<string, Record<string, string>>();
  shown = '';
  chunks: string[] = [];
  truncated = 0;
  done = false;
  failure: unknown;
  #updates: (Run | undefined)[] = [];
  #wake = () => {};
  #fail: Error | undefined;

  readonly ports: OutputPorts = {
    clock: this.clock,
    updates: () => this.#states(),
    podLog: async (run, { follow }) => {
      const pod = run.status!.assignedPod!;
      if (!follow) return this.stored.has(pod) ? Readable.from([Buffer.from(this.stored.get(pod)!)]) : undefined;
      if (!this.logs.has(pod)) return undefined;
      const stream = new PassThrough();
      this.logs.get(pod)!.push(stream);
      return stream;
    },
    configMapData: async (name) => this.maps.get(name),
  };

  async *#states(): AsyncGenerator<Run | undefined> {
    for (;;) {
      while (this.#updates.length > 0) yield this.#updates.shift();
      if (this.#fail) throw this.#fail;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async become(run: Run | undefined): Promise<void> {
    this.#updates.push(run);
    this.#wake();
    await settle();
  }

  async breakWatch(error: Error): Promise<void> {
    this.#fail = error;
    this.#wake();
    await settle();
  }

  /** Writes to the newest reader of a Pod's log. */
  async write(pod: string, text: string): Promise<void> {
    this.logs.get(pod)!.at(-1)!.write(text);
    await settle();
  }

  async read(run: Run, options: Partial<OutputOptions> = {}): Promise<void> {
    const reading = async (): Promise<void> => {
      for await (const chunk of runOutput(run, this.ports, { follow: true, onTruncated: () => this.truncated++, ...options })) {
        this.shown += chunk.text;
        this.chunks.push(`${chunk.stream}:${chunk.text}`);
      }
    };
    reading().then(
      () => (this.done = true),
      (error: unknown) => (this.failure = error),
    );
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

function world(...pods: string[]): World {
  const made = new World();
  for (const pod of pods) made.logs.set(pod, []);
  return made;
}

describe('the output of a Run that goes on', () => {
  it('comes as it is written, each stream by its name, without the lines of others', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', line('one'));
    expect(w.shown).toBe('one\n');
    await w.write('p-1', line('other', { run_uid: 'u-2' }) + line('two', { stream: 'stderr', blank: 1 }));
    expect(w.chunks).toEqual(['stdout:one\n', 'stderr:\ntwo\n']);
    expect(w.done).toBe(false);
  });

  it('ends at once when its end is known and every line has come', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', line('one'));
    await w.become(succeeded({ text: 'one\n' }));
    expect([w.done, w.shown]).toEqual([true, 'one\n']);
    expect(w.logs.get('p-1')![0].destroyed).toBe(true);
  });

  it('waits for lines that are on their way, then shows what was kept of them', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', line('one'));
    await w.become(succeeded({ text: 'one\ntwo\nthree\n' }));
    expect(w.done).toBe(false);
    await w.write('p-1', line('two'));
    expect(w.shown).toBe('one\ntwo\n');
    await w.clock.advance(500);
    await settle();
    expect([w.done, w.shown]).toEqual([true, 'one\ntwo\nthree\n']);
  });

  it('of a silent program is nothing, at once', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.become(succeeded());
    expect([w.done, w.shown]).toEqual([true, '']);
  });

  it('is followed to the next Pod when the first is lost', async () => {
    const w = world('p-1', 'p-2');
    await w.read(running('p-1'));
    await w.write('p-1', line('first try'));
    await w.become(aRun({ phase: 'Pending' }));
    await w.become(running('p-2'));
    await w.write('p-2', line('second try'));
    await w.become(succeeded({ text: 'second try\n' }, 'p-2'));
    expect([w.done, w.shown]).toEqual([true, 'first try\nsecond try\n']);
  });

  it('goes on without repeating itself when the log breaks off', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', line('one'));
    w.logs.get('p-1')![0].destroy(new Error('cut'));
    await settle();
    await w.clock.advance(500);
    await settle();
    expect(w.logs.get('p-1')).toHaveLength(2);
    await w.write('p-1', line('one') + line('two'));
    expect(w.shown).toBe('one\ntwo\n');
  });

  it('goes on where it stopped when the log has lost its beginning meanwhile', async () => {
    const at = (message: string, second: number) => line(message, { time: `2026-01-01T00:00:0${second}Z` });
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', at('one', 1) + at('two', 1) + at('three', 2));
    w.logs.get('p-1')![0].destroy(new Error('cut'));
    await settle();
    await w.clock.advance(500);
    await settle();
    await w.write('p-1', at('two', 1) + at('three', 2) + at('four', 2) + at('five', 3));
    expect(w.shown).toBe('one\ntwo\nthree\nfour\nfive\n');
  });

  it('has all lines of a program that says the same again and again, when their number is known', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', line('same'));
    await w.become(succeeded({ text: 'same\n', truncated: true, lines: 3 }));
    expect(w.done).toBe(false);
    await w.write('p-1', line('same') + line('same'));
    expect([w.done, w.shown]).toEqual([true, 'same\nsame\nsame\n']);
  });

  it('is what was kept of it, when the log may not be read', async () => {
    const w = world();
    await w.read(running());
    await w.become(succeeded({ text: 'kept\n' }));
    await w.clock.advance(500);
    await settle();
    expect([w.done, w.shown]).toEqual([true, 'kept\n']);
  });

  it('ends with the deletion of the Run', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.write('p-1', line('one'));
    await w.become(undefined);
    expect([w.done, w.shown]).toEqual([true, 'one\n']);
  });

  it('fails when the Run can no longer be watched', async () => {
    const w = world('p-1');
    await w.read(running());
    await w.breakWatch(new Error('forbidden'));
    expect(w.failure).toMatchObject({ message: 'forbidden' });
  });

  it('ends when nobody wants more', async () => {
    const w = world('p-1');
    const controller = new AbortController();
    await w.read(running(), { signal: controller.signal });
    controller.abort();
    await settle();
    expect([w.done, w.failure]).toEqual([true, undefined]);
  });

  it('starts with the last lines when only those are wanted', async () => {
    const w = world('p-1');
    w.stored.set('p-1', line('one') + line('two') + line('three'));
    await w.read(running(), { tail: 1 });
    expect(w.shown).toBe('three\n');
    await w.write('p-1', line('one') + line('two') + line('three') + line('four'));
    expect(w.shown).toBe('three\nfour\n');
  });
});

describe('the output of a Run that has not started', () => {
  it('is waited for', async () => {
    const w = world('p-1');
    await w.read(aRun());
    await w.become(aRun({ phase: 'Scheduled', assignedPod: 'p-1' }));
    expect(w.logs.get('p-1')).toHaveLength(0);
    await w.become(running());
    await w.write('p-1', line('one'));
    expect(w.shown).toBe('one\n');
  });

  it('is nothing without waiting', async () => {
    const w = world('p-1');
    await w.read(aRun(), { follow: false });
    expect([w.done, w.shown]).toEqual([true, '']);
  });
});

describe('the output of a Run that has ended', () => {
  it('has its streams told apart by the log, as long as there is one', async () => {
    const w = world();
    w.stored.set('p-1', line('a') + line('e', { stream: 'stderr' }));
    await w.read(succeeded({ text: 'a\n\ne\n' }), { follow: false });
    expect(w.chunks).toEqual(['stdout:a\n\n', 'stderr:e\n']);
  });

  it.each([
    ['the Pod is gone', undefined],
    ['the log is not complete', line('e', { stream: 'stderr' })],
  ])('is all there when %s', async (_name, log) => {
    const w = world();
    if (log !== undefined) w.stored.set('p-1', log);
    await w.read(succeeded({ text: 'a\ne\n' }));
    expect([w.done, w.chunks]).toEqual([true, ['stdout:a\ne\n']]);
  });

  it('comes from its ConfigMap when it was long', async () => {
    const w = world();
    w.maps.set('r-log', { log: 'long long\nend\n' });
    await w.read(succeeded({ text: 'end\n', truncated: true, configMapName: 'r-log' }));
    expect([w.shown, w.truncated]).toEqual(['long long\nend\n', 0]);
  });

  it('says so when only the end was kept', async () => {
    const w = world();
    await w.read(succeeded({ text: 'end\n', truncated: true }), { follow: false });
    expect([w.shown, w.truncated]).toEqual(['end\n', 1]);
  });

  it('is cut to the last lines when only those are wanted', async () => {
    const w = world();
    await w.read(succeeded({ text: 'a\nb\nc\n' }), { tail: 2 });
    expect(w.shown).toBe('b\nc\n');
  });

  it('comes from the log of a runtimed that keeps nothing', async () => {
    const w = world();
    w.stored.set('p-1', line('from the log'));
    await w.read(aRun({ phase: 'Failed', assignedPod: 'p-1' }));
    expect([w.done, w.shown]).toEqual([true, 'from the log\n']);
  });
});
