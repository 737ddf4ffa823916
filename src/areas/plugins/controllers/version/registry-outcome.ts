import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { ManifestError } from '../../../../lib/oci/manifest.ts';
import { RegistryError } from '../../../../lib/oci/registry-error.ts';
import { waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';

const TRY_AGAIN_MS = 30_000;
/** What was found in a registry and makes no sense may be pushed again. */
const LOOK_AGAIN_MS = 60_000;

/** A registry that is down or empty is expected to happen, and told in a condition; anything else is a defect of ours. */
export async function askingRegistry(image: string, ask: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RegistryError)
      return waiting(VersionReason.ImageUnavailable, `Cannot read ${image}: ${error.message}`, TRY_AGAIN_MS);
    if (error instanceof ManifestError) return waiting(VersionReason.ImageInvalid, `Cannot use ${image}: ${error.message}`, LOOK_AGAIN_MS);
    throw error;
  }
}
