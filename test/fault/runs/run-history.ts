import { RunKind, type Run } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { requestsOf } from '../../../src/api/kruntimes.io/v1alpha1/capacity.ts';
import { attemptOf, isTerminal, phaseOf } from '../../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import type { Client } from '../../../src/client/client.ts';

/** All that a client could ever see of Runs, in the order in which it happened, and what was wrong with it. */
export class RunHistory {
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #last = new Map<string, Run>();
  readonly #deleted = new Set<string>();
  /** How often each Run was claimed, by uid. */
  readonly claims = new Map<string, number>();
  readonly complaints: string[] = [];
  readonly #capacity: ReadonlyMap<string, number>;
  readonly #countsScheduled: boolean;
  #following: Promise<void> | undefined;

  /** @param countsScheduled whether Runs that are not claimed yet must fit as well */
  constructor(client: Client, capacity: ReadonlyMap<string, number>, countsScheduled: boolean) {
    this.#client = client;
    this.#capacity = capacity;
    this.#countsScheduled = countsScheduled;
  }

  async start(): Promise<void> {
    const runs = this.#client.resource(RunKind, 'default');
    const { metadata } = await runs.list({ limit: 1 });
    this.#following = this.#follow(metadata.resourceVersion!);
  }

  get all(): Run[] {
    return [...this.#last.values()];
  }

  get unfinished(): string[] {
    return this.all
      .filter((run) => !this.#deleted.has(run.metadata.uid!) && !isTerminal(phaseOf(run)))
      .map(({ metadata, status }) => `${metadata.name} ${status?.phase} ${status?.assignedPod} ${status?.message}`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following?.catch(() => {});
  }

  async #follow(resourceVersion: string): Promise<void> {
    const updates = this.#client.resource(RunKind, 'default').watch({ resourceVersion, signal: this.#stop.signal });
    for await (const update of updates) {
      if (!('object' in update)) continue;
      const run = update.object;
      const uid = run.metadata.uid!;
      if (update.type === 'DELETED') this.#deleted.add(uid);
      this.#judge(this.#last.get(uid), run);
      this.#last.set(uid, run);
      this.#checkCapacity();
    }
  }

  #judge(before: Run | undefined, after: Run): void {
    const { name, uid } = after.metadata;
    const [from, to] = [before === undefined ? 'Pending' : phaseOf(before), phaseOf(after)];
    if (isTerminal(from) && from !== to) this.complaints.push(`${name} went from ${from} to ${to}`);
    if (isTerminal(from) && before!.status?.completionTime !== after.status?.completionTime) this.complaints.push(`${name} ended twice`);
    if (to === 'Running' && from !== 'Scheduled' && from !== 'Running') this.complaints.push(`${name} was claimed when it was ${from}`);
    if (before !== undefined && attemptOf(after) < attemptOf(before))
      this.complaints.push(`${name} went back to attempt ${attemptOf(after)}`);
    if (from === 'Scheduled' && to === 'Running') this.claims.set(uid!, (this.claims.get(uid!) ?? 0) + 1);
  }

  #checkCapacity(): void {
    const used = new Map<string, number>();
    for (const run of this.#last.values()) {
      const phase = phaseOf(run);
      const counts = phase === 'Running' || (this.#countsScheduled && phase === 'Scheduled');
      if (!counts || this.#deleted.has(run.metadata.uid!)) continue;
      const requests = requestsOf(run);
      const pod = run.status!.assignedPod!;
      used.set(pod, (used.get(pod) ?? 0) + ('amounts' in requests ? (requests.amounts.get('runs') ?? 0) : 0));
    }
    for (const [pod, amount] of used) {
      if (amount > (this.#capacity.get(pod) ?? 0)) this.complaints.push(`${pod} had ${amount} of ${this.#capacity.get(pod)}`);
    }
  }
}
