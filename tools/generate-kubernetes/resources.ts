import type { Json } from '../../src/kube/object.ts';
import type { Server } from './server.ts';

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
  subresources?: { name: string; verbs: string[]; kind: { group: string; version: string; kind: string } }[];
  /** OpenAPI definition of the kind. */
  definition: string;
  columns: ColumnRecord[];
  /** Field selectors the server accepts beyond metadata.name and metadata.namespace. */
  selectableFields?: string[];
  /** Sent with every answer about the resource. */
  warning?: string;
}

export interface ColumnRecord {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** Every resource the server serves, from its discovery, in its order, with the columns of its Table. */
export async function readResources(server: Server, openapi: Json): Promise<ResourceRecord[]> {
  const definitions = definitionsByKind(openapi);
  const records: ResourceRecord[] = [];
  for (const root of ['/api', '/apis']) {
    const discovery = await server.get(root, DISCOVERY);
    for (const group of discovery.items) {
      for (const version of group.versions) {
        for (const resource of version.resources) {
          records.push(await readResource(server, group.metadata.name ?? '', version.version, resource, definitions));
        }
      }
    }
  }
  return records;
}

async function readResource(
  server: Server,
  group: string,
  version: string,
  found: Json,
  definitions: Map<string, string>,
): Promise<ResourceRecord> {
  const kind = found.responseKind.kind;
  const record: ResourceRecord = {
    group,
    version,
    kind,
    resource: found.resource,
    singular: found.singularResource,
    namespaced: found.scope === 'Namespaced',
    verbs: found.verbs,
    definition: definitions.get(`${group}/${version}/${kind}`) ?? '',
    columns: [],
  };
  if (found.shortNames) record.shortNames = found.shortNames;
  if (found.categories) record.categories = found.categories;
  if (found.subresources) {
    record.subresources = found.subresources.map((sub: Json) => ({
      name: sub.subresource,
      verbs: sub.verbs,
      kind: {
        group: sub.responseKind?.group || group,
        version: sub.responseKind?.version || version,
        kind: sub.responseKind?.kind ?? kind,
      },
    }));
  }
  if (record.verbs.includes('list')) {
    const path = group === '' ? `/api/${version}/${record.resource}` : `/apis/${group}/${version}/${record.resource}`;
    const { body, warning } = await server.call('GET', `${path}?limit=1`);
    record.listKind = body.kind;
    if (warning) record.warning = warning;
    record.columns = (await server.get(`${path}?limit=1`, TABLE)).columnDefinitions;
  }
  return record;
}

function definitionsByKind(openapi: Json): Map<string, string> {
  const byKind = new Map<string, string>();
  for (const [name, schema] of Object.entries<Json>(openapi.definitions)) {
    const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
    if (kinds.length === 1) byKind.set(`${kinds[0].group}/${kinds[0].version}/${kinds[0].kind}`, name);
  }
  return byKind;
}
