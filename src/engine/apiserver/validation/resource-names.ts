import { isQualifiedName } from '../../../kube/names.ts';
import type { Findings } from './findings.ts';
import type { Path } from './path.ts';

/** Names of compute resources and of what quotas count. */
const QUOTA_RESOURCES = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);
const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const POD_LEVEL_RESOURCES = new Set(['cpu', 'memory']);
const HUGE_PAGES = 'hugepages-';

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

export function hugePageSize(name: string): string {
  return name.slice(HUGE_PAGES.length);
}

function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);
}

export function isStandardQuotaResource(name: string): boolean {
  return QUOTA_RESOURCES.has(name) || isQuotaHugePages(name);
}

function isStandardResource(name: string): boolean {
  return name === 'storage' || isStandardQuotaResource(name);
}

/** Without a domain, or in kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

/** @returns whether the name was right. */
export function checkResourceName(out: Findings, name: string, at: Path): boolean {
  if (CONTAINER_RESOURCES.has(name)) return true;
  const messages = isQualifiedName(name);
  out.invalidEach(at, name, messages);
  if (messages.length > 0) return false;
  if (name.includes('/') || isStandardResource(name)) return true;
  out.invalid(at, name, 'must be a standard resource type or fully qualified');
  return false;
}

export function checkContainerResourceName(out: Findings, name: string, at: Path): void {
  if (CONTAINER_RESOURCES.has(name)) return;
  checkResourceName(out, name, at);
  if (!name.includes('/')) {
    if (!isHugePages(name)) out.invalid(at, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    out.invalid(at, name, "doesn't follow extended resource name standard");
  }
}

export function checkPodLevelResourceName(out: Findings, name: string, at: Path): void {
  if (!checkResourceName(out, name, at)) return;
  if (!POD_LEVEL_RESOURCES.has(name) && !isHugePages(name)) out.notSupported(at, name, ['cpu', 'hugepages-', 'memory']);
}

export function checkQuotaResourceName(out: Findings, name: string, at: Path): void {
  checkResourceName(out, name, at);
  if (!name.includes('/') && !isStandardQuotaResource(name)) out.invalid(at, name, 'must be a standard resource for quota');
}
