import { readFile } from 'node:fs/promises';
import { RunKind } from '../api/kruntimes.io/v1alpha1/run.ts';
import { RUNS_USER } from '../areas/runs/runs-rights.ts';
import { createClient } from '../client/client.ts';
import { certificateCredentials } from '../client/config/credentials.ts';
import { createHttpTransport } from '../client/http/http-transport.ts';
import { CustomResourceDefinition } from '../client/kinds.ts';
import { Backoff } from '../lib/backoff.ts';
import { realClock, type Clock, type Timer } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { SharedInformers } from '../runtime/informer/shared-informers.ts';
import { productVersion } from './product-version.ts';

/**
 * The controllers of Runs beside the API server of one tenant, for one that has none built in. They start when somebody makes the Kinds known,
 * which is when the tenant's Runs are placed there; until then it is one watch for one object.
 */
export function startRunsBeside(server: { address: string; port: number }, keys: string, log: Log): { stop(): Promise<void> } {
  const pem = (name: string) => readFile(`${keys}/${name}`, 'utf8');
  const transport = createHttpTransport({
    endpoint: { url: new URL(`https://${server.address}:${server.port}`) },
    ca: () => pem('ca.crt'),
    credentials: certificateCredentials(async () => ({ cert: await pem('admin.crt'), key: await pem('admin.key') })),
  });
  // With the rights of the area and no more.
  const client = createClient(transport, { headers: { 'Impersonate-User': RUNS_USER } });
  const administrator = createClient(transport);
  const informers = new SharedInformers({ client: administrator, log });
  const fieldSelector = `metadata.name=${RunKind.plural}.${RunKind.group}`;
  const start = async () => {
    const { startRuns } = await import('../areas/runs/start-runs.ts');
    const image = (name: string) => `tenantry.dev/${name}:${productVersion()}`;
    const settings = { runtimedImage: image('runtimed'), maintainerImage: image('runtime-maintainer') };
    return startRuns({ client, clock: realClock, log, metrics: new MetricsRegistry(), settings });
  };
  const runs = startedOnce(start, realClock, log);
  informers.get(CustomResourceDefinition, { fieldSelector, metadataOnly: true }).onChange(({ type }) => {
    if (type !== 'deleted') runs.begin();
  });
  return {
    async stop() {
      await runs.stop();
      await informers.stop();
      await client.close();
    },
  };
}

const RETRY = { initialMs: 1000, maxMs: 60_000 };

/** Begins with the first word, and once: what cannot be started now is tried again, without another word. */
export function startedOnce(
  start: () => Promise<{ stop(): Promise<void> }>,
  clock: Clock,
  log: Log,
): { begin(): void; stop(): Promise<void> } {
  const backoff = new Backoff(RETRY);
  let running: Promise<{ stop(): Promise<void> } | undefined> | undefined;
  let again: Timer | undefined;
  let stopped = false;
  const begin = (): void => {
    if (running !== undefined || again !== undefined || stopped) return;
    running = start().catch((error: unknown) => {
      const waitMs = backoff.next();
      log.error('cannot start the controllers of Runs, will try again', { waitMs: Math.round(waitMs), error });
      running = undefined;
      if (stopped) return undefined;
      again = clock.setTimer(waitMs, () => {
        again = undefined;
        begin();
      });
      return undefined;
    });
  };
  return {
    begin,
    async stop() {
      stopped = true;
      again?.cancel();
      await (await running)?.stop();
    },
  };
}
