const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';
const KUBERNETES_DOMAINS = ['kubernetes.io', 'k8s.io'];

type Labels = Readonly<Record<string, string>> | undefined;

/** The labels among those that differ that a node may not change on itself: it could draw Pods that way. Sorted. */
export function forbiddenLabels(after: Labels = {}, before: Labels = {}): string[] {
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .filter((key) => after[key] !== before[key] && isForbidden(key))
    .sort();
}

function isForbidden(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  const isOf = (parent: string) => domain === parent || domain.endsWith(`.${parent}`);
  if (isOf(RESTRICTED_DOMAIN)) return true;
  return KUBERNETES_DOMAINS.some(isOf) && !KUBELET_LABELS.has(key) && !KUBELET_DOMAINS.some(isOf);
}
