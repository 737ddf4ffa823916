/** What the administrator decided about the tree; HNC has these as flags of its manager. */
export interface TreeSettings {
  /** Never part of the tree. Every name that begins with `kube-` is excluded as well. */
  excludedNamespaces: ReadonlySet<string>;
  /** Only names that match in full are part of the tree. */
  includedNamespaces: string;
  /** Labels and annotations of namespaces, as patterns over whole keys, that only HierarchyConfigurations and anchors may set. */
  managedLabels: readonly RegExp[];
  managedAnnotations: readonly RegExp[];
}

export const DEFAULT_SETTINGS: TreeSettings = {
  excludedNamespaces: new Set(['default', 'hnc-system', 'tenantry-system']),
  includedNamespaces: '.*',
  managedLabels: [],
  managedAnnotations: [],
};

/** Settings as an administrator writes them: words apart by spaces or lines. What is left out stays as it is by default. */
export function parseTreeSettings(data: Record<string, string>): TreeSettings {
  const words = (key: string): string[] => (data[key] ?? '').split(/\s+/).filter((word) => word !== '');
  const includedNamespaces = data['includedNamespaceRegex']?.trim() || DEFAULT_SETTINGS.includedNamespaces;
  // Checked here, where it can be told whose it is.
  void new RegExp(includedNamespaces);
  return {
    excludedNamespaces: new Set([...DEFAULT_SETTINGS.excludedNamespaces, ...words('excludedNamespaces')]),
    includedNamespaces,
    managedLabels: words('managedNamespaceLabels').map(managedKeyPattern),
    managedAnnotations: words('managedNamespaceAnnotations').map(managedKeyPattern),
  };
}

/** @returns why a namespace of this name is no part of the tree, in HNC's words; undefined when it is, and for "no namespace" */
export function whyUnmanaged(settings: TreeSettings, name: string | undefined): string | undefined {
  if (!name) return undefined;
  if (name.startsWith('kube-') || settings.excludedNamespaces.has(name)) return 'excluded by the HNC administrator';
  if (settings.includedNamespaces === '.*') return undefined;
  const pattern = `^${settings.includedNamespaces}$`;
  return new RegExp(`^(?:${settings.includedNamespaces})$`).test(name)
    ? undefined
    : `does not match the regex set by the HNC administrator: \`${pattern}\``;
}

export function isManagedKey(patterns: readonly RegExp[], key: string): boolean {
  return patterns.some((pattern) => pattern.test(key));
}

/** The pattern of a managed key, anchored; refuses what would match the tree's own. */
export function managedKeyPattern(source: string): RegExp {
  const pattern = new RegExp(`^(?:${source})$`);
  if (pattern.test('hnc.x-k8s.io'))
    throw new Error(`Cannot manage keys that match "${source}": it matches "hnc.x-k8s.io"; choose a narrower pattern`);
  return pattern;
}
