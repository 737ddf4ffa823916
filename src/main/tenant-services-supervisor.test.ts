import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, settle } from '../lib/clock-fake.ts';
import { silentLog } from '../lib/log.ts';
import type { ServeMessage } from './tenant-services-messages.ts';
import { TenantServicesSupervisor } from './tenant-services-supervisor.ts';

/** A process that does with what it is asked what the test says. */
class Child extends EventEmitter {
  readonly pid = 1;
  exitCode: number | null = null;
  signalCode = null;
  connected = true;
  readonly #behave: (child: Child, message: ServeMessage) => void;

  constructor(behave: (child: Child, message: ServeMessage) => void) {
    super();
    this.#behave = behave;
  }

  send(message: ServeMessage): void {
    setImmediate(() => this.#behave(this, message));
  }

  disconnect(): void {
    this.end(0);
  }

  end(code: number): void {
    this.connected = false;
    this.exitCode = code;
    setImmediate(() => this.emit('exit', code, null));
  }
}

const answers = (child: Child): void => void child.emit('message', { type: 'served', failed: [] });
const crashes = (child: Child): void => child.end(1);

let clock: FakeClock;
let children: Child[];
let behave: ((child: Child) => void) | Error;
let supervisor: TenantServicesSupervisor;

beforeEach(() => {
  clock = new FakeClock();
  children = [];
  behave = answers;
  const start = async () => {
    if (behave instanceof Error) throw behave;
    children.push(new Child(behave));
    return { child: children.at(-1)! as unknown as ChildProcess, registries: { registries: {} } };
  };
  supervisor = new TenantServicesSupervisor({ data: '/nowhere', log: silentLog, clock, start });
});

describe('names and images for workers', () => {
  it('are started again, and again, when a start after a crash fails', async () => {
    await supervisor.serve(['100.64.0.2']);
    behave = new Error('the registries file cannot be read');
    children[0].end(1);
    await clock.advance(5_000);
    expect(children).toHaveLength(1);
    behave = answers;
    await clock.advance(30_000);
    expect(children).toHaveLength(2);
    expect(await supervisor.serve(['100.64.0.2'])).toEqual(new Map());
    await supervisor.stop();
  });

  it('are told to fail at all addresses when the process ends before it answers', async () => {
    await supervisor.serve(['100.64.0.2']);
    behave = crashes;
    children[0].end(1);
    await settle();
    const failed = await supervisor.serve(['100.64.0.2', '100.64.0.4']);
    expect([...failed.keys()]).toEqual(['100.64.0.2', '100.64.0.4']);
    expect([...failed.values()][0]).toContain('ended before it answered');
    behave = answers;
    await clock.advance(1_000);
    expect(await supervisor.serve(['100.64.0.2', '100.64.0.4'])).toEqual(new Map());
    await supervisor.stop();
  });

  it('wait longer from one crash to the next', async () => {
    behave = crashes;
    await supervisor.serve(['100.64.0.2']);
    await clock.advance(60_000);
    expect(children.length).toBeGreaterThan(5);
    expect(children.length).toBeLessThan(14);
    await supervisor.stop();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['there is nobody to serve', () => supervisor.serve([])],
    ['all is stopped', () => supervisor.stop()],
  ])('are not started again when %s', async (_what, end) => {
    behave = new Error('bwrap is missing');
    await supervisor.serve(['100.64.0.2']);
    await end();
    behave = answers;
    await clock.advance(60_000);
    expect([children.length, clock.pendingTimers]).toEqual([0, 0]);
  });
});
