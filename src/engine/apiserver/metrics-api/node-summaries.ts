import type { KubeObject } from '../../../kube/object.ts';
import { errorText } from '../../../lib/log.ts';
import type { Clock } from '../../../lib/clock.ts';
import { readSummary, type NodeSummary } from './model/summary.ts';

/** Asking more often tells nothing new. */
const FRESH_MS = 5000;
/** A node that could not tell everything yet may soon. */
const INCOMPLETE_MS = 1000;

export type Answer = { node: string; summary: NodeSummary } | { node: string; failure: string };

export interface NodeSummariesOptions {
  clock: Clock;
  /** A node's `/stats/summary`, parsed. @throws Error when the node does not answer */
  fetch(node: KubeObject): Promise<unknown>;
}

/** What nodes say about usage: asked when somebody wants to know, once for all who want to know at about the same time. */
export class NodeSummaries {
  readonly #options: NodeSummariesOptions;
  readonly #recent = new Map<string, { at: number; freshMs: number; answer: Promise<Answer> }>();

  constructor(options: NodeSummariesOptions) {
    this.#options = options;
  }

  /** One answer per node, in their order; a node that is gone or late does not keep the others from being told. */
  of(nodes: readonly KubeObject[]): Promise<Answer[]> {
    this.#forgetOld();
    return Promise.all(nodes.map((node) => this.#answer(node)));
  }

  #answer(node: KubeObject): Promise<Answer> {
    const name = node.metadata.name!;
    const known = this.#recent.get(name);
    if (known) return known.answer;
    const entry = { at: this.#options.clock.monotonic(), freshMs: FRESH_MS, answer: this.#ask(name, node) };
    this.#recent.set(name, entry);
    void entry.answer.then((answer) => {
      if (!('summary' in answer) || answer.summary.node === undefined) entry.freshMs = INCOMPLETE_MS;
    });
    return entry.answer;
  }

  async #ask(name: string, node: KubeObject): Promise<Answer> {
    try {
      return { node: name, summary: readSummary(await this.#options.fetch(node)) };
    } catch (error) {
      return { node: name, failure: errorText(error) };
    }
  }

  #forgetOld(): void {
    const now = this.#options.clock.monotonic();
    for (const [name, { at, freshMs }] of this.#recent) if (now - at >= freshMs) this.#recent.delete(name);
  }
}
