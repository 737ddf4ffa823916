import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { Target } from '../model/target.ts';

/** Only what was verified is installed, and only by its digest. */
export function signatureVerified(target: (installation: PluginInstallation) => Target): Step<PluginInstallation> {
  return {
    name: InstallationCondition.SignatureVerified,
    run(installation) {
      const { version } = target(installation);
      const { phase, image, conditions, observedGeneration } = version.status ?? {};
      const name = version.metadata.name!;
      if (phase === undefined || observedGeneration === undefined) {
        return waiting(InstallationReason.VersionNotVerified, `the signature of ${name} is being looked at`);
      }
      if (phase === 'VERIFIED' && image !== undefined && /@sha256:[0-9a-f]{64}$/.test(image)) return done('Verified', image);
      const ready = findCondition(conditions, 'Ready');
      if (ready?.reason === VersionReason.ImageUnavailable) return waiting(InstallationReason.VersionNotVerified, ready.message);
      const why = ready?.message || `it is ${phase}`;
      return stalled(InstallationReason.SignatureInvalid, `Cannot install "${name}": ${why}`);
    },
  };
}
