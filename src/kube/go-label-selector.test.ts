import { expect, test } from 'vitest';
import { goLabelSelector } from './go-label-selector.ts';

test('a selector looks as in Go', () => {
  expect(goLabelSelector(undefined)).toBe('nil');
  expect(goLabelSelector({})).toBe('&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}');
  const selector = { matchLabels: { b: '2', a: '1' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['x', 'y'] }] };
  expect(goLabelSelector(selector)).toBe(
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},' +
      'MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},},}',
  );
});
