import type { Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { ISOLATIONS, type Isolation } from '../../api/tenantry.dev/v1alpha1/tenant.ts';

export interface CreateFlags {
  owner?: string[];
  isolation?: string;
  quota?: string[];
  node?: string[];
  nodeLabel?: string[];
  label?: string[];
  podSecurity?: string;
  registry?: string[];
  runShare?: string;
  maxRuns?: string;
  maxNamespaces?: string;
  deletion?: string;
  gracePeriod?: string;
}

type Spec = Tenant['spec'];
type Owner = NonNullable<Spec['owners']>[number];

/** The Tenant that the flags ask for. */
export function tenantRequest(name: string, flags: CreateFlags): { metadata: { name: string }; spec: Spec } {
  const spec: Spec = {};
  if (flags.owner) spec.owners = flags.owner.map(ownerOf);
  if (flags.isolation !== undefined) spec.isolation = isolationOf(flags.isolation);
  const quota: NonNullable<Spec['quota']> = {};
  if (flags.quota) quota.hard = pairs('quota', flags.quota);
  if (flags.maxNamespaces !== undefined) quota.namespaces = wholeNumber('--max-namespaces', flags.maxNamespaces);
  if (Object.keys(quota).length > 0) spec.quota = quota;
  const nodePool: NonNullable<Spec['nodePool']> = {};
  if (flags.node) nodePool.names = flags.node;
  if (flags.nodeLabel) nodePool.matchLabels = pairs('node-label', flags.nodeLabel);
  if (Object.keys(nodePool).length > 0) spec.nodePool = nodePool;
  if (flags.label) spec.labels = pairs('label', flags.label);
  if (flags.registry) spec.allowed = { registries: flags.registry };
  if (flags.podSecurity !== undefined) spec.podSecurity = flags.podSecurity as Spec['podSecurity'];
  const runs: NonNullable<Spec['runs']> = {};
  if (flags.runShare !== undefined) runs.share = wholeNumber('--run-share', flags.runShare);
  if (flags.maxRuns !== undefined) runs.maxInFlight = wholeNumber('--max-runs', flags.maxRuns);
  if (Object.keys(runs).length > 0) spec.runs = runs;
  const deletion: NonNullable<Spec['deletion']> = {};
  if (flags.deletion !== undefined) deletion.policy = flags.deletion as 'Delete' | 'Retain';
  if (flags.gracePeriod !== undefined) deletion.gracePeriodSeconds = wholeNumber('--grace-period', flags.gracePeriod);
  if (Object.keys(deletion).length > 0) spec.deletion = deletion;
  return { metadata: { name }, spec };
}

/** `alice`, `user:alice`, `group:devs`, `serviceaccount:ci/robot`. */
export function ownerOf(text: string): Owner {
  const [, kind = 'user', name = ''] = /^(?:(user|group|serviceaccount|sa):)?(.*)$/i.exec(text)!;
  if (name === '') throw new Error(`Cannot make "${text}" an owner: it has no name; write alice, group:devs or serviceaccount:ns/name`);
  switch (kind.toLowerCase()) {
    case 'group':
      return { kind: 'Group', name };
    case 'sa':
    case 'serviceaccount': {
      const [namespace, account, ...rest] = name.split('/');
      if (!namespace || !account || rest.length > 0)
        throw new Error(`Cannot make "${text}" an owner: a service account is named serviceaccount:namespace/name`);
      return { kind: 'ServiceAccount', namespace, name: account };
    }
    default:
      return { kind: 'User', name };
  }
}

export function isolationOf(text: string): Isolation {
  const found = ISOLATIONS.find((each) => each.toLowerCase() === text.replaceAll('-', '').toLowerCase());
  if (!found) throw new Error(`Cannot isolate as "${text}": the settings are ${ISOLATIONS.join(', ')}; choose one of them`);
  return found;
}

function pairs(flag: string, list: string[]): Record<string, string> {
  return Object.fromEntries(
    list
      .flatMap((each) => each.split(','))
      .map((each) => {
        const at = each.indexOf('=');
        if (at <= 0) throw new Error(`Cannot read --${flag} "${each}": it must be name=value`);
        return [each.slice(0, at), each.slice(at + 1)];
      }),
  );
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`Cannot read ${flag} "${text}": it must be a whole number`);
  return Number(text);
}
