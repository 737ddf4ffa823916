import { BUILT_IN_LABEL } from '../areas/runs/built-in-runtimes.ts';
import { RUNS_USER } from '../areas/runs/runs-rights.ts';
import type { Client } from '../client/client.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import type { ExporterSettings } from '../lib/tracing/exporter-settings.ts';
import type { NodeMode } from './node-supervisor.ts';
import { productVersion } from './product-version.ts';

/** The runs area starts with the first Run, or the first Runtime that somebody made. */
export function runsOnDemand(
  clientAs: (user: { name: string; groups: string[] }) => Client,
  nodeMode: Exclude<NodeMode, 'none'> | undefined,
  traces?: ExporterSettings,
): OnDemand {
  return {
    resources: ['kruntimes.io/runs', 'kruntimes.io/runtimes'],
    calls: ({ metadata }) => metadata.labels?.[BUILT_IN_LABEL] === undefined,
    async load() {
      const [{ startRuns }, sandboxes] = await Promise.all([import('../areas/runs/start-runs.ts'), sandboxesOn(nodeMode)]);
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
      const client = clientAs({ name: RUNS_USER, groups });
      const image = (name: string) => `tenantry.dev/${name}:${productVersion()}`;
      const settings = { runtimedImage: image('runtimed'), maintainerImage: image('runtime-maintainer'), ...sandboxes };
      return ({ clock, log, metrics = new MetricsRegistry() }) => startRuns({ client, clock, log, metrics, settings, traces });
    },
  };
}

/** What the Pods of this machine can do to keep Runs apart. */
async function sandboxesOn(nodeMode: Exclude<NodeMode, 'none'> | undefined) {
  if (nodeMode === undefined) return {};
  const { builtInIsolation } = await import('./built-in-isolation.ts');
  return { builtInIsolation: await builtInIsolation(nodeMode), sandboxesNeedNoRights: process.getuid?.() !== 0 };
}
