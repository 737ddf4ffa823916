import { MANAGED_LABEL, PUBLISHER_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Publisher } from '../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { PLUGIN_ROLE, ROLE_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { readPublicKey } from '../../../lib/cosign/signing-keys.ts';

export const ImageValidatingPolicyKind: Kind = {
  group: 'policies.kyverno.io',
  version: 'v1',
  kind: 'ImageValidatingPolicy',
  plural: 'imagevalidatingpolicies',
  namespaced: false,
};

export const KYVERNO_PART = 'kyverno';
const LISTS = ['containers', 'initContainers', 'ephemeralContainers'];

/**
 * What Kyverno is to hold against the Pods of a publisher's plugins, beside our own admission: every image is signed by a key that the
 * publisher has not revoked. A key that has ended stays, because what it signed in its time stays verified.
 */
export function imageValidatingPolicy({ metadata, spec }: Publisher, now: number): KubeObject {
  const publisher = metadata.name!;
  const keys = spec.keys.filter(({ validFrom, revokedAt }) => revokedAt === undefined && !(Date.parse(validFrom ?? '') > now));
  const attestors = keys.filter(({ publicKey }) => isReadable(publicKey)).map(({ publicKey }, index) => attestor(index, publicKey));
  return {
    apiVersion: 'policies.kyverno.io/v1',
    kind: 'ImageValidatingPolicy',
    metadata: { name: policyNameOf(publisher), labels: { [MANAGED_LABEL]: KYVERNO_PART, [PUBLISHER_LABEL]: publisher } },
    spec: {
      failurePolicy: 'Fail',
      validationActions: ['Deny'],
      webhookConfiguration: { timeoutSeconds: 15 },
      // Pods that run go on when a key is revoked.
      evaluation: { background: { enabled: false } },
      matchConstraints: {
        namespaceSelector: { matchLabels: { [ROLE_LABEL]: PLUGIN_ROLE, [PUBLISHER_LABEL]: publisher } },
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods/ephemeralcontainers'] },
        ],
      },
      matchImageReferences: [{ glob: '*' }],
      // Deployments name digests already.
      validationConfigurations: { mutateDigest: false, required: true, verifyDigest: true },
      attestors,
      validations: LISTS.map((list) => ({
        expression: expressionFor(
          list,
          attestors.map(({ name }) => name),
        ),
        message: `an image of ${list} is not signed by a key of the publisher ${publisher}`,
      })),
    },
  };
}

export function policyNameOf(publisher: string): string {
  return `tenantry-plugins-${publisher}`;
}

/** When a key begins to count next; undefined when none is to come. */
export function nextKeyAt({ spec }: Publisher, now: number): number | undefined {
  const times = spec.keys.map(({ validFrom }) => Date.parse(validFrom ?? '')).filter((time) => time > now);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Without a key nothing is signed well: an image is then one too many. */
function expressionFor(list: string, names: string[]): string {
  if (names.length === 0) return `size(images.${list}) == 0`;
  const attestors = names.map((name) => `attestors.${name}`).join(', ');
  return `images.${list}.map(image, verifyImageSignatures(image, [${attestors}])).all(count, count > 0)`;
}

/** Keys are for the publisher's own signatures: no transparency log, no certificates. Their names here must be words of CEL. */
function attestor(index: number, data: string) {
  return { name: `key${index}`, cosign: { key: { data }, ctlog: { insecureIgnoreTlog: true, insecureIgnoreSCT: true } } };
}

function isReadable(publicKey: string): boolean {
  try {
    readPublicKey(publicKey);
    return true;
  } catch {
    return false;
  }
}
