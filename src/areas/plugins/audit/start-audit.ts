import { CrossTenantAttemptKind } from '../../../api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import type { Timer } from '../../../lib/clock.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { apiSource } from './api-source.ts';
import { AttemptRecorder } from './attempt-recorder.ts';
import { DatabaseSource } from './database-source.ts';
import { networkSource } from './network-source.ts';
import { PluginOwners } from './plugin-owners.ts';

const FORGET_EVERY_MS = 3600_000;

export interface Audit {
  recorder: AttemptRecorder;
  owners: PluginOwners;
  stop(): Promise<void>;
}

/** Follows whoever refuses plugins something, and keeps what they tried. */
export function startAudit(environment: PluginsEnvironment, parts: Pick<InstallationParts, 'installations' | 'pods' | 'database'>): Audit {
  const { client, clock, log, metrics, informers, followRefusals } = environment;
  const recorder = new AttemptRecorder({ client, clock, log, metrics, attempts: informers.get(CrossTenantAttemptKind) });
  parts.installations.onChange(({ type, object: { metadata, spec } }) => {
    if (type === 'deleted') recorder.forget(metadata.namespace!, spec.plugin);
  });
  const owners = new PluginOwners(parts.installations, parts.pods);
  const report = recorder.report.bind(recorder);
  const flush = () => recorder.flush();
  const sources = [
    ...(followRefusals ? [apiSource(followRefusals, owners, report)] : []),
    networkSource(informers, owners, report, clock.now()),
    new DatabaseSource({ client, clock, log, owners, report, flush, serverLog: () => parts.database.serverLog() }),
  ];
  let timer: Timer;
  // Time alone makes them old.
  const forget = (): void => {
    timer = clock.setTimer(FORGET_EVERY_MS, () => {
      void recorder.forgetOld();
      forget();
    });
  };
  forget();
  return {
    recorder,
    owners,
    async stop() {
      timer.cancel();
      for (const source of sources) await source.stop();
      await recorder.stop();
    },
  };
}
