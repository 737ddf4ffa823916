import { describe, expect, test } from 'vitest';
import type { Probe } from '../../../kube/generated/core-v1.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { ProbeLoop, type ProbeKind } from './probe-loop.ts';
import type { ProbeOutcome } from './probe-outcome.ts';

type Answer = boolean | 'hangs' | 'errors' | 'warns';

function start(kind: ProbeKind, probe: Probe, answers: (attempt: number) => Answer, adopted = false) {
  const clock = new FakeClock(0);
  const results: [number, boolean][] = [];
  const events: string[] = [];
  const asked: number[] = [];
  const loop = new ProbeLoop({
    kind,
    probe,
    clock,
    random: () => 0.5,
    startedAt: 0,
    adopted,
    run: (_probe, _timeoutMs, signal): Promise<ProbeOutcome> => {
      asked.push(clock.now() / 1000);
      const answer = answers(asked.length - 1);
      if (answer === 'errors') return Promise.reject(new Error('cannot even try'));
      if (answer === 'hangs') {
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ result: 'failure', output: 'too slow' })));
      }
      if (answer === 'warns') return Promise.resolve({ result: 'warning', output: 'redirected' });
      return Promise.resolve({ result: answer ? 'success' : 'failure', output: answer ? '' : 'no' });
    },
    result: (healthy) => results.push([clock.now() / 1000, healthy]),
    unhealthy: (reason, message) => events.push(`${reason} ${message}`),
  });
  loop.start();
  return { clock, loop, results, events, asked };
}

describe('ProbeLoop', () => {
  test('asks at once, then every period', async () => {
    const { clock, asked } = start('Readiness', { periodSeconds: 5 }, () => true);
    await clock.advance(11_000);
    expect(asked).toEqual([0, 5, 10]);
  });

  test('waits for the initial delay', async () => {
    const { clock, asked } = start('Liveness', { periodSeconds: 5, initialDelaySeconds: 7 }, () => true);
    await clock.advance(13_000);
    expect(asked).toEqual([7, 12]);
  });

  test('spreads what it takes over', async () => {
    const { clock, asked } = start('Liveness', { periodSeconds: 10 }, () => true, true);
    await clock.advance(16_000);
    expect(asked).toEqual([5, 15]);
  });

  test('fails after as many failures in a row as it takes', async () => {
    const { clock, results, events } = start('Readiness', { periodSeconds: 1, failureThreshold: 3 }, (attempt) => attempt === 2);
    await clock.advance(10_000);
    expect(results[0]).toEqual([2, true]);
    expect(results[1]).toEqual([5, false]);
    expect(events[0]).toBe('Unhealthy Readiness probe failed: no');
  });

  test('succeeds after as many successes in a row as it takes', async () => {
    const { clock, results } = start('Readiness', { periodSeconds: 1, successThreshold: 2 }, () => true);
    await clock.advance(1500);
    expect(results).toEqual([[1, true]]);
  });

  test('takes no answer in time for a failure', async () => {
    const { clock, results } = start('Liveness', { periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 1 }, () => 'hangs');
    await clock.advance(2000);
    expect(results).toEqual([[2, false]]);
  });

  test('holds an error against nobody', async () => {
    const { clock, results, asked, events } = start('Liveness', { periodSeconds: 5, failureThreshold: 1 }, () => 'errors');
    await clock.advance(1000);
    expect(asked).toEqual([0, 0, 0]);
    expect(results).toEqual([]);
    expect(events).toEqual(['Unhealthy Liveness probe errored and resulted in unknown state: cannot even try']);
  });

  test('takes a warning for a success and passes it on', async () => {
    const { clock, results, events } = start('Readiness', { periodSeconds: 5 }, () => 'warns');
    await clock.advance(0);
    expect(results).toEqual([[0, true]]);
    expect(events).toEqual(['ProbeWarning Readiness probe warning: redirected']);
  });

  test.each<[ProbeKind, boolean, boolean]>([
    ['Startup', true, false],
    ['Startup', false, false],
    ['Liveness', true, true],
    ['Liveness', false, false],
    ['Readiness', false, true],
  ])('%s goes on after %s: %s', async (kind, answer, goesOn) => {
    const { clock, asked } = start(kind, { periodSeconds: 1, failureThreshold: 1 }, () => answer);
    await clock.advance(3500);
    expect(asked.length > 1).toBe(goesOn);
  });

  test('says nothing after its stop', async () => {
    const { clock, loop, results, events } = start('Liveness', { timeoutSeconds: 5, failureThreshold: 1 }, () => 'hangs');
    await clock.advance(1000);
    loop.stop();
    await clock.advance(60_000);
    expect([results, events]).toEqual([[], []]);
    expect(clock.pendingTimers).toBe(0);
  });
});
