import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { integer, object, oneOf, text, time } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';

/** Where an attempt was made. */
export const ATTEMPT_KINDS = ['api', 'database', 'gateway', 'kafka', 'network'] as const;
export type AttemptKind = (typeof ATTEMPT_KINDS)[number];

export const crossTenantAttemptDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'CrossTenantAttempt',
  plural: 'crosstenantattempts',
  shortNames: ['cta'],
  scope: 'Namespaced',
  description:
    'What a plugin tried and was refused, outside of what is its own. In the root namespace of its tenant; the same again is counted.',
  spec: object(
    {
      plugin: text({ maxLength: 63 }),
      kind: oneOf(ATTEMPT_KINDS),
      /** What it was after. */
      target: text({ maxLength: 512 }),
      /** What refused it. */
      rule: text({ maxLength: 128 }),
      count: integer({ format: 'int64', minimum: 1 }),
      firstSeen: time(),
      lastSeen: time(),
    },
    {
      /** In the words of whoever refused it. */
      message: text({ maxLength: 1024 }),
      /** Where it came from: a Pod, or an address. */
      source: text({ maxLength: 253 }),
    },
  ),
  status: object({}, {}),
  columns: [
    { name: 'Plugin', type: 'string', jsonPath: '.spec.plugin' },
    { name: 'Kind', type: 'string', jsonPath: '.spec.kind' },
    { name: 'Target', type: 'string', jsonPath: '.spec.target' },
    { name: 'Rule', type: 'string', jsonPath: '.spec.rule' },
    { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
    { name: 'Last Seen', type: 'date', jsonPath: '.spec.lastSeen' },
    { name: 'Message', type: 'string', jsonPath: '.spec.message', priority: 1 },
  ],
  selectableFields: ['.spec.plugin', '.spec.kind'],
} satisfies KindDefinition;

export const CrossTenantAttemptKind = kindOf(crossTenantAttemptDefinition);
export type CrossTenantAttempt = ObjectOf<typeof crossTenantAttemptDefinition>;
