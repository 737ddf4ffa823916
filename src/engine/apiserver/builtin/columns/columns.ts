import { ageOf } from '../../../../kube/age.ts';
import type { Json } from '../../../../kube/object.ts';
import type { TableColumn } from '../../registry/resource.ts';
import { readRecordedJson } from '../recorded.ts';
import { CLUSTER_CELLS } from './cluster-columns.ts';
import { CORE_CELLS } from './core-columns.ts';
import { WORKLOAD_CELLS } from './workload-columns.ts';

interface ColumnRecord {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

/** What fills the columns of a kind, by the column's name. */
export type Cells = Record<string, (object: Json, now: Date) => Json>;

const COMMON: Cells = {
  Name: ({ metadata }) => metadata.name ?? '',
  Age: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
  'Created At': ({ metadata }) => metadata.creationTimestamp ?? null,
};

const CELLS: Record<string, Cells> = { ...WORKLOAD_CELLS, ...CORE_CELLS, ...CLUSTER_CELLS };

let recorded: Record<string, ColumnRecord[]> | undefined;

/** The columns of a resource's Table, as kube-apiserver describes them, with the functions that fill them. */
export function columnsOf({ group, version, resource }: { group: string; version: string; resource: string }): TableColumn[] {
  recorded ??= readRecordedJson('columns.json') as Record<string, ColumnRecord[]>;
  const cells = CELLS[`${group}/${resource}`];
  return (recorded[`${group}/${version}/${resource}`] ?? []).map((column) => {
    const cell = cells?.[column.name] ?? COMMON[column.name];
    if (!cell) throw new Error(`Cannot fill the column "${column.name}" of ${resource}: no cell is written for it; add one`);
    return { ...column, cell };
  });
}
