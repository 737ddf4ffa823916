import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { failure } from '../../kube/status.ts';
import { findRuns } from './find-runs.ts';
import type { Session } from '../terminal/session.ts';

const aRun = (name: string, created: string, status?: RunStatus): Run => ({
  apiVersion: 'kruntimes.io/v1alpha1',
  kind: 'Run',
  metadata: { name, creationTimestamp: created },
  spec: { runtime: name.startsWith('py') ? 'python' : 'bash', mode: { task: {} } },
  ...(status === undefined ? {} : { status }),
});
const all = [
  aRun('b', '2026-01-01T00:00:02Z', { phase: 'Succeeded' }),
  aRun('a', '2026-01-01T00:00:02Z'),
  aRun('py', '2026-01-01T00:00:01Z', { phase: 'Running' }),
];

/** A server that can, or cannot, select by the fields of a Run. */
function session(knowsFields: boolean) {
  const asked: (string | undefined)[] = [];
  const listAll = async ({ fieldSelector }: { fieldSelector?: string }) => {
    asked.push(fieldSelector);
    if (fieldSelector !== undefined && !knowsFields) throw failure('BadRequest', 'field label not supported');
    return { items: [...all], metadata: { resourceVersion: '7' } };
  };
  const cluster = { client: { resource: () => ({ listAll }) } };
  return { asked, session: { cluster, namespace: 'default' } as unknown as Session };
}

describe('findRuns', () => {
  it('lets the server choose, and asks for all where it cannot: the CRD of the original has no such fields', async () => {
    for (const knowsFields of [true, false]) {
      const { asked, session: asking } = session(knowsFields);
      const found = await findRuns(asking, { runtime: 'python', phase: 'running' });
      expect(found.map(({ metadata }) => metadata.name)).toEqual(['py']);
      expect(asked).toEqual(['spec.runtime=python,status.phase=Running', ...(knowsFields ? [] : [undefined])]);
    }
  });

  it('takes a Run without a status for one that waits', async () => {
    const { asked, session: asking } = session(true);
    expect((await findRuns(asking, { phase: 'Pending' })).map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(asked[0]).toBe('status.phase!=Succeeded,status.phase!=Failed,status.phase!=Timeout,status.phase!=Cancelled');
  });

  it('gives them by age, then by name', async () => {
    expect((await findRuns(session(true).session, {})).map(({ metadata }) => metadata.name)).toEqual(['py', 'a', 'b']);
  });

  it('throws what else is refused', async () => {
    const { session: asking } = session(true);
    asking.cluster.client.resource = (() => ({ listAll: () => Promise.reject(failure('Forbidden', 'no')) })) as never;
    await expect(findRuns(asking, { runtime: 'x' })).rejects.toThrow('no');
  });
});
