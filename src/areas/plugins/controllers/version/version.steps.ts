import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Publisher } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import type { RegistryCredential } from '../../../../lib/oci/credentials.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ImageRegistry } from '../../verification/image-evidence.ts';
import { imageResolved } from './image-resolved.step.ts';
import { manifestValid } from './manifest-valid.step.ts';
import { publisherKnown } from './publisher-known.step.ts';
import { signatureVerified } from './signature-verified.step.ts';
import { userAccepted } from './user-accepted.step.ts';

export interface VersionPorts {
  publisher(name: string): Publisher | undefined;
  registry: ImageRegistry;
  /** For `spec.runtime.imagePullSecret`. @throws when there is no such Secret for the publisher */
  credentials(version: PluginVersion): Promise<RegistryCredential[]>;
}

/** Registries tell nobody when something changes in them: as long as something is missing they are asked again after so long. */
export const ASK_AGAIN_MS = 60_000;

/** From what a publisher wrote to an image that may run. */
export function versionSteps({ publisher, registry, credentials }: VersionPorts): Step<PluginVersion>[] {
  return [
    manifestValid(),
    publisherKnown(publisher),
    imageResolved(registry.resolve, credentials),
    signatureVerified(publisher, registry.candidates, credentials),
    userAccepted(registry.users, credentials),
  ];
}
