import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { conditions, integer, list, object, oneOf, text } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';

export const pluginPolicyDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'PluginPolicy',
  plural: 'pluginpolicies',
  shortNames: ['plp'],
  scope: 'Namespaced',
  description: 'How the plugins of a tenant follow new versions: an object of the tenant’s root namespace.',
  spec: object(
    { mode: oneOf(['pinned', 'minor-auto', 'canary']) },
    {
      /** Which plugins; absent: all that no other policy names. */
      plugins: list(text({ maxLength: 63 }), { maxItems: 100 }),
      /** For canary: the share of requests that meets the new version first. */
      canaryPercent: integer({ minimum: 1, maximum: 99, default: 10 }),
      /** For canary: how long it stays at that share before it gets more. */
      canaryPauseSeconds: integer({ minimum: 0, maximum: 86_400, default: 300 }),
    },
  ),
  status: object({}, { observedGeneration: integer({ format: 'int64' }), conditions: conditions() }),
  columns: [
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
} satisfies KindDefinition;

export const PluginPolicyKind = kindOf(pluginPolicyDefinition);
export type PluginPolicy = ObjectOf<typeof pluginPolicyDefinition>;
