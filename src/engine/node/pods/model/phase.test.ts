import { describe, expect, test } from 'vitest';
import type { ContainerStatus, PodSpec } from '../../../../kube/generated/core-v1.ts';
import { aContainer, aPod, aSidecar } from '../testing/a-pod.ts';
import { phaseOf, type Phase } from './phase.ts';

type State = 'running' | 'waiting' | 'creating' | number | { waitingAfter: number } | { starting: true };

function status(name: string, state: State): ContainerStatus {
  const base = { name, image: '', imageID: '', ready: false, restartCount: 0, started: true };
  if (state === 'running') return { ...base, state: { running: {} } };
  if (state === 'waiting') return { ...base, state: { waiting: { reason: 'ErrImagePull' } } };
  if (state === 'creating') return { ...base, state: { waiting: { reason: 'ContainerCreating' } } };
  if (typeof state === 'number') return { ...base, state: { terminated: { exitCode: state } } };
  if ('starting' in state) return { ...base, started: false, state: { running: {} } };
  return { ...base, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: state.waitingAfter } } };
}

interface Case {
  name: string;
  spec?: Partial<PodSpec>;
  states: Record<string, State>;
  ended?: boolean;
  hasRun?: boolean;
  phase: Phase;
}

function check({ spec, states, ended = false, hasRun = false, phase }: Case): void {
  const statuses = Object.entries(states).map(([name, state]) => status(name, state));
  expect(phaseOf(aPod(spec).spec!, statuses, ended, hasRun)).toBe(phase);
}

const two = { containers: [aContainer('a'), aContainer('b')] };

describe('phaseOf, main containers', () => {
  test.each<Case>([
    { name: 'nothing is known', states: {}, phase: 'Pending' },
    { name: 'being created', states: { c: 'creating' }, phase: 'Pending' },
    { name: 'all run', spec: two, states: { a: 'running', b: 'running' }, phase: 'Running' },
    { name: 'one still waits for its image', spec: two, states: { a: 'running', b: 'waiting' }, phase: 'Pending' },
    { name: 'one is unknown', spec: two, states: { a: 'running' }, phase: 'Pending' },
    { name: 'one of two has failed', spec: two, states: { a: 'running', b: 1 }, phase: 'Running' },
    { name: 'in back-off after a failure', states: { c: { waitingAfter: 1 } }, phase: 'Running' },
    { name: 'a success with Always', states: { c: 0 }, phase: 'Running' },
    { name: 'a success with OnFailure', spec: { restartPolicy: 'OnFailure' }, states: { c: 0 }, phase: 'Succeeded' },
    { name: 'a failure with OnFailure', spec: { restartPolicy: 'OnFailure' }, states: { c: 1 }, phase: 'Running' },
    { name: 'a success with Never', spec: { restartPolicy: 'Never' }, states: { c: 0 }, phase: 'Succeeded' },
    { name: 'a failure with Never', spec: { restartPolicy: 'Never' }, states: { c: 1 }, phase: 'Failed' },
    { name: 'a success and a failure with Never', spec: { ...two, restartPolicy: 'Never' }, states: { a: 0, b: 1 }, phase: 'Failed' },
    {
      name: 'a success and one that runs with Never',
      spec: { ...two, restartPolicy: 'Never' },
      states: { a: 0, b: 'running' },
      phase: 'Running',
    },
    { name: 'deleted with Always, all succeeded', states: { c: 0 }, ended: true, phase: 'Succeeded' },
    { name: 'deleted with Always, one failed', spec: two, states: { a: 0, b: 143 }, ended: true, phase: 'Failed' },
    { name: 'deleted before it started', states: { c: 'creating' }, ended: true, phase: 'Pending' },
    {
      name: 'a container whose own policy is Never failed',
      spec: { containers: [aContainer('c', { restartPolicy: 'Never' })] },
      states: { c: 1 },
      phase: 'Failed',
    },
  ])('$name: $phase', check);
});

describe('phaseOf, init containers', () => {
  const init = { initContainers: [aContainer('i')] };
  test.each<Case>([
    { name: 'it runs', spec: init, states: { i: 'running', c: 'creating' }, phase: 'Pending' },
    { name: 'it is done, the main one is not there yet', spec: init, states: { i: 0, c: 'creating' }, phase: 'Pending' },
    { name: 'it failed and is tried again', spec: init, states: { i: { waitingAfter: 1 }, c: 'creating' }, phase: 'Pending' },
    { name: 'it failed with Never', spec: { ...init, restartPolicy: 'Never' }, states: { i: 1, c: 'creating' }, phase: 'Failed' },
    { name: 'it is done and the main one runs', spec: init, states: { i: 0, c: 'running' }, phase: 'Running' },
  ])('$name: $phase', check);
});

describe('phaseOf, sidecars', () => {
  const side = { initContainers: [aSidecar('s')] };
  test.each<Case>([
    { name: 'it has not started yet', spec: side, states: { s: { starting: true }, c: 'creating' }, phase: 'Pending' },
    {
      name: 'it starts again beside a Pod that has run',
      spec: side,
      states: { s: { starting: true }, c: 'running' },
      hasRun: true,
      phase: 'Running',
    },
    {
      name: 'it runs after the main one has succeeded',
      spec: { ...side, restartPolicy: 'Never' },
      states: { s: 'running', c: 0 },
      phase: 'Running',
    },
    {
      name: 'it ended after the main one has succeeded',
      spec: { ...side, restartPolicy: 'Never' },
      states: { s: 137, c: 0 },
      phase: 'Succeeded',
    },
    { name: 'it waits in back-off', spec: side, states: { s: { waitingAfter: 1 }, c: 'running' }, phase: 'Running' },
  ])('$name: $phase', check);
});
