import { PULL_SECRET_LABEL } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Secret } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { DataClaims } from '../../claims/data-claims.ts';
import { resolveSecrets } from '../../secrets/resolve-secrets.ts';
import type { SecretBackend } from '../../secrets/secret-backend.ts';
import { PULL_SECRET, SECRETS_SECRET } from '../../workload/deployment.ts';
import { labelsOf, type Target } from '../model/target.ts';
import type { PluginObjects } from '../plugin-objects.ts';

export interface SecretsPorts {
  target(installation: PluginInstallation): Target;
  /** All versions that run, the wanted one among them. */
  versions(installation: PluginInstallation, target: Target): readonly Target[];
  keep: PluginObjects['keep'];
  backend: Pick<SecretBackend, 'fetch' | 'read' | 'howToPut'>;
  /** Whose secrets the tenant has. */
  claims: Pick<DataClaims, 'claim'>;
  /** An image pull Secret of the platform's namespace that the publisher may use. */
  pullSecret(name: string, publisher: string): KubeObject | undefined;
}

/** What the plugin may know is in its namespace, and nothing else of the backend. */
export function secretsResolved({ target, versions, keep, backend, claims, pullSecret }: SecretsPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.SecretsResolved,
    async run(installation) {
      const wanted = target(installation);
      const { plugin, publisher, namespace, manifest } = wanted;
      const others = versions(installation, wanted).filter(({ version }) => version.metadata.name !== wanted.version.metadata.name);
      const unavailable = await backend.fetch([wanted, ...others]);
      if (unavailable) return unavailable;
      const { data, missing } = resolveSecrets(wanted, backend);
      if (missing.length > 0) {
        const message = `Cannot install "${plugin}": there is no secret at ${missing.join(', ')}; ${backend.howToPut(missing[0].split(' ')[0])}`;
        return waiting(InstallationReason.SecretMissing, message);
      }
      const { imagePullSecret } = manifest.spec.runtime;
      const pull = imagePullSecret === undefined ? undefined : pullSecret(imagePullSecret, publisher);
      if (imagePullSecret !== undefined && !pull) {
        const message = `Cannot install "${plugin}": tenantry-system has no image pull Secret "${imagePullSecret}" for "${publisher}"; make it, with the label ${PULL_SECRET_LABEL}=${publisher}`;
        return waiting(InstallationReason.PullSecretMissing, message);
      }
      const taken = Object.keys(data).length > 0 ? await claims.claim('secrets', wanted) : undefined;
      if (taken) return taken;
      const secret = (name: string, type: string, content: object): KubeObject => {
        return { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels: labelsOf(wanted, 'secrets') }, type, data: content };
      };
      // A version that still answers requests keeps what it has; what it lacks is no reason to hold up the wanted one.
      const all = Object.assign({}, ...others.map((each) => resolveSecrets(each, backend).data), data) as Record<string, string>;
      await keep(Secret, namespace, 'secrets', [
        ...(Object.keys(all).length > 0 ? [secret(SECRETS_SECRET, 'Opaque', all)] : []),
        ...(pull ? [secret(PULL_SECRET, pull['type'], pull.data)] : []),
      ]);
      return (manifest.spec.secrets ?? []).length === 0 ? done(InstallationReason.NotNeeded) : done();
    },
  };
}
