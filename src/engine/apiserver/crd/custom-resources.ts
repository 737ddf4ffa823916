import { deepCopy } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { resolveBuiltin } from '../builtin/schemas.ts';
import type { Resource, ScaleAccess, Strategy, Subresource, TableColumn } from '../registry/resource.ts';
import { customColumns } from './columns.ts';
import { convertByName, convertByWebhook, type ConvertObjects } from './conversion.ts';
import { readPath } from './custom-check.ts';
import { customStrategy } from './custom-strategy.ts';
import { isConditionTrue, storageVersion, type CustomResourceDefinition, type DefinitionVersion, type ScalePaths } from './definition.ts';
import { deprecationNotice } from './deprecation.ts';
import { parseJsonPath } from '../../../kube/json-path.ts';
import { resourceSchema } from './published-schema.ts';

export interface CustomResourceOptions {
  /** Needed by CRDs that convert by webhook. */
  convert?: ConvertObjects;
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];

/** The resources that an established CRD adds to the server: one for each served version. */
export function makeCustomResources(definition: CustomResourceDefinition, options: CustomResourceOptions = {}): Resource[] {
  const strategy = customStrategy(definition);
  return definition.spec.versions
    .filter((version) => version.served)
    .map((version) => makeResource(definition, version, strategy, options));
}

function makeResource(
  definition: CustomResourceDefinition,
  version: DefinitionVersion,
  strategy: Strategy,
  options: CustomResourceOptions,
): Resource {
  const { group, scope } = definition.spec;
  const names = definition.status?.acceptedNames?.plural ? definition.status.acceptedNames : definition.spec.names;
  const storage = storageVersion(definition) ?? version.name;
  const terminating = isConditionTrue(definition, 'Terminating');
  let schema: Schema | undefined;
  let columns: TableColumn[] | undefined;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    resource: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    verbs: terminating ? TERMINATING_VERBS : VERBS,
    terminating,
    subresources: subresourcesOf(group, version, names.kind),
    storage: { group, resource: names.plural, version: storage },
    strategy,
    ...conversions(definition, version.name, storage, strategy, options.convert),
    get schema(): Schema {
      return (schema ??= resourceSchema(definition, version));
    },
    resolve: resolveBuiltin,
    strategicMerge: false,
    get columns(): TableColumn[] {
      return (columns ??= customColumns(version.additionalPrinterColumns));
    },
    selectableFields: selectableFields(version),
    scale: version.subresources?.scale ? scaleAccess(version.subresources.scale) : undefined,
    warning: deprecationNotice(definition, version),
  };
}

function subresourcesOf(group: string, version: DefinitionVersion, kind: string): Subresource[] {
  const found: Subresource[] = [];
  const verbs = ['get', 'patch', 'update'];
  if (version.subresources?.status) found.push({ name: 'status', verbs, kind: { group, version: version.name, kind } });
  if (version.subresources?.scale) found.push({ name: 'scale', verbs, kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } });
  return found;
}

/**
 * Between versions, objects are converted, and pruned by the schema of the version they arrive in. Objects that were stored
 * before the CRD last changed get the defaults that it has now when they are read.
 */
function conversions(
  definition: CustomResourceDefinition,
  version: string,
  storage: string,
  strategy: Strategy,
  convert: ConvertObjects | undefined,
): Pick<Resource, 'toStorage' | 'fromStorage'> {
  const apiVersion = (name: string): string => `${definition.spec.group}/${name}`;
  const read = (object: KubeObject, name: string): KubeObject => strategy.decode(object, name);
  const byWebhook = definition.spec.conversion?.strategy === 'Webhook' && convert !== undefined;
  if (version === storage) {
    if ((definition.metadata.generation ?? 1) <= 1) return {};
    // Objects stay in the version that was the storage version when they were written.
    const isForeign = (object: KubeObject): boolean => object.apiVersion !== apiVersion(version);
    if (!byWebhook) return { fromStorage: (object) => read(convertByName(object, apiVersion(version)), version) };
    return {
      fromStorage: (object) =>
        isForeign(object)
          ? convertByWebhook(definition, object, apiVersion(version), convert).then((converted) => read(converted, version))
          : read(deepCopy(object), version),
    };
  }
  if (!byWebhook) {
    return {
      toStorage: (object) => read(convertByName(object, apiVersion(storage)), storage),
      fromStorage: (object) => read(convertByName(object, apiVersion(version)), version),
    };
  }
  return {
    toStorage: async (object) => read(await convertByWebhook(definition, object, apiVersion(storage), convert), storage),
    fromStorage: async (object) => read(await convertByWebhook(definition, object, apiVersion(version), convert), version),
  };
}

function selectableFields(version: DefinitionVersion): Resource['selectableFields'] {
  const fields: Resource['selectableFields'] = {};
  for (const { jsonPath } of version.selectableFields ?? []) {
    const find = parseJsonPath(jsonPath);
    fields[jsonPath.replace(/^\./, '')] = (object) => {
      const [value] = find(object);
      return value === undefined || value === null ? '' : String(value);
    };
  }
  return fields;
}

function scaleAccess(paths: ScalePaths): ScaleAccess {
  const read = (object: KubeObject, path: string): Json => {
    const found = readPath(object, path);
    return 'complaint' in found ? undefined : found.value;
  };
  return {
    specReplicas: (object) => read(object, paths.specReplicasPath),
    setSpecReplicas: (draft, replicas) => writePath(draft, paths.specReplicasPath, replicas),
    statusReplicas: (object) => read(object, paths.statusReplicasPath) ?? 0,
    selector: (object) => (paths.labelSelectorPath ? (read(object, paths.labelSelectorPath) ?? '') : ''),
  };
}

function writePath(draft: Json, path: string, value: Json): void {
  const names = path.replace(/^\./, '').split('.');
  let target = draft;
  for (const name of names.slice(0, -1)) target = target[name] ??= {};
  target[names[names.length - 1]] = value;
}
