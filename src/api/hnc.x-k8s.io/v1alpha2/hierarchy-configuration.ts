import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { boolean, conditions, list, object, text } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';
import { metadataEntries } from './metadata-entries.ts';
import { HIERARCHY_NAME } from './names.ts';

export const hierarchyConfigurationDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'HierarchyConfiguration',
  plural: 'hierarchyconfigurations',
  shortNames: [],
  scope: 'Namespaced',
  description: 'The place of a namespace in the tree: its parent, what its owner allows, and what is wrong with it.',
  spec: object({}, { parent: text(), allowCascadingDeletion: boolean(), labels: metadataEntries, annotations: metadataEntries }),
  status: object({}, { children: list(text()), conditions: conditions() }),
  columns: [],
  selectableFields: [],
  nameRules: { enum: [HIERARCHY_NAME] },
  plainStatus: true,
} satisfies KindDefinition;

export const HierarchyConfigurationKind = kindOf(hierarchyConfigurationDefinition);
export type HierarchyConfiguration = ObjectOf<typeof hierarchyConfigurationDefinition>;
