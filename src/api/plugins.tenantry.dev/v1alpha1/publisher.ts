import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { conditions, integer, list, object, text, time } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';

/** A public key and when it counts. A signature is good when its key was valid at the time of verification and is not revoked. */
const key = object(
  {
    id: text({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' }),
    /** PEM, as `cosign public-key` prints it. */
    publicKey: text({ minLength: 1, maxLength: 4096 }),
  },
  { validFrom: time(), validUntil: time(), revokedAt: time() },
);

export const publisherDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'Publisher',
  plural: 'publishers',
  shortNames: ['pub'],
  scope: 'Cluster',
  description: 'Who may publish plugins, and the keys that their images are signed with. Its name is the slug in manifests.',
  spec: object(
    { keys: list(key, { minItems: 1, maxItems: 20, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] }) },
    {
      displayName: text({ maxLength: 140 }),
      /** Where its images may come from: prefixes of image names up to a slash. Absent: anywhere. */
      repositories: list(text({ minLength: 1, maxLength: 255 }), { maxItems: 50 }),
      /** Ranges of private addresses that its plugins may name in `spec.egress.cidrs`. Absent: none. */
      privateEgress: list(text({ minLength: 1, maxLength: 43 }), { maxItems: 50 }),
    },
  ),
  status: object({}, { versions: integer(), observedGeneration: integer({ format: 'int64' }), conditions: conditions() }),
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.displayName' },
    { name: 'Versions', type: 'integer', jsonPath: '.status.versions' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
  nameRules: { pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$', maxLength: 40 },
} satisfies KindDefinition;

export const PublisherKind = kindOf(publisherDefinition);
export type Publisher = ObjectOf<typeof publisherDefinition>;
