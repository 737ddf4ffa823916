import { expect, test } from 'vitest';
import { isManagedKey, parseTreeSettings, whyUnmanaged } from './tree-settings.ts';

test('settings, are words apart by spaces or lines, and add to what is always excluded', () => {
  const settings = parseTreeSettings({
    excludedNamespaces: 'istio-system\ncert-manager',
    includedNamespaceRegex: 'team-.*|istio-system',
    managedNamespaceLabels: 'cost\\.example\\.com/.* team',
  });
  expect(['cost.example.com/x', 'team', 'teams'].map((key) => isManagedKey(settings.managedLabels, key))).toEqual([true, true, false]);
  expect(whyUnmanaged(settings, 'team-a')).toBeUndefined();
  expect(whyUnmanaged(settings, undefined)).toBeUndefined();
  for (const name of ['istio-system', 'cert-manager', 'default', 'kube-anything'])
    expect(whyUnmanaged(settings, name)).toBe('excluded by the HNC administrator');
  expect(whyUnmanaged(settings, 'other')).toBe('does not match the regex set by the HNC administrator: `^team-.*|istio-system$`');
});

test.each([
  ['managedNamespaceLabels', '.*', 'it matches "hnc.x-k8s.io"'],
  ['managedNamespaceLabels', '(', 'Invalid regular expression'],
  ['includedNamespaceRegex', '(', 'Invalid regular expression'],
])('settings with %s "%s", are refused', (key, value, why) => {
  expect(() => parseTreeSettings({ [key]: value })).toThrow(why);
});
