import { RETRY_ANNOTATION } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { removeCondition, setCondition } from '../../../../kube/conditions.ts';
import { formatTime } from '../../../../kube/time.ts';
import { done, stalled, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { secureRoutes, weightOf, type SafetyPorts } from '../../rollout/traffic-safe.step.ts';
import { takeBack } from '../../rollout/take-back.ts';
import { isRollingBack, isSameVersion, wantedVersion, type Wanted } from '../model/wanted-version.ts';

export interface AcceptedPorts extends Pick<SafetyPorts, 'versionsOf' | 'deployment'> {
  isTenant(namespace: string): boolean;
  version(name: string): PluginVersion | undefined;
}

/** It is in a tenant, and it is clear which version it should run. */
export function accepted(ports: AcceptedPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.Accepted,
    run(installation, { now }) {
      const { metadata, spec } = installation;
      if (!ports.isTenant(metadata.namespace!)) {
        const message = `Cannot install "${spec.plugin}": ${metadata.namespace} is not the root namespace of a tenant; make the installation there`;
        return stalled(InstallationReason.NotATenant, message);
      }
      forgetRejected(installation);
      const wanted = wantedVersion(installation, ports.versionsOf(spec.publisher, spec.plugin));
      noteRefusal(installation, wanted, now());
      if (!('version' in wanted)) return stalled(wanted.reason, wanted.message);
      const version = ports.version(pluginVersionName(spec.publisher, spec.plugin, wanted.version));
      if (!version) return missing(ports, installation, wanted.version, now());
      // As it calls itself: what is asked for may have build metadata.
      aimAt(installation, version.spec.version, now());
      return done('Accepted', `version ${version.spec.version}`);
    },
  };
}

/** Requests that go to a version that nobody published any more go back, and so do those of an upgrade that was left for it. */
function missing(ports: AcceptedPorts, installation: PluginInstallation, version: string, now: number): Outcome {
  const { spec, status } = installation;
  const message = `"${spec.publisher}" has not published it`;
  if (status?.target?.version === version && weightOf(installation, version) > 0) {
    const taken = takeBack(ports, installation, { reason: InstallationReason.VersionNotFound, message: `${message} any more` }, now);
    if (taken?.type === 'waiting') return taken;
  }
  secureRoutes(ports, installation, undefined, now);
  return stalled(InstallationReason.VersionNotFound, `Cannot install "${spec.plugin}" ${version}: ${message}`);
}

/** One refusal for each request: what becomes possible later is done when somebody asks again. */
function noteRefusal({ metadata, spec, status }: PluginInstallation, wanted: Wanted, now: number): void {
  if (!status) return;
  if ('version' in wanted && wanted.refusal) {
    const { reason, message } = wanted.refusal;
    const type = InstallationCondition.RollbackAccepted;
    status.refusedRollback = spec.rollback!.request;
    setCondition(
      (status.conditions ??= []),
      { type, status: 'False', reason, message, observedGeneration: metadata.generation },
      new Date(now),
    );
  } else if (spec.rollback === undefined || spec.rollback.request !== status.refusedRollback) {
    delete status.refusedRollback;
    removeCondition(status.conditions ?? [], InstallationCondition.RollbackAccepted);
  }
}

function aimAt(installation: PluginInstallation, version: string, now: number): void {
  const status = (installation.status ??= {});
  const since = formatTime(new Date(now));
  if (status.target?.version !== version) status.target = { version, since, stepSince: since };
  if (!isRollingBack(installation)) return;
  status.observedRollback = installation.spec.rollback!.request;
  delete status.rejected;
}

/** A version that was taken back is forgotten once another is wanted, or somebody wants it all the same. */
function forgetRejected({ metadata, spec, status }: PluginInstallation): void {
  if (!status) return;
  const retry = metadata.annotations?.[RETRY_ANNOTATION];
  const isAskedAgain = retry !== undefined && retry !== status.observedRetry;
  if (isAskedAgain) status.observedRetry = retry;
  const isOther = spec.rollback === undefined && spec.version !== undefined && !isSameVersion(spec.version, status.rejected?.version);
  if (isAskedAgain || isOther) delete status.rejected;
}
