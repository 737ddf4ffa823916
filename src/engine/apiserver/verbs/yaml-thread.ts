import { Worker } from 'node:worker_threads';
import { badRequestError, failure } from '../../../kube/status.ts';
import { builtProgram } from '../../../lib/built-program.ts';

/** A parser written for people's files takes a second for a hostile megabyte: it works in a thread of its own, away from the event loop. */
const MAX_YAML_BYTES = 1024 * 1024;
const PATIENCE_MS = 10_000;
const IDLE_MS = 30_000;

export interface YamlText {
  /** The document as JSON text. */
  json: Uint8Array;
  duplicates: string[];
}

interface Answer {
  id: number;
  json?: string;
  duplicates?: string[];
  problem?: string;
}

interface Waiting {
  resolve(answer: Answer): void;
  patience: NodeJS.Timeout;
}

class YamlThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = 0;

  convert(text: string): Promise<Answer> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const id = ++this.#last;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage({ id, text });
    return new Promise((resolve) => {
      const patience = setTimeout(() => this.#end('error converting YAML to JSON: it takes too long to read'), PATIENCE_MS);
      this.#waiting.set(id, { resolve, patience });
    });
  }

  #start(): Worker {
    const worker = new Worker(builtProgram('yaml-worker.js')!, { resourceLimits: { maxOldGenerationSizeMb: 256 }, execArgv: [], env: {} });
    worker.on('message', (answer: Answer) => this.#answered(answer));
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#end(`error converting YAML to JSON: ${error.message}`);
    });
    // Listening for messages takes a reference again, so this comes last: an idle thread must not keep a stopped server alive.
    worker.unref();
    return worker;
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    this.#waiting.delete(answer.id);
    clearTimeout(waiting.patience);
    waiting.resolve(answer);
    if (this.#waiting.size === 0) this.#idle = setTimeout(() => this.#end('idle'), IDLE_MS).unref();
  }

  /** Ends the thread; whoever still waits is told why. The next text starts another. */
  #end(problem: string): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    for (const [id, { resolve, patience }] of this.#waiting) {
      clearTimeout(patience);
      resolve({ id, problem });
    }
    this.#waiting.clear();
  }
}

let thread: YamlThread | null | undefined;

/** @throws StatusError */
export async function yamlToJson(bytes: Uint8Array): Promise<YamlText> {
  if (bytes.byteLength > MAX_YAML_BYTES) {
    throw failure('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_YAML_BYTES} for YAML; send JSON`, {});
  }
  const text = Buffer.from(bytes).toString('utf8');
  if (thread === undefined) thread = builtProgram('yaml-worker.js') === undefined ? null : new YamlThread();
  if (thread === null) {
    const { parseYamlText } = await import('./yaml-body.ts');
    const { value, duplicates } = parseYamlText(text);
    return { json: Buffer.from(JSON.stringify(value ?? null)), duplicates };
  }
  const { json, duplicates = [], problem } = await thread.convert(text);
  if (json === undefined) throw badRequestError(problem ?? '');
  return { json: Buffer.from(json, 'utf8'), duplicates };
}
