import { RunKind, type Run } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import type { Client } from '../../src/client/client.ts';

export const CONCURRENCY = 32;

/** Sees every end by the clock of the one who waits. */
export class Ends {
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  async follow(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
    const runs = client.resource(RunKind, namespace);
    const { metadata } = await runs.list({ limit: 1 });
    const watch = async () => {
      for await (const update of runs.watch({ resourceVersion: metadata.resourceVersion, signal })) {
        if (!('object' in update) || update.object.status?.completionTime === undefined) continue;
        const { name } = update.object.metadata;
        if (update.object.status.phase !== 'Succeeded') throw new Error(`Run ${name}: ${JSON.stringify(update.object.status)}`);
        this.#seen.set(name!, performance.now());
        this.#waiting.get(name!)?.();
      }
    };
    watch().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  async of(name: string): Promise<number> {
    if (!this.#seen.has(name)) await new Promise<void>((resolve) => this.#waiting.set(name, resolve));
    this.#waiting.delete(name);
    return this.#seen.get(name)!;
  }
}

export async function createRuntime(
  client: Client,
  namespace: string,
  name: string,
  isolation: 'shared' | 'process',
  atOnce = CONCURRENCY,
): Promise<void> {
  await client.resource(RuntimeKind, namespace).create({
    metadata: { name },
    spec: {
      template: { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash' }] } },
      capacity: { resources: { runs: atOnce } },
      replicas: 1,
      warmWorkers: atOnce,
      isolation,
    },
  });
}

export function aRun(name: string, runtime: string): Omit<Run, 'apiVersion' | 'kind'> & { metadata: { name: string } } {
  return { metadata: { name }, spec: { runtime, mode: { task: { args: ['true'] } } } };
}

export interface Work {
  client: Client;
  namespace: string;
  ends: Ends;
  runtime: string;
}

/** @returns Runs per second, from the first creation to the last end */
export async function throughput({ client, namespace, ends, runtime }: Work, label: string, count: number): Promise<number> {
  const started = performance.now();
  let next = 0;
  const creator = async () => {
    for (let i = next++; i < count; i = next++) await client.resource(RunKind, namespace).create(aRun(`${label}-${i}`, runtime));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, creator));
  const times = await Promise.all(Array.from({ length: count }, (_, i) => ends.of(`${label}-${i}`)));
  return count / ((Math.max(...times) - started) / 1000);
}

/** One Run at a time, with rests between them. @returns how long each took, sorted */
export async function latencies({ client, namespace, ends, runtime }: Work, label: string, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    const started = performance.now();
    await client.resource(RunKind, namespace).create(aRun(`${label}-${i}`, runtime));
    found.push((await ends.of(`${label}-${i}`)) - started);
  }
  return found.toSorted((a, b) => a - b);
}

export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
