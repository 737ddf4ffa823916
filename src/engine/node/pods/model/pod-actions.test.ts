import { describe, expect, test } from 'vitest';
import type { PodSpec, Probe } from '../../../../kube/generated/core-v1.ts';
import { aContainer, aPod, aSidecar, findings, runsOf, UID, type RunSketch } from '../testing/a-pod.ts';
import { podActions, type PodActions } from './pod-actions.ts';

const probe: Probe = { tcpSocket: { port: 1 } };
const nothing: PodActions = { end: false, kill: [], startEphemeral: [], startInit: [], start: [] };

interface Case {
  name: string;
  spec?: Partial<PodSpec>;
  runs?: Record<string, RunSketch | RunSketch[]>;
  probes?: Parameters<typeof findings>[0];
  wanted: Partial<PodActions>;
}

function check({ spec, runs, probes, wanted }: Case): void {
  expect(podActions(aPod(spec), runsOf(runs ?? {}), findings(probes))).toEqual({ ...nothing, ...wanted });
}

const two = { containers: [aContainer('a'), aContainer('b')] };

describe('podActions, main containers', () => {
  test.each<Case>([
    { name: 'a new Pod starts all', spec: two, wanted: { start: ['a', 'b'] } },
    { name: 'what runs is left alone', spec: two, runs: { a: 'running', b: 'running' }, wanted: {} },
    { name: 'what is missing is started', spec: two, runs: { a: 'running' }, wanted: { start: ['b'] } },
    { name: 'Always restarts a success', runs: { c: 0 }, wanted: { start: ['c'] } },
    { name: 'Always restarts a failure', runs: { c: 1 }, wanted: { start: ['c'] } },
    { name: 'OnFailure restarts a failure', spec: { restartPolicy: 'OnFailure' }, runs: { c: 1 }, wanted: { start: ['c'] } },
    { name: 'OnFailure ends with a success', spec: { restartPolicy: 'OnFailure' }, runs: { c: 0 }, wanted: { end: true } },
    { name: 'Never ends with a failure', spec: { restartPolicy: 'Never' }, runs: { c: 1 }, wanted: { end: true } },
    { name: 'Never waits for the others', spec: { ...two, restartPolicy: 'Never' }, runs: { a: 1, b: 'running' }, wanted: {} },
    {
      name: 'Never starts what has never run',
      spec: { ...two, restartPolicy: 'Never' },
      runs: { a: 1 },
      wanted: { start: ['b'] },
    },
    {
      name: 'OnFailure with one success and one failure restarts the failure',
      spec: { ...two, restartPolicy: 'OnFailure' },
      runs: { a: 0, b: 2 },
      wanted: { start: ['b'] },
    },
    {
      name: "a container's own policy comes before the Pod's",
      spec: { containers: [aContainer('c', { restartPolicy: 'Never' })] },
      runs: { c: 1 },
      wanted: { end: true },
    },
    {
      name: "a container's own OnFailure restarts it in a Pod that never does",
      spec: { restartPolicy: 'Never', containers: [aContainer('c', { restartPolicy: 'OnFailure' })] },
      runs: { c: 1 },
      wanted: { start: ['c'] },
    },
    {
      name: 'a rule restarts by exit code',
      spec: {
        containers: [
          aContainer('c', {
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
          }),
        ],
      },
      runs: { c: 42 },
      wanted: { start: ['c'] },
    },
    {
      name: 'a rule that does not match leaves it to the policy',
      spec: {
        containers: [
          aContainer('c', {
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [42] } }],
          }),
        ],
      },
      runs: { c: 42 },
      wanted: { end: true },
    },
    {
      name: 'another image restarts it, whatever the policy',
      spec: { restartPolicy: 'Never', containers: [aContainer('c', { image: 'app:2' })] },
      runs: { c: { requestedImage: 'app:1' } },
      wanted: {
        start: ['c'],
        kill: [{ runId: `${UID}.c.0`, name: 'c', reason: 'changed', message: 'Container c definition changed, will be restarted' }],
      },
    },
    {
      name: 'ephemeral containers start once',
      spec: { ephemeralContainers: [aContainer('d'), aContainer('e')] },
      runs: { c: 'running', d: 1 },
      wanted: { startEphemeral: ['e'] },
    },
    {
      name: 'ephemeral containers start before initialization is complete',
      spec: { initContainers: [aContainer('i')], ephemeralContainers: [aContainer('d')] },
      runs: { i: 'running' },
      wanted: { startEphemeral: ['d'] },
    },
  ])('$name', check);
});

