import { compareText } from './go-text.ts';
import type { LabelSelector } from './label-selector.ts';

/** A selector as Go prints the object: it stands so in messages of controllers. */
export function goLabelSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => compareText(a, b));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  );
  const matchLabels = labels.map(([key, value]) => `${key}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${matchLabels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
