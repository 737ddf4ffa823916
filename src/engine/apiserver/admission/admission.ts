import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../../../kube/object.ts';
import type { UserInfo } from '../auth/user.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write on its way to the store. `object` is a private draft in the version of the request; mutating plugins edit it in place or replace it. */
export interface AdmissionRequest {
  operation: AdmissionOperation;
  resource: GroupVersionResource;
  kind: GroupVersionKind;
  subresource: string;
  /** '' for cluster-scoped objects. */
  namespace: string;
  /** '' on a create with generateName whose name is not made yet. */
  name: string;
  user: UserInfo;
  /** Absent on DELETE. */
  object?: KubeObject;
  /** Absent on CREATE. */
  oldObject?: KubeObject;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request. */
  options: Record<string, unknown>;
  dryRun: boolean;
  /** Shown to the client as Warning headers. */
  warn(text: string): void;
  /** Goes to the audit log. */
  annotate(key: string, value: string): void;
  signal: AbortSignal;
}

/**
 * A refusal is thrown as StatusError. Both phases may be synchronous: most requests match nothing, and must not pay for a
 * promise each. `mutate` runs for all plugins in order, then the object is validated, then `validate` runs for all.
 */
export interface AdmissionPlugin {
  readonly name: string;
  /** False when this plugin has nothing to say on such requests: decided per request, so keep it cheap. */
  handles(request: AdmissionRequest): boolean;
  mutate?(request: AdmissionRequest): Promise<void> | void;
  validate?(request: AdmissionRequest): Promise<void> | void;
}
