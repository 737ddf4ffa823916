import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import type { EventBroker } from './event-broker.ts';
import { LagReports } from './lag/lag-reports.ts';
import type { BrokerSettings } from './model/broker-settings.ts';
import { refusalIn, type BrokerRefusal } from './refusals/denied-line.ts';
import { LogTail } from './refusals/log-tail.ts';
import { typesOf, type EventsOf, type PluginEvents } from './plugin-events.ts';
import { clientPrefixOf, topicOf } from './model/event-names.ts';
import type { LagQuestion } from './lag/partition-lag.ts';

/** No broker tells what changed in it, nor how long an event waits. */
const LOOK_EVERY_MS = 30_000;
const LOOK = 'look';

export interface UpkeepParts {
  installations: Informer<PluginInstallation>;
  /** The platform's. */
  settings: Informer;
  events: Pick<PluginEvents, 'drifted'>;
  broker(): Promise<EventBroker | undefined>;
  /** What an installation has at the broker; undefined when that cannot be said at the moment. */
  eventsOf(installation: PluginInstallation): EventsOf | undefined;
  /** The platform's settings as Kafka's. @throws BrokerSettingsError */
  brokerSettings(): BrokerSettings | undefined;
  /** Takes what the broker refused plugins, as far as it is told. */
  report(refusal: BrokerRefusal): void;
  /** Has the steps of an installation run. */
  wake(key: string): void;
}

/** Looks after what plugins have at the broker: a handful of requests for all of them together. */
export function eventsUpkeepController(environment: PluginsEnvironment, parts: UpkeepParts): Controller {
  const { clock, log } = environment;
  const reports = new LagReports(environment);
  const tail = new LogTail();
  let nextLook = 0;
  const reconcile = async (): Promise<ReconcileResult | void> => {
    const remaining = nextLook - clock.monotonic();
    if (remaining > 0) return { afterMs: remaining };
    const all = [...parts.installations.list()].filter(hasEvents).flatMap((installation) => parts.eventsOf(installation) ?? []);
    if (all.length === 0) {
      await reports.tell([], []);
      return undefined;
    }
    nextLook = clock.monotonic() + LOOK_EVERY_MS;
    await tellRefusals(tail, parts, clock.now()).catch((error: unknown) => log.warn('cannot read what the broker refused', { error }));
    try {
      const broker = await parts.broker();
      if (broker) await look(broker, all, parts, reports, clock.now());
    } catch (error) {
      // The installations themselves say it as soon as one of them needs the broker.
      log.warn('cannot look after the events of plugins', { error });
      reports.silence();
    }
    return { afterMs: LOOK_EVERY_MS };
  };
  return new Controller({ ...environment, name: 'plugin-events', reconcile })
    .watch(parts.installations, ({ object }) => (hasEvents(object) ? [LOOK] : []))
    .watch(parts.settings, () => [LOOK]);
}

async function look(broker: EventBroker, all: readonly EventsOf[], parts: UpkeepParts, reports: LagReports, now: number): Promise<void> {
  for (const { installation } of await parts.events.drifted(all, broker, now)) parts.wake(keyOf(installation));
  const questions = all.flatMap(questionOf);
  await reports.tell(all, questions.length === 0 ? [] : await broker.lags(questions));
}

/** A broker tells nobody whom it refused but its own log; where that can be read it is. */
async function tellRefusals(tail: LogTail, { brokerSettings, report }: UpkeepParts, now: number): Promise<void> {
  const path = brokerSettings()?.authorizerLog;
  if (path === undefined) return;
  for (const line of await tail.read(path)) {
    const refusal = refusalIn(line, now);
    if (refusal) report(refusal);
  }
}

/** Who is suspended is not expected to read. */
function questionOf({ installation, target, versions }: EventsOf): LagQuestion[] {
  const { tenant, plugin, isSuspended } = target;
  const { consumes } = typesOf(versions);
  if (isSuspended || consumes.length === 0) return [];
  const topics = consumes.map((type) => topicOf(tenant, type));
  const since = Date.parse(installation.metadata.creationTimestamp ?? '') || 0;
  return [{ tenant, plugin, topics, groupPrefix: clientPrefixOf(tenant, plugin), since }];
}

function hasEvents({ metadata, status }: PluginInstallation): boolean {
  const ready = findCondition(status?.conditions, InstallationCondition.EventsReady);
  return metadata.deletionTimestamp === undefined && ready?.status === 'True' && ready.reason !== InstallationReason.NotNeeded;
}
