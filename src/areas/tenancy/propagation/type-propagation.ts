import { INHERITED_FROM } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { EventRecorder } from '../../../runtime/event-recorder.ts';
import type { Change } from '../../../runtime/informer/informer.ts';
import { splitKey, toKey } from '../../../runtime/informer/object-cache.ts';
import { nextTurn } from '../../../runtime/informer/reflector.ts';
import type { TenancyStart } from '../tenancy-environment.ts';
import type { LiveType } from './live-type.ts';
import { isCopy, sameForCopies } from './model/canonical-copy.ts';
import { decideCopy, type CopyDecision, type Tree } from './model/decide-copy.ts';
import { typeId } from './model/configured-types.ts';
import type { PropagationSettings } from './model/propagation-settings.ts';
import { sourceProblem } from './model/source-problem.ts';
import type { CopyWriter } from './write-copy.ts';
import { WRITE_BACKOFF, WritePace } from './write-pace.ts';

/** Writes at once: enough to keep an API server busy, too few to crowd out everybody else. */
const CONCURRENCY = 32;
const KEYS_PER_TURN = 1000;

/** Keys of the queue that are not `namespace/name` of a copy. */
const SOURCE = '>';
const EVERYTHING = '*';

export interface TypePropagationOptions extends TenancyStart {
  tree: Tree;
  settings: PropagationSettings;
  writer: CopyWriter;
  events: EventRecorder;
}

/** Keeps the copies of one type as the tree and the sources say. */
export class TypePropagation {
  readonly type: LiveType;
  #options: TypePropagationOptions;
  #controller: Controller;
  #pace: WritePace;

  constructor(type: LiveType, options: TypePropagationOptions) {
    this.type = type;
    this.#options = options;
    const { clock, log, metrics } = options;
    this.#pace = new WritePace(clock);
    this.#controller = new Controller({
      name: `propagation of ${typeId(type.kind)}`,
      clock,
      log,
      metrics,
      concurrency: CONCURRENCY,
      backoff: WRITE_BACKOFF,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#controller.watch(type.informer, (change) => this.#keysOf(change));
  }

  start(): void {
    this.#controller.start();
  }

  stop(): Promise<void> {
    return this.#controller.stop();
  }

  /** The mode has changed. */
  resync(): void {
    this.#controller.queue.add(EVERYTHING);
  }

  /** A namespace has another place or other labels: what is in it, and what comes from above, is looked at again. */
  placeChanged(namespace: string): void {
    const { queue } = this.#controller;
    for (const { metadata } of this.type.copiesIn(namespace)) queue.add(toKey(namespace, metadata.name!));
    for (const ancestor of this.#options.tree.ancestors(namespace)) {
      for (const { metadata } of this.type.objects.sourcesIn(ancestor)) queue.add(toKey(namespace, metadata.name!));
    }
  }

  #keysOf(change: Change<KubeObject>): string[] {
    const { namespace, name } = change.object.metadata;
    const key = toKey(namespace, name!);
    const before = change.type === 'modified' ? change.previous : undefined;
    const concernsOthers = !isCopy(change.object) || (before !== undefined && !isCopy(before));
    if (!concernsOthers || (before && sameForCopies(before, change.object))) return [key];
    return [key, SOURCE + key];
  }

  #reconcile(key: string): Promise<ReconcileResult | void> {
    if (key === EVERYTHING) return this.#everything();
    if (key.startsWith(SOURCE)) return this.#descendantsOf(key.slice(SOURCE.length));
    return this.#copy(key);
  }

  async #everything(): Promise<void> {
    let handled = 0;
    for (const object of this.type.informer.list()) {
      const { namespace, name } = object.metadata;
      const key = toKey(namespace, name!);
      this.#controller.queue.add(isCopy(object) ? key : SOURCE + key);
      if (++handled % KEYS_PER_TURN === 0) await nextTurn();
    }
  }

  async #descendantsOf(key: string): Promise<void> {
    const { tree, events } = this.#options;
    const { namespace = '', name } = splitKey(key);
    const below = tree.descendants(namespace);
    if (below.length === 0) return;
    let handled = 0;
    for (const destination of below) {
      this.#controller.queue.add(toKey(destination, name));
      if (++handled % KEYS_PER_TURN === 0) await nextTurn();
    }
    const source = this.type.objects.find(namespace, name);
    const problem = source && !isCopy(source) ? sourceProblem(source, this.type.mode) : undefined;
    if (problem) events.record(source!, { type: 'Warning', ...problem });
  }

  async #copy(key: string): Promise<ReconcileResult | void> {
    const { tree, settings, writer } = this.#options;
    const { namespace = '', name } = splitKey(key);
    const decision = decideCopy(this.type, tree, settings, namespace, name);
    if (decision.action === 'nothing') return undefined;
    const about = decision.action === 'delete' ? decision.existing : decision.source;
    const wait = this.#pace.wait(key, about);
    if (wait > 0) return { afterMs: wait };
    try {
      await writer.write(this.type.kind, namespace, decision);
    } catch (error) {
      // What is overtaken is looked at again, and what has no answer is nobody's fault; only a refusal is for the author to know.
      if (!isStatusError(error) || isStatusError(error, 'Conflict')) throw error;
      this.#tell(decision, namespace, name, error);
      return { afterMs: this.#pace.failed(key, about) };
    }
    if (decision.action === 'update') this.#pace.written(key, about);
    else this.#pace.forget(key);
    return undefined;
  }

  #tell(decision: Exclude<CopyDecision, { action: 'nothing' }>, namespace: string, name: string, error: unknown): void {
    const { events } = this.#options;
    const act = decision.action === 'delete' ? 'remove' : 'write';
    const source = decision.action === 'delete' ? undefined : decision.source;
    const why = errorText(error);
    const existing = decision.action === 'create' ? undefined : decision.existing;
    const from = source?.metadata.namespace ?? existing?.metadata.labels?.[INHERITED_FROM] ?? '';
    const copy = existing ?? { ...source!, metadata: { name, namespace } };
    events.record(copy, {
      type: 'Warning',
      reason: 'CannotUpdateObject',
      message: `Could not ${act} from source namespace "${from}": ${why}.`,
    });
    if (!source) return;
    const message = `Could not ${act} to destination namespace "${namespace}": ${why}.`;
    events.record(source, { type: 'Warning', reason: 'CannotPropagateObject', message });
  }
}
