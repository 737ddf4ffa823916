import type { GroupResource, KubeObject } from '../../../kube/object.ts';

/**
 * The server's own view of its objects, for authorizers and admission that sit inside it: synchronous, in memory,
 * without authorization. Objects are in their storage version, frozen and shared; copy before changing.
 */
export interface ObjectReader {
  get<T extends KubeObject = KubeObject>(resource: GroupResource, namespace: string, name: string): T | undefined;
  list<T extends KubeObject = KubeObject>(resource: GroupResource, namespace?: string): T[];
  /** Called after each durable change; `object` is the last state when it was deleted. */
  onChange(resource: GroupResource, listener: (change: ObjectChange) => void): () => void;
}

export interface ObjectChange {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
  previous?: KubeObject;
}

export interface CreateOptions {
  /** It came with this program: its tests have judged it, so that no start does it again, and a status that it has is kept. */
  ours?: boolean;
}

/**
 * Writes by the server itself (bootstrap objects, quota usage, CRD conditions). They skip authentication, authorization and
 * admission, and keep everything else: defaults, validation, resourceVersion, watch events.
 */
export interface ObjectWriter extends ObjectReader {
  create(resource: GroupResource, object: KubeObject, options?: CreateOptions): Promise<KubeObject>;
  /**
   * Reads the latest state (writes that wait for their commit included), lets `change` edit a private copy and writes it.
   * `change` is called synchronously and exactly once, so nothing can come between; return false to write nothing.
   * @returns the written object, or the unchanged one. @throws StatusError NotFound
   */
  update(
    resource: GroupResource,
    namespace: string,
    name: string,
    change: (draft: KubeObject) => boolean | void,
    subresource?: 'status' | 'binding',
  ): Promise<KubeObject>;
  delete(resource: GroupResource, namespace: string, name: string): Promise<void>;
}
