import { HncConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { CustomResourceDefinition } from '../../../client/kinds.ts';
import { timeoutSignal } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { TenancyStart } from '../tenancy-environment.ts';
import { ENFORCED_TYPES, findIn, resolveEntries, type FindResource, type ResourceEntry } from './model/configured-types.ts';
import { PropagatedTypes } from './propagated-types.ts';

/** Discovery cannot be watched, and lags behind the definitions that can be. */
const LOOK_AGAIN_MS = 2000;

/** A type that cannot be read, because its own webhook is broken for example, must not keep everything else from starting. */
const PATIENCE_MS = 5000;

export interface FollowedConfiguration {
  types: PropagatedTypes;
  stop(): Promise<void>;
}

/** The types that are propagated, as the stored configuration says; resolves when their objects are known. */
export async function followConfiguration(options: TenancyStart & { informers: SharedInformers }): Promise<FollowedConfiguration> {
  const { client, clock, log, metrics, informers } = options;
  const types = new PropagatedTypes({ client, log });
  const configurations = informers.get(HncConfigurationKind);
  let applied = (): void => {};
  const first = new Promise<void>((resolve) => (applied = resolve));

  const entriesOf = (): readonly ResourceEntry[] => configurations.get(CONFIG_NAME)?.spec?.resources ?? [];
  const controller = new Controller({
    name: 'propagated-types',
    clock,
    log,
    metrics,
    async reconcile(_key, { signal }): Promise<ReconcileResult | void> {
      const entries = entriesOf();
      const resolved = resolveEntries(entries, entries.length > 0 ? await discovered(signal) : () => undefined);
      types.apply(resolved);
      applied();
      if (resolved.some(({ problems }) => problems.includes('NotFound'))) return { afterMs: LOOK_AGAIN_MS };
      return undefined;
    },
  });

  async function discovered(signal: AbortSignal): Promise<FindResource> {
    const { resources, failed } = await client.discovery.resources({ signal });
    const find = findIn(resources);
    const before = types.configured;
    // A group whose server does not answer is not gone.
    const isUnknown = (group: string): boolean => failed.some((version) => version.startsWith(`${group}/`));
    return (resource) => {
      const remembered = before.find((type) => type.group === resource.group && type.resource === resource.resource);
      return find(resource) ?? (isUnknown(resource.group) ? remembered?.kind : undefined);
    };
  }

  controller.watch(configurations, () => [CONFIG_NAME]);
  controller.watch(informers.get(CustomResourceDefinition, { metadataOnly: true }), () => (entriesOf().length > 0 ? [CONFIG_NAME] : []));
  controller.queue.add(CONFIG_NAME);
  controller.start();
  await first;
  await knownOrLate(types, clock);
  return {
    types,
    async stop() {
      await controller.stop();
      await types.stop();
    },
  };
}

async function knownOrLate(types: PropagatedTypes, clock: Clock): Promise<void> {
  await Promise.all(ENFORCED_TYPES.map(({ kind }) => types.find(kind.group, kind.plural)!.informer.whenSynced()));
  const patience = timeoutSignal(clock, PATIENCE_MS);
  try {
    await types.whenSynced(patience.signal);
  } catch (error) {
    if (!patience.signal.aborted) throw error;
  } finally {
    patience.dispose();
  }
}
