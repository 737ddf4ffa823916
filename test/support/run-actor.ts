import { phaseOf } from '../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { RunKind, type Run, type RunStatus } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { assigned, claimed, failed, succeeded } from '../../src/areas/runs/model/transitions.ts';
import type { Client } from '../../src/client/client.ts';
import { isStatusError } from '../../src/kube/status.ts';

/**
 * Plays scheduler and runtimed: takes every Run of a namespace and lets it end as its first argument says. `ok` succeeds, `exit N` fails,
 * `slow` runs until it is cancelled, `wait` stays Pending. What it writes is in `log`.
 */
export function startRunActor(client: Client, namespace: string): { stop(): Promise<void> } {
  const controller = new AbortController();
  const runs = client.resource(RunKind, namespace);
  const write = (run: Run, status: RunStatus) => runs.status.patch(run.metadata.name!, { type: 'merge', patch: { status } });
  const act = async (run: Run): Promise<void> => {
    const now = new Date();
    const [verb, code] = (run.spec.mode.task?.args?.[0] ?? 'ok').split(' ');
    const end = { log: { text: `${verb} wrote this\n` } };
    if (phaseOf(run) === 'Running' && run.spec.cancelRequested) {
      await write(run, failed(run, { reason: 'Cancelled', message: 'cancelled by user', ...end }, now));
    }
    if (run.status !== undefined) return;
    if (verb === 'wait') return void (await write(run, { phase: 'Pending', message: 'waiting for a Pod' }));
    const placed = await write(run, assigned(run, { name: 'pod-1', uid: 'pod-1-uid' }, now));
    const begun = await write(placed, claimed(placed, now));
    if (verb === 'slow') return;
    if (verb === 'exit') {
      const exitCode = Number(code);
      await write(begun, failed(begun, { reason: 'RuntimeError', message: `exit status ${code}`, exitCode, ...end }, now));
    } else await write(begun, succeeded(begun, { exitCode: 0, outputs: { answer: '42' }, ...end }, now));
  };
  const work = async (): Promise<void> => {
    for await (const update of runs.watch({ signal: controller.signal })) {
      if (!('object' in update) || update.type === 'DELETED') continue;
      await act(update.object).catch((error: unknown) => {
        // Tests delete Runs whenever they like.
        if (!isStatusError(error, 'NotFound')) throw error;
      });
    }
  };
  const done = work();
  return {
    async stop() {
      controller.abort();
      await done;
    },
  };
}
