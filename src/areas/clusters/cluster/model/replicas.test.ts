import { expect, it } from 'vitest';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';
import { replicasStatus, servingText } from './replicas.ts';

const running = (replicas: RunningControlPlane['replicas']) => ({ endpoint: 'https://10.0.0.1:1', replicas }) as RunningControlPlane;

it.each([
  ['one', { wanted: 1, ready: 1 }, 'one replica (kubernetes) at https://10.0.0.1:1'],
  ['all of three', { wanted: 3, ready: 3 }, '3 of 3 replicas (kubernetes, on one machine) at https://10.0.0.1:1'],
  [
    'two of three',
    { wanted: 3, ready: 2, note: 'etcd-1 ended' },
    '2 of 3 replicas (kubernetes, on one machine) at https://10.0.0.1:1; etcd-1 ended',
  ],
])('servingText, %s', (_, replicas, text) => {
  expect(servingText(running(replicas), 'kubernetes')).toBe(text);
  expect(replicasStatus(running(replicas))).toEqual({ replicas: replicas.wanted, ready: replicas.ready, spread: 'OneMachine' });
});
