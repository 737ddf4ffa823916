import type { Json, KubeObject, ListMeta } from '../../../kube/object.ts';
import type { Entry } from '../../store/store.ts';
import type { ObjectCache } from '../registry/object-cache.ts';
import type { Resource } from '../registry/resource.ts';
import { encodeJson } from './json.ts';
import { after, partialMetadata, VersionedReader, type Presenter } from './presenter.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

function row(resource: Resource, object: KubeObject, include: IncludeObject, metaVersion: string, now: Date): Json {
  const cells = resource.columns.map((column) => column.cell(object, now));
  const result: Json = { cells };
  if (include === 'Metadata') result.object = partialMetadata(object, metaVersion);
  else if (include === 'Object') result.object = object;
  return result;
}

/** Rows and columns as `kubectl get` shows them. */
export function tablePresenter(
  resource: Resource,
  cache: ObjectCache,
  options: { metaVersion: string; include: IncludeObject; noColumns: boolean; now: () => Date },
): Presenter {
  const reader = new VersionedReader(resource, cache);
  const apiVersion = `meta.k8s.io/${options.metaVersion}`;
  const columnDefinitions = options.noColumns
    ? null
    : resource.columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority }));
  const rowOf = (entry: Entry) =>
    after(reader.object(entry), (object) => row(resource, object, options.include, options.metaVersion, options.now()));
  const table = (metadata: ListMeta, rows: Json[]) => ({ kind: 'Table', apiVersion, metadata, columnDefinitions, rows });
  const singleValue = (entry: Entry) => after(rowOf(entry), (only) => table({ resourceVersion: String(entry.revision) }, [only]));
  return {
    id: `${resource.version}/Table/${options.metaVersion}/${options.include}/${options.noColumns}`,
    verbatim: false,
    single: (entry) => after(singleValue(entry), (value) => encodeJson(JSON.stringify(value))),
    item: (entry) => after(rowOf(entry), (value) => encodeJson(JSON.stringify(value))),
    singleValue,
    itemValue: rowOf,
    head: (meta) =>
      `{"kind":"Table","apiVersion":"${apiVersion}","metadata":${JSON.stringify(meta)},"columnDefinitions":${JSON.stringify(columnDefinitions)},"rows":[`,
    tail: ']}\n',
    listValue: table,
    bookmark: (revision, annotations) => {
      const metadata: Json = { resourceVersion: revision };
      if (annotations !== undefined) metadata.annotations = annotations;
      return { ...table({ resourceVersion: revision }, [{ cells: [], object: { kind: resource.kind, apiVersion, metadata } }]) };
    },
  };
}
