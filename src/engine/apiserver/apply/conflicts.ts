import { compareText, quote } from '../../../kube/go-text.ts';
import { failure, type StatusError } from '../../../kube/status.ts';
import { forEachPath, type FieldSet } from './field-set.ts';
import type { ManagedEntry } from './managed-entries.ts';
import { printElement } from './path-element.ts';

/** Fields of one manager that an apply would change. */
export interface Conflict {
  entry: ManagedEntry;
  fields: FieldSet;
}

function printManager({ manager, operation, apiVersion, subresource }: ManagedEntry): string {
  const name = quote(manager ?? '') + (subresource ? ` with subresource ${quote(subresource)}` : '');
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

function pathsOf(fields: FieldSet): string[] {
  const paths: string[] = [];
  forEachPath(fields, (path) => paths.push(path.map(printElement).join('')));
  return paths;
}

/** The refusal of an apply that somebody else's fields stand in the way of, as kubectl shows it. */
export function conflictRefusal(conflicts: readonly Conflict[]): StatusError {
  const found = conflicts
    .map(({ entry, fields }) => ({ manager: printManager(entry), paths: pathsOf(fields) }))
    .sort((a, b) => compareText(a.manager, b.manager));
  const causes = found.flatMap(({ manager, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  );
  const list = found.map(({ manager, paths }) => [`conflicts with ${manager}:`, ...paths.map((path) => `- ${path}`)].join('\n')).join('\n');
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0].message}: ${causes[0].field}`
      : `Apply failed with ${causes.length} conflicts: ${list}`;
  return failure('Conflict', message, { causes });
}
