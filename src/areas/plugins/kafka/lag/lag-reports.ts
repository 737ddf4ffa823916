import { PluginInstallationKind, type PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { isConditionTrue, setCondition } from '../../../../kube/conditions.ts';
import { deepCopy } from '../../../../kube/json-value.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { PluginsEnvironment } from '../../plugins-environment.ts';
import type { EventsOf } from '../plugin-events.ts';
import { judgeLag, LAG_LIMIT_SECONDS, type LagJudgement, type LateGroups } from './judge-lag.ts';
import { LagMetrics } from './lag-metrics.ts';
import type { PartitionLag } from './partition-lag.ts';

type Environment = Pick<PluginsEnvironment, 'client' | 'clock' | 'events' | 'metrics'>;

/** Tells how late plugins are: as metrics, and as the alert `consumer_lag` on the installations, with Prometheus or without. */
export class LagReports {
  readonly #environment: Environment;
  readonly #metrics: LagMetrics;
  /** By the installation's uid. */
  #late = new Map<string, LateGroups>();

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#metrics = new LagMetrics(environment.metrics);
  }

  /** Nothing is known at the moment. Who was late may still be. */
  silence(): void {
    this.#metrics.tell([]);
  }

  async tell(all: readonly EventsOf[], lags: readonly PartitionLag[]): Promise<void> {
    this.#metrics.tell(lags);
    const now = this.#environment.clock.now();
    const before = this.#late;
    this.#late = new Map();
    const byPlugin = new Map<string, PartitionLag[]>();
    for (const lag of lags) {
      const key = `${lag.tenant}/${lag.plugin}`;
      byPlugin.set(key, [...(byPlugin.get(key) ?? []), lag]);
    }
    for (const { installation, target } of all) {
      const own = byPlugin.get(`${target.tenant}/${target.plugin}`) ?? [];
      const judgement = judgeLag(before.get(installation.metadata.uid!) ?? new Map(), own, now);
      this.#late.set(installation.metadata.uid!, judgement.late);
      await this.#report(installation, judgement, now);
    }
  }

  /** Raised by time, ended by a look that finds nobody late: a restart of ours in between changes neither. */
  async #report(installation: PluginInstallation, { late, raised }: LagJudgement, now: number): Promise<void> {
    const wasRaised = isConditionTrue(installation.status?.conditions, InstallationCondition.ConsumerLag);
    if (wasRaised ? late.size > 0 : raised.length === 0) return;
    const message = raised.map(({ group, since }) => `${group} since ${formatTime(new Date(since))}`).join(', ');
    const told = wasRaised ? 'events are read again' : `events wait for more than ${LAG_LIMIT_SECONDS} s for ${message}`;
    if (!(await this.#write(installation, !wasRaised, told, now))) return;
    const type = wasRaised ? 'Normal' : 'Warning';
    const reason = wasRaised ? InstallationReason.LagNormal : InstallationReason.LagHigh;
    this.#environment.events.record(installation, { type, reason, action: 'consumer_lag', message: told });
  }

  /** @returns whether it was written; somebody who was faster is asked again at the next look */
  async #write({ metadata, status }: PluginInstallation, isRaised: boolean, message: string, now: number): Promise<boolean> {
    const conditions = deepCopy(status?.conditions ?? []);
    const reason = isRaised ? InstallationReason.LagHigh : InstallationReason.LagNormal;
    const condition = { type: InstallationCondition.ConsumerLag, status: isRaised ? 'True' : 'False', reason, message } as const;
    setCondition(conditions, { ...condition, observedGeneration: metadata.generation }, new Date(now));
    const patch = { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions } };
    try {
      const resource = this.#environment.client.resource(PluginInstallationKind, metadata.namespace);
      await resource.status.patch(metadata.name!, { type: 'merge', patch }, { fieldManager: 'tenantry-plugin-events' });
      return true;
    } catch (error) {
      if (isStatusError(error, 'Conflict') || isStatusError(error, 'NotFound')) return false;
      throw error;
    }
  }
}
