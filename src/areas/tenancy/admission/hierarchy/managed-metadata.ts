import { invalid, type FieldError } from '../../../../kube/field-error.ts';
import { isLabelValue, isQualifiedName } from '../../../../kube/names.ts';
import type { KeyValue } from '../../forest/tree-namespace.ts';
import { isManagedKey, type TreeSettings } from '../../forest/tree-settings.ts';

/** What is wrong with the labels and annotations that an anchor or a HierarchyConfiguration wants on namespaces. */
export function managedMetadataErrors(
  spec: { labels?: readonly KeyValue[]; annotations?: readonly KeyValue[] } | undefined,
  settings: TreeSettings,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const { key, value } of spec?.labels ?? []) {
    errors.push(...keyErrors(key, 'spec.labels', isManagedKey(settings.managedLabels, key), 'label'));
    const wrong = isLabelValue(value);
    if (wrong.length > 0) errors.push(invalid(`spec.labels[${key}]`, value, wrong.join('; ')));
  }
  for (const { key } of spec?.annotations ?? [])
    errors.push(...keyErrors(key, 'spec.annotations', isManagedKey(settings.managedAnnotations, key), 'annotation'));
  return errors;
}

function keyErrors(key: string, field: string, isManaged: boolean, what: string): FieldError[] {
  const wrong = isQualifiedName(key);
  if (wrong.length > 0) return [invalid(field, key, wrong.join('; '))];
  return isManaged ? [] : [invalid(field, key, `not a managed ${what} and cannot be configured`)];
}
