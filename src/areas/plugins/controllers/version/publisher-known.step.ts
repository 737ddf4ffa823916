import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Publisher } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { imageReference } from '../../../../lib/oci/repository.ts';
import { repositoryName } from '../../../../lib/oci/reference.ts';
import { done, stalled, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { isInside, isPrivate } from '../../network/private-ranges.ts';
import { VersionCondition } from './version-conditions.ts';

/** The publisher exists, the image is from where its images come from, and it reaches nothing private that nobody allowed. */
export function publisherKnown(publisherOf: (name: string) => Publisher | undefined): Step<PluginVersion> {
  return {
    name: VersionCondition.PublisherKnown,
    run({ spec }) {
      const publisher = publisherOf(spec.publisher);
      if (!publisher) {
        return stalled(VersionReason.PublisherUnknown, `there is no Publisher "${spec.publisher}"; make one with its public key`);
      }
      const { repositories, privateEgress = [] } = publisher.spec;
      const name = repositoryName(imageReference(spec.manifest.spec.runtime.image));
      if (repositories === undefined || repositories.some((prefix) => isBelow(name, prefix))) return egressAllowed(spec, privateEgress);
      return stalled(
        VersionReason.RepositoryNotAllowed,
        `images of "${spec.publisher}" come from ${repositories.join(', ')}, but this is ${name}`,
      );
    },
  };
}

function egressAllowed({ publisher, manifest }: PluginVersion['spec'], allowed: readonly string[]): Outcome {
  const wanted = (manifest.spec.egress?.cidrs ?? []).map(({ cidr }) => cidr);
  const refused = wanted.find((cidr) => isPrivate(cidr) && !isInside(cidr, allowed));
  if (refused === undefined) return done('Known');
  return stalled(
    VersionReason.EgressNotAllowed,
    `it wants to reach ${refused}, which is private; the platform allows that with spec.privateEgress of Publisher "${publisher}"`,
  );
}

/** `registry.example/acme` holds `registry.example/acme/app`, not `registry.example/acme-evil/app`. */
function isBelow(name: string, prefix: string): boolean {
  return name === prefix || name.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}
