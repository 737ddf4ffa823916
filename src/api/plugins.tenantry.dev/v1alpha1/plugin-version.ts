import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import type { PluginManifest } from '../../adapstory.com/v1/plugin-manifest.ts';
import { conditions, integer, mapOf, object, oneOf, text, time, type SchemaSource } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';
import { VERSION_STATES } from './states.ts';

/** As the publisher wrote it; checked in full before it is stored, so the schema keeps it as it is. */
const manifest: SchemaSource<PluginManifest> = { schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

export const pluginVersionDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'PluginVersion',
  plural: 'pluginversions',
  shortNames: ['plv'],
  scope: 'Cluster',
  description: 'One version of a plugin, as its publisher made it. Never changes; pinned to an image by digest.',
  spec: object(
    {
      publisher: text({ minLength: 1, maxLength: 40 }),
      plugin: text({ minLength: 1, maxLength: 63 }),
      version: text({ minLength: 1, maxLength: 64 }),
      manifest,
    },
    {
      /** What the manifest refers to by path: JSON Schemas of tools, SQL of migrations. */
      files: mapOf(text({ maxLength: 262_144 }), { maxProperties: 200 }),
    },
    { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'a published version never changes; publish another version' }] },
  ),
  status: object(
    {},
    {
      phase: oneOf(VERSION_STATES),
      /** The image, by digest: what every installation runs. */
      image: text(),
      signature: object(
        {},
        { keyId: text(), form: oneOf(['tag', 'bundle']), verifiedAt: time(), signedDigest: text(), fingerprint: text() },
      ),
      /** The last request to look again that was heard. */
      observedRecheck: text(),
      observedGeneration: integer({ format: 'int64' }),
      conditions: conditions(),
    },
  ),
  columns: [
    { name: 'Plugin', type: 'string', jsonPath: '.spec.plugin' },
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Publisher', type: 'string', jsonPath: '.spec.publisher' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Image', type: 'string', jsonPath: '.status.image', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.plugin', '.spec.publisher'],
} satisfies KindDefinition;

export const PluginVersionKind = kindOf(pluginVersionDefinition);
export type PluginVersion = ObjectOf<typeof pluginVersionDefinition>;

/** `acme.hello.1.2.0`: a version's object. Build metadata (`+x`) is no part of what a version is. */
export function pluginVersionName(publisher: string, plugin: string, version: string): string {
  return `${publisher}.${plugin}.${version.split('+')[0].toLowerCase()}`;
}
