import type { Json, KubeObject } from '../../../kube/object.ts';

type Read = (object: KubeObject) => string;

/** Selectors that are not simply the path of a field of the stored object. */
const SPECIAL: Record<string, (object: Json) => Json> = {
  name: (object) => object.metadata.name,
  'spec.unschedulable': (object) => object.spec?.unschedulable ?? false,
  'spec.hostNetwork': (object) => object.spec?.hostNetwork ?? false,
  'status.replicas': (object) => object.status?.replicas ?? 0,
  'status.successful': (object) => object.status?.succeeded ?? 0,
  'status.podIPs': (object) => object.status?.podIPs?.map((address: Json) => address.ip).join(','),
  source: (object) => object.source?.component || object.reportingComponent,
  reportingController: (object) => object.reportingComponent,
};

/** Functions that read what each selector compares, from the stored version of the object. Events are stored in the core group's form. */
export function selectableFields(fields: readonly string[]): Record<string, Read> {
  const readers: Record<string, Read> = {};
  for (const field of fields) {
    const read = SPECIAL[field] ?? readerOf(field.replace(/^regarding\./, 'involvedObject.').split('.'));
    readers[field] = (object) => {
      const value: Json = read(object);
      return value === undefined || value === null ? '' : String(value);
    };
  }
  return readers;
}

function readerOf(path: string[]): (object: Json) => Json {
  return (object) => {
    let value = object;
    for (const name of path) value = value?.[name];
    return value;
  };
}
