import { expect, it } from 'vitest';
import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { withoutManagers } from './unfinished-runs.ts';

it('keeps all of a Run but who wrote it, and leaves the one it was given', () => {
  const run: Run = {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'a', resourceVersion: '7', labels: { a: 'b' }, managedFields: [{ manager: 'krt', operation: 'Update' }] },
    spec: { runtime: 'bash', mode: { task: {} } },
    status: { phase: 'Pending' },
  };
  const { managedFields: _, ...metadata } = run.metadata;
  expect(withoutManagers(Object.freeze(run))).toEqual({ ...run, metadata });
  expect(run.metadata.managedFields).toHaveLength(1);
});
