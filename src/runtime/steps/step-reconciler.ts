import type { ResourceClient } from '../../client/resource-client.ts';
import { deepCopy } from '../../kube/json-value.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ReconcileContext, ReconcileResult } from '../controller.ts';
import { splitKey } from '../informer/object-cache.ts';
import { mergeDifference } from './merge-difference.ts';
import type { Outcome } from './outcome.ts';
import { runSteps, type Step, type StepsRun } from './run-steps.ts';

export interface StepReconcilerOptions<T extends KubeObject> {
  clock: Clock;
  /** From the informer's cache. */
  read(key: string): T | undefined;
  /** The Kind's verbs in a namespace. */
  resource(namespace: string | undefined): ResourceClient<T>;
  /** Who writes; the owner of the status fields. */
  fieldManager: string;
  steps: readonly Step<T>[];
  /** Undo what the steps did, in this order, when the object is being deleted. Needs a finalizer. */
  teardown?: readonly Step<T>[];
  /** Held from before the first effect until the teardown is done. */
  finalizer?: string;
  /** Sums up in the draft's status what became of the steps, once per round; `outcome` is where the list ended. */
  summarise?(draft: T, outcome: Outcome): void;
  /** Once the status is written: a write that was refused will be made again. */
  written?(draft: T): void;
}

/**
 * The loop around a list of steps: cache → draft → finalizer or teardown → steps until one is not done → conditions and Ready → one
 * write of the status difference. The result is what `Controller` takes as `reconcile`.
 */
export function stepReconciler<T extends KubeObject>(
  options: StepReconcilerOptions<T>,
): (key: string, context: ReconcileContext) => Promise<ReconcileResult | void> {
  const { finalizer, clock } = options;
  if (options.teardown && !finalizer) throw new Error('Cannot run a teardown: the reconciler has no finalizer; name one');

  return async (key, context) => {
    const cached = options.read(key);
    if (!cached) return undefined;
    const resource = options.resource(splitKey(key).namespace);
    const deleting = cached.metadata.deletionTimestamp !== undefined;
    const held = finalizer !== undefined && cached.metadata.finalizers?.includes(finalizer) === true;
    if (deleting && !held) return undefined;

    const object = !deleting && finalizer !== undefined && !held ? await addFinalizer(resource, cached, finalizer) : cached;
    const draft = draftOf(object);
    const steps = deleting ? (options.teardown ?? []) : options.steps;
    const environment = { clock, signal: context.signal, metrics: context.metrics };
    const run = await runSteps(draft, steps, environment);
    if (deleting && run.outcome.type === 'done') {
      await removeFinalizer(resource, object, finalizer!);
      return undefined;
    }
    options.summarise?.(draft, run.outcome);
    return finish(run, async () => {
      await writeStatus(resource, object, draft, options.fieldManager);
      options.written?.(draft);
    });
  };
}

async function finish(run: StepsRun, write: () => Promise<void>): Promise<ReconcileResult | void> {
  if (run.error !== undefined && isStatusError(run.error, 'Conflict')) throw run.error;
  await write();
  if (run.error !== undefined) throw run.error;
  return run.outcome.type === 'waiting' && run.outcome.afterMs !== undefined ? { afterMs: run.outcome.afterMs } : undefined;
}

/** A copy whose status alone can be changed. */
function draftOf<T extends KubeObject>(object: T): T {
  return { ...object, status: object.status === undefined ? undefined : deepCopy(object.status) };
}

async function writeStatus<T extends KubeObject>(resource: ResourceClient<T>, object: T, draft: T, fieldManager: string): Promise<void> {
  const difference = mergeDifference(object.status ?? {}, draft.status ?? {});
  if (difference === undefined) return;
  const patch = { metadata: { resourceVersion: object.metadata.resourceVersion }, status: difference };
  try {
    await resource.status.patch(object.metadata.name!, { type: 'merge', patch }, { fieldManager });
  } catch (error) {
    // It went while we worked: there is nothing left to report on.
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

async function addFinalizer<T extends KubeObject>(resource: ResourceClient<T>, object: T, finalizer: string): Promise<T> {
  return patchFinalizers(resource, object, [...(object.metadata.finalizers ?? []), finalizer]);
}

async function removeFinalizer<T extends KubeObject>(resource: ResourceClient<T>, object: T, finalizer: string): Promise<void> {
  const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  try {
    await patchFinalizers(resource, object, rest);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

/** Merge patch replaces the whole list, so the version it was made from must still be the newest. */
function patchFinalizers<T extends KubeObject>(resource: ResourceClient<T>, object: T, finalizers: string[]): Promise<T> {
  const { name, resourceVersion } = object.metadata;
  return resource.patch(name!, { type: 'merge', patch: { metadata: { resourceVersion, finalizers } } });
}
