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
  /** What mutating webhooks remember between the first run of the mutating plugins and a second one. Made by the plugin that needs it. */
  reinvocation?: Reinvocation;
  /** What has to be undone when the write fails after it was admitted. Filled by plugins, run by Admission.abandon. */
  undo?: (() => void)[];
}

export interface Reinvocation {
  /** Some plugin asked for a second run of all mutating plugins. */
  requested: boolean;
  /** This is the second run. */
  active: boolean;
  /** Keys of the webhooks that ran and want to see the object again if something changes it after them. */
  invoked: Set<string>;
  /** Keys of the webhooks that the second run calls. */
  again: Set<string>;
  /** The object as the webhooks of the first run left it, as JSON. */
  lastSeen?: string;
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
