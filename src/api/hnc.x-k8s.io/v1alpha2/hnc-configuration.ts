import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { conditions, integer, list, object, oneOf, text } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';
import { CONFIG_NAME } from './names.ts';

export const MODES = ['Propagate', 'Ignore', 'Remove', 'AllowPropagate'] as const;
export type PropagationMode = (typeof MODES)[number];

export const hncConfigurationDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'HNCConfiguration',
  plural: 'hncconfigurations',
  shortNames: [],
  scope: 'Cluster',
  description: 'Which kinds of objects are copied down the tree.',
  spec: object({}, { resources: list(object({ resource: text() }, { group: text(), mode: oneOf(MODES) })) }),
  status: object(
    {},
    {
      resources: list(
        object(
          { group: text(), version: text(), resource: text() },
          { mode: text(), numPropagatedObjects: integer({ minimum: 0 }), numSourceObjects: integer({ minimum: 0 }) },
        ),
      ),
      conditions: conditions(),
    },
  ),
  columns: [],
  selectableFields: [],
  nameRules: { enum: [CONFIG_NAME] },
  plainStatus: true,
} satisfies KindDefinition;

export const HncConfigurationKind = kindOf(hncConfigurationDefinition);
export type HncConfiguration = ObjectOf<typeof hncConfigurationDefinition>;
