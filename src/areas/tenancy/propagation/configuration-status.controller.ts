import { HncConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { nextTurn } from '../../../runtime/informer/reflector.ts';
import type { TreeCondition } from '../forest/tree-namespace.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import {
  badConfiguration,
  namespaceConditions,
  resourceStatus,
  timedConditions,
  type ConfigurationStatus,
  type TypeCounts,
} from './model/configuration-status.ts';
import type { ConfiguredType } from './model/configured-types.ts';
import type { LiveType } from './live-type.ts';

/** Counts change with every copy; they are written together. */
const GATHER_MS = 300;
const NAMESPACES_PER_TURN = 200;

/** Makes the configuration when there is none, and says in it what is done and what is wrong. */
export function configurationStatusController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { client, clock, log, metrics, informers, forest, types } = environment;
  const configurations = informers.get(HncConfigurationKind);
  const controller = new Controller({ name: 'hnc-configuration', clock, log, metrics, reconcile });
  const soon = (): void => controller.queue.addAfter(CONFIG_NAME, GATHER_MS);

  async function reconcile(): Promise<void> {
    const affected = await namespacesWithConditions();
    const existing = configurations.get(CONFIG_NAME);
    const status = statusNow(existing?.status, affected);
    if (existing && deepEqual(existing.status, status)) return;
    const resource = client.resource(HncConfigurationKind);
    if (existing) await resource.update({ ...existing, status });
    else await resource.create({ metadata: { name: CONFIG_NAME }, spec: {}, status }).catch(ignoreExisting);
  }

  function statusNow(
    before: ConfigurationStatus | undefined,
    affected: { name: string; conditions: readonly TreeCondition[] }[],
  ): ConfigurationStatus {
    const resources = types.configured.map((type) => resourceStatus(type, countsOf(type, before)));
    const conditions = timedConditions(
      [...badConfiguration(types.entries), ...namespaceConditions(affected)],
      before?.conditions,
      new Date(clock.now()),
    );
    return conditions.length > 0 ? { resources, conditions } : { resources };
  }

  /** Until everything that exists is known, what was known before. */
  function countsOf(type: ConfiguredType, before: ConfigurationStatus | undefined): TypeCounts | undefined {
    const live = types.find(type.kind.group, type.kind.plural);
    if (live?.informer.synced) return live.counts((namespace) => forest.get(namespace)?.isManaged ?? false);
    const known = before?.resources?.find(({ group, resource }) => group === type.group && resource === type.resource);
    return { copies: known?.numPropagatedObjects ?? 0, sources: known?.numSourceObjects ?? 0 };
  }

  async function namespacesWithConditions() {
    const found: { name: string; conditions: readonly TreeCondition[] }[] = [];
    let handled = 0;
    for (const name of forest.names()) {
      const conditions = forest.get(name)?.conditions ?? [];
      if (conditions.length > 0) found.push({ name, conditions });
      if (++handled % NAMESPACES_PER_TURN === 0) await nextTurn();
    }
    return found;
  }

  const stops: (() => void)[] = [];
  function follow({ informer }: LiveType): void {
    const stop = new AbortController();
    stops.push(informer.onChange(soon), () => stop.abort());
    informer.whenSynced(stop.signal).then(soon, () => {});
  }

  return {
    start() {
      for (const type of types.live()) follow(type);
      stops.push(forest.onChange(soon));
      stops.push(
        types.onChange(({ started }) => {
          for (const type of started) follow(type);
          soon();
        }),
      );
      controller.watch(configurations, () => [CONFIG_NAME]);
      controller.queue.add(CONFIG_NAME);
      controller.start();
    },
    async stop() {
      for (const stop of stops.splice(0)) stop();
      await controller.stop();
    },
  };
}

function ignoreExisting(error: unknown): void {
  if (!isStatusError(error, 'AlreadyExists')) throw error;
}
