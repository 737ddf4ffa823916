import {
  MANAGED_LABEL,
  PLACED_FROM_LABEL,
  PLUGIN_LABEL,
  PUBLISHER_LABEL,
  VERSION_LABEL,
  WORKLOAD_LABEL,
} from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { LimitRange, NetworkPolicy, Secret, Service, ServiceAccount } from '../../../../client/kinds.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { Part } from '../../installation/model/target.ts';
import { TOKEN_SECRET } from '../../identity/plugin-tokens.ts';
import { SECRETS_SECRET } from '../../workload/deployment.ts';

/** A kind of objects that the Pods of a plugin need, as they are on the host, in this part of the installation. */
export interface CopiedPart {
  kind: Kind;
  part: Part;
  copy(original: KubeObject): Record<string, unknown> | undefined;
}

/** By name: what else may come to be there is nothing for the administrators of a tenant's cluster to read. */
const secretOf = ({ metadata, type, data }: KubeObject) =>
  metadata.name === TOKEN_SECRET || metadata.name === SECRETS_SECRET ? { type, data } : undefined;

/** In this order. Neither quotas, because bounds of clusters are policies, nor anything of backends, which are not reached from there. */
export const COPIED_PARTS: readonly CopiedPart[] = [
  { kind: LimitRange, part: 'limits', copy: ({ spec }) => ({ spec }) },
  { kind: NetworkPolicy, part: 'network', copy: ({ spec }) => ({ spec }) },
  { kind: ServiceAccount, part: 'identity', copy: () => ({ automountServiceAccountToken: false }) },
  { kind: Secret, part: 'identity', copy: secretOf },
  { kind: Secret, part: 'secrets', copy: secretOf },
  { kind: Service, part: 'workload', copy: ({ spec }) => ({ spec: { selector: spec.selector, ports: spec.ports } }) },
];

const KEPT_LABELS = [PLUGIN_LABEL, PUBLISHER_LABEL, MANAGED_LABEL, VERSION_LABEL, WORKLOAD_LABEL];

/** @returns undefined when it does not belong into the cluster */
export function copyOf({ copy }: CopiedPart, original: KubeObject, tenant: string): KubeObject | undefined {
  const content = original.metadata.deletionTimestamp === undefined ? copy(original) : undefined;
  if (content === undefined) return undefined;
  return marked({ apiVersion: original.apiVersion, kind: original.kind, metadata: original.metadata, ...content }, tenant);
}

/** With the labels of ours and no others; its Pods, if it makes any, are marked too. */
export function marked(object: KubeObject, tenant: string): KubeObject {
  const { name, labels = {}, annotations } = object.metadata;
  const own = Object.fromEntries(KEPT_LABELS.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]]])));
  const metadata = {
    name,
    labels: { ...own, [PLACED_FROM_LABEL]: tenant },
    ...(object.kind === 'Deployment' && annotations ? { annotations } : {}),
  };
  if (object.kind !== 'Deployment') return { ...object, metadata };
  const { template } = object.spec;
  const podLabels = { ...template.metadata.labels, [PLACED_FROM_LABEL]: tenant };
  return {
    ...object,
    metadata,
    spec: { ...object.spec, template: { ...template, metadata: { ...template.metadata, labels: podLabels } } },
  };
}
