import { printNumber } from '../../../kube/go-text.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { humanDuration } from '../builtin/columns/human-duration.ts';
import type { TableColumn } from '../registry/resource.ts';
import { goJson } from '../schema/go-print.ts';
import type { PrinterColumn } from './definition.ts';
import { parseJsonPath } from '../../../kube/json-path.ts';

const NAME_DESCRIPTION =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const AGE_DESCRIPTION =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

const NAME_COLUMN: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: NAME_DESCRIPTION,
  priority: 0,
  cell: (object) => object.metadata.name ?? '',
};

const AGE_COLUMN: PrinterColumn = { name: 'Age', type: 'date', description: AGE_DESCRIPTION, jsonPath: '.metadata.creationTimestamp' };

/** The Table columns of a version: its own, or Age when it names none. A column that cannot be read ends the list, as upstream. */
export function customColumns(columns: readonly PrinterColumn[] | undefined): TableColumn[] {
  const shown: TableColumn[] = [NAME_COLUMN];
  for (const column of columns?.length ? columns : [AGE_COLUMN]) {
    let find: (root: Json) => Json[];
    try {
      find = parseJsonPath(column.jsonPath);
    } catch {
      break;
    }
    shown.push({
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
      priority: column.priority ?? 0,
      cell: (object: KubeObject, now: Date) => {
        const found = find(object);
        return found.length === 0 ? null : toCell(column.type, found[0], now);
      },
    });
  }
  return shown;
}

function toCell(type: string, value: Json, now: Date): Json {
  if (type === 'string') return toText(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? age(value, now) : null;
    default:
      return null;
  }
}

function toText(value: Json): string {
  if (value === null) return '<no value>';
  if (typeof value === 'object') return goJson(value);
  return typeof value === 'number' ? printNumber(value) : String(value);
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

function age(text: string, now: Date): string {
  if (text === '' || text === 'null') return '<unknown>';
  const time = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? '<invalid>' : humanDuration(now.getTime() - time);
}