describe('podActions, probes', () => {
  const probed = (restartPolicy: PodSpec['restartPolicy'] = 'Always') => ({
    restartPolicy,
    containers: [aContainer('c', { livenessProbe: probe, startupProbe: probe })],
  });
  test.each<Case>([
    {
      name: 'a failed liveness probe kills and restarts',
      spec: probed(),
      runs: { c: 'running' },
      probes: { c: { liveness: false } },
      wanted: {
        start: ['c'],
        kill: [
          { runId: `${UID}.c.0`, name: 'c', reason: 'livenessProbe', message: 'Container c failed liveness probe, will be restarted' },
        ],
      },
    },
    {
      name: 'a failed startup probe kills and restarts',
      spec: probed('OnFailure'),
      runs: { c: 'running' },
      probes: { c: { startup: false } },
      wanted: {
        start: ['c'],
        kill: [{ runId: `${UID}.c.0`, name: 'c', reason: 'startupProbe', message: 'Container c failed startup probe, will be restarted' }],
      },
    },
    {
      name: 'with Never it is only killed, and that is the end',
      spec: probed('Never'),
      runs: { c: 'running' },
      probes: { c: { liveness: false } },
      wanted: {
        end: true,
        kill: [{ runId: `${UID}.c.0`, name: 'c', reason: 'livenessProbe', message: 'Container c failed liveness probe' }],
      },
    },
    {
      name: 'a success changes nothing',
      spec: probed(),
      runs: { c: 'running' },
      probes: { c: { liveness: true, startup: true } },
      wanted: {},
    },
    {
      name: 'a failed readiness probe changes nothing',
      spec: probed(),
      runs: { c: 'running' },
      probes: { c: { readiness: false } },
      wanted: {},
    },
    {
      name: 'findings about an earlier run do not count',
      spec: probed(),
      runs: { c: ['running', 1] },
      probes: { c: { liveness: false, attempt: 0 } },
      wanted: {},
    },
  ])('$name', check);
});

describe('podActions, init containers', () => {
  const init = { initContainers: [aContainer('i1'), aContainer('i2')] };
  test.each<Case>([
    { name: 'the first one starts alone', spec: init, wanted: { startInit: ['i1'] } },
    { name: 'nothing happens while it runs', spec: init, runs: { i1: 'running' }, wanted: {} },
    { name: 'the next one follows its success', spec: init, runs: { i1: 0 }, wanted: { startInit: ['i2'] } },
    { name: 'the main containers follow the last', spec: init, runs: { i1: 0, i2: 0 }, wanted: { start: ['c'] } },
    { name: 'a failure is tried again', spec: init, runs: { i1: 1 }, wanted: { startInit: ['i1'] } },
    {
      name: 'a failure with OnFailure is tried again',
      spec: { ...init, restartPolicy: 'OnFailure' },
      runs: { i1: 0, i2: 3 },
      wanted: { startInit: ['i2'] },
    },
    { name: 'a failure with Never is the end', spec: { ...init, restartPolicy: 'Never' }, runs: { i1: 1 }, wanted: { end: true } },
    { name: 'nothing is run again once a main container runs', spec: init, runs: { c: 'running' }, wanted: {} },
    { name: 'the record of an early one may be gone', spec: init, runs: { i2: 0 }, wanted: { start: ['c'] } },
    { name: 'a main container that ended is restarted without them', spec: init, runs: { i1: 0, i2: 0, c: 1 }, wanted: { start: ['c'] } },
  ])('$name', check);
});

