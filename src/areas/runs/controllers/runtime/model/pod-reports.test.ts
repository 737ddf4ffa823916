import { describe, expect, it } from 'vitest';
import { RUNTIMED_READY } from '../../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Runtime } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';
import { capabilitiesOf, complaintOf, hopelessReason, saysTheSame } from './pod-reports.ts';

const RUNTIME: Runtime = {
  apiVersion: 'kruntimes.io/v1alpha1',
  kind: 'Runtime',
  metadata: { name: 'py', namespace: 'ns' },
  spec: { template: { spec: { containers: [] } }, isolation: 'process' },
};

function aPod(name: string, status: Json): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, status };
}

function saying(status: string, reason: string, message = ''): KubeObject {
  return aPod('p', { conditions: [{ type: RUNTIMED_READY, status, reason, message }] });
}

const WELL = saying('True', 'Heartbeat');
const NO_PYTHON = saying('False', 'InterpreterMissing', 'interpreter not found: python3');
const NO_BOX = saying('False', 'IsolationUnavailable', 'isolation "process" needs bubblewrap');
const waiting = (reason: string, message?: string) =>
  aPod('p', { containerStatuses: [{ name: 'runtime', state: { waiting: { reason, message } } }] });

describe('complaintOf', () => {
  it.each<[string, KubeObject[], object | undefined]>([
    ['no Pods', [], undefined],
    ['a Pod that is well', [WELL], undefined],
    ['a Pod that starts', [waiting('ContainerCreating')], undefined],
    [
      'an image that is not there',
      [waiting('ErrImagePull', 'not found')],
      { reason: 'ErrImagePull', message: 'container "runtime" of Pod "p": not found' },
    ],
    ['a container that ends again and again', [waiting('CrashLoopBackOff')], { reason: 'CrashLoopBackOff' }],
    [
      'an interpreter that is missing',
      [WELL, NO_PYTHON],
      { reason: 'InterpreterMissing', message: 'runtimed of Pod "p": interpreter not found: python3' },
    ],
  ])('%s', (_name, pods, expected) => {
    if (expected === undefined) expect(complaintOf(pods)).toBeUndefined();
    else expect(complaintOf(pods)).toMatchObject(expected);
  });
});

describe('hopelessReason', () => {
  it('tells what no waiting helps against', () => {
    expect(hopelessReason({ reason: 'InterpreterMissing', message: '' })).toBe('InterpreterMissing');
    expect(hopelessReason({ reason: 'IsolationUnavailable', message: '' })).toBe('IsolationUnavailable');
    expect(hopelessReason({ reason: 'ErrImagePull', message: '' })).toBeUndefined();
  });
});

describe('capabilitiesOf', () => {
  const told = (...pods: KubeObject[]) => capabilitiesOf(RUNTIME, pods).map(({ type, status, reason }) => `${type}=${status}/${reason}`);

  it('says nothing as long as no Pod has', () => {
    expect(told()).toEqual([]);
    expect(told(aPod('p', {}))).toEqual([]);
    expect(told(saying('False', 'RuntimeUnhealthy'))).toEqual([]);
  });

  it('is what the Pods say', () => {
    expect(told(WELL)).toEqual(['InterpreterAvailable=True/Available', 'IsolationAvailable=True/Available']);
    expect(told(NO_PYTHON)).toEqual(['InterpreterAvailable=False/InterpreterMissing']);
    expect(told(NO_BOX)).toEqual(['IsolationAvailable=False/IsolationUnavailable']);
  });

  it('has limits only where there are some', () => {
    const limited = { ...RUNTIME, spec: { ...RUNTIME.spec, limits: { memory: '64Mi' } } };
    expect(capabilitiesOf(limited, [WELL]).at(-1)).toMatchObject({ type: 'LimitsAvailable', status: 'True' });
    const refused = capabilitiesOf(limited, [saying('False', 'LimitsUnavailable', 'limits need root')]);
    expect(refused).toEqual([{ type: 'LimitsAvailable', status: 'False', reason: 'LimitsUnavailable', message: 'limits need root' }]);
  });

  it('says why a Runtime that comes with the engine gets less than it could', () => {
    const builtIn = {
      ...RUNTIME,
      metadata: { ...RUNTIME.metadata, labels: { 'tenantry.dev/built-in': 'true' } },
      spec: { template: RUNTIME.spec.template },
    };
    const settings = { builtInIsolation: { isolation: 'shared', reason: 'bubblewrap is not installed' } } as const;
    expect(capabilitiesOf(builtIn, [WELL], settings)[1]).toMatchObject({
      status: 'True',
      message: 'Runs get isolation "shared"; "process" cannot be given here: bubblewrap is not installed',
    });
  });

  it('of two Pods the worse one counts', () => {
    expect(told(WELL, NO_PYTHON)).toEqual(['InterpreterAvailable=False/InterpreterMissing', 'IsolationAvailable=True/Available']);
  });
});

describe('saysTheSame', () => {
  it('of a heartbeat, and of nothing else', () => {
    const beat = (lastProbeTime: string, status = 'True') => aPod('p', { conditions: [{ type: RUNTIMED_READY, status, lastProbeTime }] });
    expect(saysTheSame(beat('1'), beat('2'))).toBe(true);
    expect(saysTheSame(beat('1'), beat('2', 'False'))).toBe(false);
    expect(saysTheSame(waiting('ContainerCreating'), waiting('ErrImagePull'))).toBe(false);
  });
});
