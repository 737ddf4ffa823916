import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Publisher } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { setCondition } from '../../../../kube/conditions.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ImageRegistry } from '../../verification/image-evidence.ts';
import { fingerprintOf, judgeSignatures, type GoodSignature } from '../../verification/judge-signatures.ts';
import { askingRegistry } from './registry-outcome.ts';
import { VersionCondition } from './version-conditions.ts';
import { ASK_AGAIN_MS, type VersionPorts } from './version.steps.ts';

/**
 * A key of the publisher that counts has signed the digest. Once found so it is not looked for again while the publisher still has that
 * key and has not revoked it: an end of its validity concerns signatures to come.
 */
export function signatureVerified(
  publisherOf: (name: string) => Publisher | undefined,
  candidatesOf: ImageRegistry['candidates'],
  credentials: VersionPorts['credentials'],
): Step<PluginVersion> {
  return {
    name: VersionCondition.SignatureVerified,
    run(version, { signal, now }) {
      const image = version.status!.image!;
      const digest = image.slice(image.indexOf('@') + 1);
      const publisher = publisherOf(version.spec.publisher)!;
      const recorded = version.status?.signature;
      if (recorded !== undefined && recorded.signedDigest === digest && isStillTrusted(recorded.fingerprint, publisher)) {
        return done('Verified', verifiedText(recorded.keyId));
      }
      // Nothing below may leave what no longer holds.
      version.status = { ...version.status, signature: undefined };
      return askingRegistry(image, async () => {
        const candidates = await candidatesOf(image, await credentials(version), signal);
        const verdict = judgeSignatures(digest, candidates, publisher.spec.keys, now());
        if (!verdict.good) return waiting(verdict.reason, `${verdict.message}${adviceFor(verdict.reason, image)}`, ASK_AGAIN_MS);
        record(version, verdict, digest, now());
        return done('Verified', verifiedText(verdict.keyId));
      });
    },
  };
}

function isStillTrusted(fingerprint: string | undefined, publisher: Publisher): boolean {
  return publisher.spec.keys.some((key) => key.revokedAt === undefined && fingerprint !== undefined && fingerprintOf(key) === fingerprint);
}

function verifiedText(keyId: string | undefined): string {
  return `signed by the key "${keyId}"`;
}

function adviceFor(reason: string, image: string): string {
  if (reason === VersionReason.NotSigned) return `; sign it with \`tenantry plugin sign\` or \`cosign sign --key <key> ${image}\``;
  return '; sign it again with a key of the publisher that counts';
}

const SBOM_TYPES = ['https://spdx.dev/Document', 'https://cyclonedx.org/bom'];
const PROVENANCE_TYPES = ['https://slsa.dev/provenance/v1', 'https://slsa.dev/provenance/v0.2'];

function record(version: PluginVersion, { keyId, form, fingerprint, attested }: GoodSignature, digest: string, now: number): void {
  const verifiedAt = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = [...(version.status?.conditions ?? [])];
  const tell = (type: string, types: string[], what: string) => {
    const isThere = types.some((each) => attested.includes(each));
    const reason = isThere ? 'Attested' : 'NotAttached';
    const message = isThere ? '' : `the publisher attached no ${what}; none is required`;
    setCondition(conditions, { type, status: isThere ? 'True' : 'False', reason, message }, new Date(now));
  };
  tell(VersionCondition.SbomAttached, SBOM_TYPES, 'SBOM');
  tell(VersionCondition.ProvenanceAttached, PROVENANCE_TYPES, 'SLSA provenance');
  version.status = { ...version.status, conditions, signature: { keyId, form, fingerprint, verifiedAt, signedDigest: digest } };
}