describe('podActions, sidecars', () => {
  const around = { initContainers: [aSidecar('s'), aContainer('i')] };
  const probed = { initContainers: [aSidecar('s', { startupProbe: probe }), aContainer('i')] };
  test.each<Case>([
    { name: 'a sidecar starts first', spec: around, wanted: { startInit: ['s'] } },
    { name: 'the next one follows when it runs', spec: around, runs: { s: 'running' }, wanted: { startInit: ['i'] } },
    { name: 'the next one waits for its startup probe', spec: probed, runs: { s: 'running' }, wanted: {} },
    {
      name: 'the next one follows its startup probe',
      spec: probed,
      runs: { s: 'running' },
      probes: { s: { startup: true } },
      wanted: { startInit: ['i'] },
    },
    {
      name: 'a failed startup probe restarts it',
      spec: probed,
      runs: { s: 'running' },
      probes: { s: { startup: false } },
      wanted: {
        startInit: ['s'],
        kill: [{ runId: `${UID}.s.0`, name: 's', reason: 'startupProbe', message: 'Init container s failed startup probe' }],
      },
    },
    { name: 'the main containers follow', spec: around, runs: { s: 'running', i: 0 }, wanted: { start: ['c'] } },
    {
      name: 'the main containers follow a last sidecar',
      spec: { initContainers: [aSidecar('s')] },
      runs: { s: 'running' },
      wanted: { start: ['c'] },
    },
    { name: 'it is restarted beside main containers', spec: around, runs: { s: 0, i: 0, c: 'running' }, wanted: { startInit: ['s'] } },
    {
      name: 'it is restarted whatever the policy',
      spec: { ...around, restartPolicy: 'Never' },
      runs: { s: 1, i: 0, c: 'running' },
      wanted: { startInit: ['s'] },
    },
    {
      name: 'it does not keep a Pod alive',
      spec: { ...around, restartPolicy: 'Never' },
      runs: { s: 'running', i: 0, c: 0 },
      wanted: { end: true },
    },
    {
      name: 'it is not restarted when the Pod is complete',
      spec: { ...around, restartPolicy: 'OnFailure' },
      runs: { s: 1, i: 0, c: 0 },
      wanted: { end: true },
    },
    {
      name: 'a failed liveness probe restarts it',
      spec: { initContainers: [aSidecar('s', { livenessProbe: probe })] },
      runs: { s: 'running', c: 'running' },
      probes: { s: { liveness: false } },
      wanted: {
        startInit: ['s'],
        kill: [{ runId: `${UID}.s.0`, name: 's', reason: 'livenessProbe', message: 'Init container s failed liveness probe' }],
      },
    },
  ])('$name', check);
});

describe('podActions, after a restart of the machine', () => {
  const init = { initContainers: [aContainer('i')] };
  const stale = (exit: number) => ({ exit, stale: true });
  test.each<Case>([
    { name: 'initialization begins again', spec: init, runs: { i: stale(0), c: stale(137) }, wanted: { startInit: ['i'] } },
    { name: 'main containers start after it', spec: init, runs: { i: [0, stale(0)], c: stale(137) }, wanted: { start: ['c'] } },
    {
      name: 'a Pod that never restarts has ended',
      spec: { ...init, restartPolicy: 'Never' },
      runs: { i: stale(0), c: stale(137) },
      wanted: { end: true },
    },
    {
      name: 'one that had succeeded has ended',
      spec: { ...init, restartPolicy: 'OnFailure' },
      runs: { i: stale(0), c: stale(0) },
      wanted: { end: true },
    },
    {
      name: 'one that never came to its main containers begins again',
      spec: { ...init, restartPolicy: 'OnFailure' },
      runs: { i: stale(0) },
      wanted: { startInit: ['i'] },
    },
  ])('$name', check);
});
