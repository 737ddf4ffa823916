import type { KubeObject } from '../../../../kube/object.ts';
import type { TableColumn } from '../../registry/resource.ts';
import { ageSince } from './human-duration.ts';

export interface ColumnRecord {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

/** The columns of a resource's Table, as kube-apiserver describes them, with the functions that fill them. */
export function columnsOf(record: { group: string; resource: string; columns: ColumnRecord[] }): TableColumn[] {
  return record.columns.map((column) => ({ ...column, cell: cellOf(column.name) }));
}

function cellOf(name: string): TableColumn['cell'] {
  switch (name) {
    case 'Name':
      return (object: KubeObject) => object.metadata.name ?? '';
    case 'Age':
    case 'Created At':
      return (object: KubeObject, now: Date) => ageSince(object.metadata.creationTimestamp, now);
    default:
      return () => '';
  }
}
