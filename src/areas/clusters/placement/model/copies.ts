import { createHash } from 'node:crypto';
import { RuntimeKind } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { CLUSTER_LABEL, ORIGINAL_HASH, ORIGINAL_UID, PLACED_FROM_LABEL } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { ConfigMap, LimitRange, Secret, ServiceAccount } from '../../../../client/kinds.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';

/** A kind of objects that Runtimes and Runs are made of, or need. */
export interface CopiedKind {
  kind: Kind;
  /** What of it goes into the cluster; undefined: this one stays out. */
  copy(original: KubeObject): Omit<KubeObject, 'apiVersion' | 'kind' | 'metadata'> | undefined;
  /** What becomes of the copy is told on the original. */
  reportsStatus?: boolean;
}

const TOKEN = 'kubernetes.io/service-account-token';
/** Every namespace has one of its own cluster's. */
const ROOT_CA = 'kube-root-ca.crt';

/**
 * All that is copied besides Runs, in this order. Quotas are not: how much a cluster may have is its policies' to say. Neither are other
 * workloads, nor volumes: who wants them in the cluster makes them there.
 */
export const COPIED_KINDS: readonly CopiedKind[] = [
  { kind: LimitRange, copy: ({ spec }) => ({ spec }) },
  {
    kind: ConfigMap,
    copy: ({ metadata, data, binaryData, immutable }) =>
      metadata.name === ROOT_CA || isOutputOfRun(metadata) ? undefined : definedOnly({ data, binaryData, immutable }),
  },
  {
    kind: Secret,
    copy: ({ metadata, type, data, immutable }) =>
      type === TOKEN || metadata.labels?.[CLUSTER_LABEL] !== undefined ? undefined : definedOnly({ type, data, immutable }),
  },
  {
    kind: ServiceAccount,
    copy: ({ automountServiceAccountToken, imagePullSecrets }) => definedOnly({ automountServiceAccountToken, imagePullSecrets }),
  },
  { kind: RuntimeKind, copy: ({ spec }) => ({ spec }), reportsStatus: true },
];

/** @returns undefined when nothing of it belongs into the cluster */
export function copyOf({ kind, copy }: CopiedKind, original: KubeObject, tenant: string): KubeObject | undefined {
  const content = original.metadata.deletionTimestamp === undefined ? copy(original) : undefined;
  if (content === undefined) return undefined;
  const { name, namespace, labels, annotations } = ownMetadata(original.metadata);
  const hash = createHash('sha256')
    .update(JSON.stringify([labels, annotations, content]))
    .digest('hex')
    .slice(0, 16);
  return {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      namespace,
      labels: { ...labels, [PLACED_FROM_LABEL]: tenant },
      annotations: { ...annotations, [ORIGINAL_UID]: original.metadata.uid!, [ORIGINAL_HASH]: hash },
    },
    ...content,
  };
}

/** What people wrote on it; what the tree and the platform wrote means nothing elsewhere. */
export function ownMetadata({ name, namespace, labels, annotations }: ObjectMeta): ObjectMeta {
  return { name, namespace, labels: own(labels), annotations: own(annotations) };
}

const FOREIGN = /(^|\.)(tenantry\.dev|hnc\.x-k8s\.io)\//;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function own(entries: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => !FOREIGN.test(key) && key !== LAST_APPLIED));
}

function isOutputOfRun({ ownerReferences }: ObjectMeta): boolean {
  return ownerReferences?.some(({ kind }) => kind === 'Run') === true;
}

function definedOnly(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
