import { RETRY_ANNOTATION } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { formatTime } from '../../../../kube/time.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { wantedVersion } from '../model/wanted-version.ts';

export interface AcceptedPorts {
  isTenant(namespace: string): boolean;
  versionsOf(publisher: string, plugin: string): PluginVersion[];
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
      if (!('version' in wanted)) return stalled(wanted.reason, wanted.message);
      const version = ports.version(pluginVersionName(spec.publisher, spec.plugin, wanted.version));
      if (!version) {
        const message = `Cannot install "${spec.plugin}" ${wanted.version}: "${spec.publisher}" has not published it`;
        return stalled(InstallationReason.VersionNotFound, message);
      }
      aimAt(installation, wanted.version, now());
      return done('Accepted', `version ${wanted.version}`);
    },
  };
}

function aimAt(installation: PluginInstallation, version: string, now: number): void {
  const status = (installation.status ??= {});
  if (status.target?.version !== version) status.target = { version, since: formatTime(new Date(now)) };
  if (installation.spec.rollback) status.observedRollback = installation.spec.rollback.request;
}

/** A version that was taken back is forgotten once another is wanted, or somebody wants it all the same. */
function forgetRejected({ metadata, spec, status }: PluginInstallation): void {
  if (!status) return;
  const retry = metadata.annotations?.[RETRY_ANNOTATION];
  const isAskedAgain = retry !== undefined && retry !== status.observedRetry;
  if (isAskedAgain) status.observedRetry = retry;
  const isOther = spec.version !== undefined && spec.version !== status.rejected?.version;
  if (isAskedAgain || isOther || spec.rollback) delete status.rejected;
}
