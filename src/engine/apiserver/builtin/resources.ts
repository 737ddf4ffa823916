import type { Schema } from '../../../kube/schema.ts';
import type { Resource, Subresource, TableColumn } from '../registry/resource.ts';
import { autoscalerFromV2, autoscalerToV2 } from './conversion/autoscalers.ts';
import { eventFromCore, eventToCore } from './conversion/events.ts';
import { objectDecoder } from './decode/decode.ts';
import { emptyObject } from './decode/empty-object.ts';
import { columnsOf } from './columns/columns.ts';
import { readRecordedJson } from './recorded.ts';
import { SCALABLE } from './scale.ts';
import { resolveBuiltin, schemaOf } from './schemas.ts';
import { selectableFields } from './selectable-fields.ts';
import { ServiceAllocator } from './service-allocator.ts';
import { behaviours } from './strategy/kinds.ts';
import { standardStrategy, type KindBehaviour } from './strategy/standard.ts';

/** What the generator records of one resource. */
export interface ResourceRecord {
  group: string;
  version: string;
  kind: string;
  listKind?: string;
  resource: string;
  singular: string;
  shortNames?: string[];
  categories?: string[];
  namespaced: boolean;
  verbs: string[];
  subresources?: Subresource[];
  definition: string;
  selectableFields?: string[];
  warning?: string;
}

export interface BuiltinOptions {
  /** Gives Services their addresses and ports; one with Kubernetes' own ranges if absent. It must `follow` the stored Services. */
  services?: ServiceAllocator;
}

/** Every resource that kube-apiserver serves by itself, in the order of its discovery. Schemas, columns and decoders are made when first used. */
export function builtinResources(options: BuiltinOptions = {}): Resource[] {
  const records = readRecordedJson('resources.json') as ResourceRecord[];
  const kinds = behaviours(options.services ?? new ServiceAllocator());
  return records.map((record) => toResource(record, kinds[`${record.group}/${record.resource}`] ?? {}));
}

/** What is stored in another form than its own. */
const CONVERTED: Record<string, Partial<Pick<Resource, 'storage' | 'toStorage' | 'fromStorage'>>> = {
  'autoscaling/v1/horizontalpodautoscalers': {
    storage: { group: 'autoscaling', resource: 'horizontalpodautoscalers', version: 'v2' },
    toStorage: autoscalerToV2,
    fromStorage: autoscalerFromV2,
  },
  'events.k8s.io/v1/events': {
    storage: { group: '', resource: 'events', version: 'v1' },
    toStorage: eventToCore,
    fromStorage: eventFromCore,
  },
};

/** The kinds that Kubernetes serves for good and advises against. */
const DEPRECATED: Record<string, string> = {
  '/v1/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
  '/v1/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

function toResource(record: ResourceRecord, behaviour: KindBehaviour): Resource {
  const { group, version, kind, resource: plural } = record;
  let columns: TableColumn[] | undefined;
  const resource: Resource = {
    group,
    version,
    kind,
    listKind: record.listKind ?? `${kind}List`,
    resource: plural,
    singular: record.singular,
    shortNames: record.shortNames ?? [],
    categories: record.categories ?? [],
    namespaced: record.namespaced,
    verbs: record.verbs,
    subresources: record.subresources ?? [],
    storage: { group, resource: plural, version },
    ...CONVERTED[`${group}/${version}/${plural}`],
    strategy: standardStrategy({
      kind: { group, kind },
      decoder: objectDecoder(record.definition, kind),
      hasStatus: record.subresources?.some((subresource) => subresource.name === 'status') ?? false,
      behaviour,
    }),
    get schema(): Schema {
      return schemaOf(record.definition);
    },
    resolve: resolveBuiltin,
    empty: () => emptyObject(record.definition),
    get columns(): TableColumn[] {
      return (columns ??= columnsOf(record));
    },
    selectableFields: selectableFields(record.selectableFields ?? []),
    warning: DEPRECATED[`${group}/${version}/${plural}`],
  };
  const scale = SCALABLE[`${group}/${plural}`];
  if (scale) resource.scale = scale;
  if (record.warning) resource.warning = record.warning;
  return resource;
}
