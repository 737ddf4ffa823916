import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { done } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ImageRegistry } from '../../verification/image-evidence.ts';
import { askingRegistry } from './registry-outcome.ts';
import { VersionCondition } from './version-conditions.ts';
import type { VersionPorts } from './version.steps.ts';

/** What the tag means is asked once. From then on only the digest counts, wherever the tag moves. */
export function imageResolved(resolve: ImageRegistry['resolve'], credentials: VersionPorts['credentials']): Step<PluginVersion> {
  return {
    name: VersionCondition.ImageResolved,
    run(version, { signal }) {
      const known = version.status?.image;
      if (known !== undefined) return done('Resolved', known);
      const { image } = version.spec.manifest.spec.runtime;
      return askingRegistry(image, async () => {
        const resolved = await resolve(image, await credentials(version), signal);
        version.status = { ...version.status, image: resolved };
        return done('Resolved', resolved);
      });
    },
  };
}
