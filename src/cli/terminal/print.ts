import type { Kind } from '../../kube/kind.ts';
import type { KubeObject } from '../../kube/object.ts';
import { jsonPathTemplate } from './json-path-template.ts';
import type { Session } from './session.ts';
import { formatTable, tableOf, type Column } from './table.ts';

export type OutputFormat = { kind: 'table' | 'wide' | 'json' | 'yaml' | 'name' } | { kind: 'jsonpath'; render: (root: unknown) => string };

/** The value of `-o`. */
export function outputFormat(text: string | undefined): OutputFormat {
  const value = text ?? 'table';
  if (value.startsWith('jsonpath=')) return { kind: 'jsonpath', render: jsonPathTemplate(value.slice('jsonpath='.length)) };
  if (value === 'table' || value === 'wide' || value === 'json' || value === 'yaml' || value === 'name') return { kind: value };
  throw new Error(`Cannot print as "${value}": the formats are table, wide, json, yaml, name and jsonpath=<template>; choose one of them`);
}

export function isForPeople(format: OutputFormat): boolean {
  return format.kind === 'table' || format.kind === 'wide';
}

/** One object, or several as a list, for programs. */
export async function printObjects<T extends KubeObject>(
  session: Session,
  format: OutputFormat,
  kind: Kind<T>,
  objects: readonly T[] | T,
): Promise<void> {
  const items = (isList(objects) ? objects : [objects]).map(withoutManagers);
  const root = isList(objects) ? { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items } : items[0];
  switch (format.kind) {
    case 'json':
      return session.out(`${JSON.stringify(root, null, 4)}\n`);
    case 'yaml':
      return session.out((await import('yaml')).stringify(root, { lineWidth: 0 }));
    case 'jsonpath':
      return session.out(format.render(root));
    case 'name':
      return session.out(items.map(({ metadata }) => `${qualifiedName(kind, metadata.name!)}\n`).join(''));
    case 'table':
    case 'wide':
      throw new Error('tables are printed by their commands');
  }
}

/** `run.kruntimes.io/run-1`. */
export function qualifiedName({ kind, group }: Pick<Kind, 'kind' | 'group'>, name: string): string {
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`;
}

/** A list, as a table or for programs. */
export async function printList<T extends KubeObject>(
  session: Session,
  format: OutputFormat,
  kind: Kind<T>,
  items: readonly T[],
  columns: readonly Column<T>[],
  nothing: string,
): Promise<void> {
  if (!isForPeople(format)) return printObjects(session, format, kind, items);
  if (items.length === 0) return session.err(`${nothing}\n`);
  const { header, rows } = tableOf(columns, items, format.kind === 'wide');
  for (const line of formatTable(header, rows, { isColoured: session.isColoured })) session.out(`${line}\n`);
}

/** `Name:  value` lines, the values in one column. */
export function printBlock(session: Session, rows: [string, string | undefined][]): void {
  const shown = rows.filter((row): row is [string, string] => row[1] !== undefined && row[1] !== '');
  const width = Math.max(...shown.map(([name]) => name.length)) + 3;
  for (const [name, value] of shown) {
    const [first, ...rest] = value.replace(/\n$/, '').split('\n');
    session.out(`${`${name}:`.padEnd(width)}${first}\n${rest.map((line) => `${' '.repeat(width)}${line}\n`).join('')}`);
  }
}

function isList<T>(objects: readonly T[] | T): objects is readonly T[] {
  return Array.isArray(objects);
}

/** Who set which field is nothing for people, nor for most programs: kubectl leaves it out too. */
function withoutManagers<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
