import { hostname } from 'node:os';
import { runtimeAccessPolicy } from '../areas/runs/access/runtime-access.ts';
import { runsRights } from '../areas/runs/runs-rights.ts';
import { gatewayRights } from '../areas/plugins/gateway/gateway-rights.ts';
import { pluginsRights } from '../areas/plugins/plugins-rights.ts';
import { admissionRights, tenancyRights } from '../areas/tenancy/tenancy-rights.ts';
import type { ClientAs } from './on-kubernetes.ts';
import type { Client } from '../client/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import { exporterSettings } from '../lib/tracing/exporter-settings.ts';

/** What every area is started with. */
export interface AreaEnvironment {
  client: Client;
  clientAs: ClientAs;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  images: { runtimed: string; maintainer: string };
  /** The registries file; absent: every registry is reached by HTTPS and without a credential. */
  registries?: string;
}

/** A part of the product that can be run on a user's Kubernetes. */
export interface ControllerArea {
  /** The API groups whose definitions it needs. */
  groups: string[];
  /** The rights and rules that come with it; its Lease is in the namespace. */
  objects(namespace: string): KubeObject[];
  start(environment: AreaEnvironment): Promise<{ stop(): Promise<void> }>;
}

/** All that `tenantry controller` can run, by the name that `--area` knows. */
export const CONTROLLER_AREAS: Record<string, ControllerArea> = {
  runs: {
    groups: ['kruntimes.io'],
    objects: (namespace) => [...runsRights(), ...runtimeAccessPolicy(), ...leaseRights('runs', namespace)],
    start: startRunsArea,
  },
  tenancy: {
    groups: ['tenantry.dev', 'hnc.x-k8s.io'],
    objects: (namespace) => [
      ...tenancyRights(),
      ...admissionRights('tenantry-system'),
      ...leaseRights('tenancy', namespace, 'tenantry-system'),
    ],
    start: startTenancyArea,
  },
  plugins: {
    groups: ['plugins.tenantry.dev'],
    objects: (namespace) => [...pluginsRights(), ...gatewayRights(), ...leaseRights('plugins', namespace, 'tenantry-system')],
    start: startPluginsArea,
  },
};

export function leaseOf(area: string): string {
  return `tenantry-${area}`;
}

/** For the account that the rights of an area are given to. A Lease that is yet to be made cannot be named in a rule. */
function leaseRights(area: string, namespace: string, home = 'kube-system'): KubeObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const name = `tenantry:${area}:lease`;
  const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  const rules = [
    { ...lease, resourceNames: [leaseOf(area)], verbs: ['get', 'update'] },
    { ...lease, verbs: ['create'] },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ kind: 'ServiceAccount', name: `tenantry-${area}`, namespace: home }];
  return [
    { apiVersion, kind: 'Role', metadata: { name, namespace }, rules },
    { apiVersion, kind: 'RoleBinding', metadata: { name, namespace }, roleRef, subjects },
  ];
}

async function startRunsArea({ images, ...environment }: AreaEnvironment): Promise<{ stop(): Promise<void> }> {
  const { startRuns } = await import('../areas/runs/start-runs.ts');
  const settings = { runtimedImage: images.runtimed, maintainerImage: images.maintainer };
  return startRuns({ ...environment, settings, traces: exporterSettings(process.env, 'tenantry') });
}

/** Its own rules know it by its account. */
async function startTenancyArea({ clientAs, clock, log, metrics }: AreaEnvironment): Promise<{ stop(): Promise<void> }> {
  const { openTenancy, startTenancyControllers } = await import('../areas/tenancy/start-tenancy.ts');
  const client = await clientAs({ namespace: 'tenantry-system', name: 'tenantry-tenancy' });
  const environment = await openTenancy({ client, clock, log, metrics });
  const controllers = startTenancyControllers(environment);
  return {
    async stop() {
      await controllers.stop();
      await environment.stop();
    },
  };
}

async function startPluginsArea({ clientAs, clock, log, metrics, registries }: AreaEnvironment): Promise<{ stop(): Promise<void> }> {
  const [{ startPlugins }, { pluginRegistry }, client] = await Promise.all([
    import('../areas/plugins/start-plugins.ts'),
    import('./plugin-registry.ts'),
    clientAs({ namespace: 'tenantry-system', name: 'tenantry-plugins' }),
  ]);
  return startPlugins({ client, clock, log, metrics, registry: await pluginRegistry(registries), instance: hostname() });
}
