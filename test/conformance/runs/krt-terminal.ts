import { vi } from 'vitest';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import type { Session } from '../../../src/cli/terminal/session.ts';
import { CustomResourceDefinition } from '../../../src/client/kinds.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { openCluster, type Cluster } from '../../../src/sdk/cluster.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startRunActor } from '../../support/run-actor.ts';

export interface KrtSetting {
  cluster: Cluster;
  aSession(options?: Partial<Session>): { session: Session; seen: Seen };
  /** Types a command and waits for its end. */
  typed<T>(work: (session: Session) => Promise<T>, options?: Partial<Session>): Promise<{ code: T } & Seen>;
  close(): Promise<void>;
}

export interface Seen {
  out: string;
  err: string;
  /** Ctrl-C. */
  interrupt: () => void;
  isInterruptible: boolean;
}

/** An API server that knows Runs, a Runtime `bash`, somebody who plays runtimed in namespace `default`, and terminals that remember. */
export async function krtSetting(kubeconfig: string): Promise<KrtSetting> {
  const surroundings = { env: {}, home: '/nonexistent', userAgent: 'test', dataDirectory: () => '/nonexistent' };
  const cluster = await openCluster({ kubeconfig }, surroundings);
  const { client } = cluster;
  for (const definition of ownCustomResourceDefinitions()) await client.resource(CustomResourceDefinition).create(definition);
  await vi.waitFor(() => Promise.all([client.resource(RunKind).list(), client.resource(RuntimeKind).list()]), { timeout: 15_000 });
  const actor = startRunActor(client, 'default');
  const containers = [{ name: 'runtime', image: 'example/bash:1' }];
  await client.resource(RuntimeKind, 'default').create({ metadata: { name: 'bash' }, spec: { template: { spec: { containers } } } });
  const aSession = (options: Partial<Session> = {}) => remembering(cluster, options);
  return {
    cluster,
    aSession,
    async typed(work, options) {
      const { session, seen } = aSession(options);
      const code = await work(session);
      return { code, ...seen };
    },
    async close() {
      await actor.stop();
      await client.close();
    },
  };
}

function remembering(cluster: Cluster, options: Partial<Session>): { session: Session; seen: Seen } {
  const seen: Seen = { out: '', err: '', interrupt: () => {}, isInterruptible: false };
  const session: Session = {
    out: (text) => (seen.out += text),
    err: (text) => (seen.err += text),
    isTerminal: false,
    errIsTerminal: false,
    isColoured: false,
    size: () => ({ columns: 120, rows: 20 }),
    read: () => Promise.reject(new Error('no such file')),
    line: () => Promise.resolve(''),
    env: {},
    clock: realClock,
    onInterrupt(listener) {
      seen.interrupt = listener;
      seen.isInterruptible = true;
      return () => (seen.isInterruptible = false);
    },
    cluster,
    namespace: 'default',
    ...options,
  };
  return { session, seen };
}
