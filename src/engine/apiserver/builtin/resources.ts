import type { Schema } from '../../../kube/schema.ts';
import type { Resource, Strategy, Subresource, TableColumn } from '../registry/resource.ts';
import { objectDecoder } from './decode/decode.ts';
import { emptyObject } from './decode/empty-object.ts';
import { columnsOf, type ColumnRecord } from './columns/columns.ts';
import { readRecordedJson } from './recorded.ts';
import { standardStrategy } from './strategy/standard.ts';
import { resolveBuiltin, schemaOf } from './schemas.ts';

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
  columns: ColumnRecord[];
  selectableFields?: string[];
}

/** Every resource that kube-apiserver serves by itself, in the order of its discovery. Schemas, columns and decoders are made when first used. */
export function builtinResources(): Resource[] {
  const records = readRecordedJson('resources.json') as ResourceRecord[];
  return records.map((record) => toResource(record));
}

function toResource(record: ResourceRecord): Resource {
  let columns: TableColumn[] | undefined;
  return {
    group: record.group,
    version: record.version,
    kind: record.kind,
    listKind: record.listKind ?? `${record.kind}List`,
    resource: record.resource,
    singular: record.singular,
    shortNames: record.shortNames ?? [],
    categories: record.categories ?? [],
    namespaced: record.namespaced,
    verbs: record.verbs,
    subresources: record.subresources ?? [],
    storage: { group: record.group, resource: record.resource, version: record.version },
    strategy: strategyFor(record),
    get schema(): Schema {
      return schemaOf(record.definition);
    },
    resolve: resolveBuiltin,
    empty: () => emptyObject(record.definition),
    get columns(): TableColumn[] {
      return (columns ??= columnsOf(record));
    },
    selectableFields: {},
  };
}

const TRACKS_GENERATION: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiextensions.k8s.io/customresourcedefinitions',
  'apps/daemonsets',
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  'batch/cronjobs',
  'batch/jobs',
  '/pods',
  '/podtemplates',
  '/replicationcontrollers',
  'discovery.k8s.io/endpointslices',
  'flowcontrol.apiserver.k8s.io/flowschemas',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
  'networking.k8s.io/ingressclasses',
  'networking.k8s.io/ingresses',
  'networking.k8s.io/networkpolicies',
  'policy/poddisruptionbudgets',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceslices',
  'scheduling.k8s.io/priorityclasses',
]);

function strategyFor(record: ResourceRecord): Strategy {
  return standardStrategy({
    decode: objectDecoder(record.definition, record.kind),
    hasStatus: record.subresources?.some((subresource) => subresource.name === 'status') ?? false,
    tracksGeneration: TRACKS_GENERATION.has(`${record.group}/${record.resource}`),
  });
}
