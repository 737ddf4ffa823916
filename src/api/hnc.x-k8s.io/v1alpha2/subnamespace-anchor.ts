import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { object, text } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';
import { metadataEntries } from './metadata-entries.ts';

export const subnamespaceAnchorDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'SubnamespaceAnchor',
  plural: 'subnamespaceanchors',
  shortNames: ['subns'],
  scope: 'Namespaced',
  description: 'Asks for a namespace of the same name below the one it is in.',
  spec: object({}, { labels: metadataEntries, annotations: metadataEntries }),
  /** `status` within `status`: Missing, Ok, Conflict or Forbidden. */
  status: object({}, { status: text() }),
  columns: [],
  selectableFields: [],
  plainStatus: true,
} satisfies KindDefinition;

export const SubnamespaceAnchorKind = kindOf(subnamespaceAnchorDefinition);
export type SubnamespaceAnchor = ObjectOf<typeof subnamespaceAnchorDefinition>;
