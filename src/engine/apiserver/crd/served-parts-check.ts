import type { FieldError } from '../../../kube/field-error.ts';
import { resolveFieldPath } from '../schema/field-path.ts';
import { child, duplicateValue, index, invalidValue, requiredValue, tooManyValues } from '../schema/findings.ts';
import type { CrdSchema } from '../schema/structural.ts';
import type { PrinterColumn, Subresources } from './definition.ts';

/** Checks of what a version serves beside its objects: subresources, columns and field selectors. */
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MOST_SELECTABLE = 8;

export function checkSubresources(subresources: Subresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale ?? undefined;
  if (scale === undefined) return [];
  const found: FieldError[] = [];
  const checkPath = (name: string, text: string | undefined, roots: string[], where: string): void => {
    const fieldPath = child(path, `scale.${name}`);
    if (!text) found.push(requiredValue(fieldPath));
    else if (!text.startsWith('.')) found.push(invalidValue(fieldPath, text, 'must be a simple json path starting with .'));
    else if (!roots.some((root) => text.startsWith(root))) {
      found.push(invalidValue(fieldPath, text, `should be a json path under ${where}`));
    }
  };
  checkPath('specReplicasPath', scale.specReplicasPath, ['.spec.'], '.spec');
  checkPath('statusReplicasPath', scale.statusReplicasPath, ['.status.'], '.status');
  if (scale.labelSelectorPath) checkPath('labelSelectorPath', scale.labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status');
  return found;
}

export function checkColumn(column: PrinterColumn, path: string): FieldError[] {
  const found: FieldError[] = [];
  if (!column.name) found.push(requiredValue(child(path, 'name')));
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (!column.type) found.push(requiredValue(child(path, 'type'), types));
  else if (!COLUMN_TYPES.includes(column.type)) found.push(invalidValue(child(path, 'type'), column.type, types));
  if (column.format && !COLUMN_FORMATS.includes(column.format)) {
    found.push(invalidValue(child(path, 'format'), column.format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  const pathPath = child(path, 'JSONPath');
  if (!column.jsonPath) found.push(requiredValue(pathPath));
  else if (!column.jsonPath.startsWith('.')) {
    found.push(invalidValue(pathPath, column.jsonPath, 'must be a simple json path starting with .'));
  }
  return found;
}

export function checkSelectableFields(
  fields: readonly { jsonPath: string }[],
  schema: CrdSchema,
  path: string,
  mayBeTooMany: boolean,
): FieldError[] {
  const found: FieldError[] = [];
  const unique = new Set<string>();
  for (const [at, field] of fields.entries()) {
    const fieldPath = child(index(path, at), 'jsonPath');
    if (!field.jsonPath) {
      found.push(requiredValue(fieldPath));
      continue;
    }
    const resolved = resolveFieldPath(schema, field.jsonPath, false);
    if (typeof resolved === 'string') {
      found.push(invalidValue(fieldPath, field.jsonPath, `is an invalid path: ${resolved}`));
      continue;
    }
    if (resolved.root === 'metadata') found.push(invalidValue(fieldPath, field.jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(resolved.schema?.type ?? '')) {
      const detail = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      found.push(invalidValue(fieldPath, field.jsonPath, detail));
    }
    if (unique.has(resolved.path)) found.push(duplicateValue(fieldPath, field.jsonPath));
    unique.add(resolved.path);
  }
  if (unique.size > MOST_SELECTABLE && !mayBeTooMany) found.push(tooManyValues(path, unique.size, MOST_SELECTABLE));
  return found;
}
