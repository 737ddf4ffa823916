import type { FieldError } from '../../../kube/field-error.ts';
import type { GroupVersionKind, Json, KubeObject } from '../../../kube/object.ts';
import type { ResolveSchema, Schema } from '../../../kube/schema.ts';
import type { UserInfo } from '../auth/user.ts';

/**
 * One served resource in one version: the entry of discovery, and everything generic verbs need to know about its kind.
 * Built-in kinds and CRDs both become this; the verbs know no kind by name.
 */
export interface Resource {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  /** Plural, lower case: `deployments`. */
  resource: string;
  singular: string;
  shortNames: string[];
  categories: string[];
  namespaced: boolean;
  verbs: string[];
  subresources: Subresource[];
  /** Where its objects are stored: shared by all versions of the resource (and by `events` of both groups). */
  storage: { group: string; resource: string; version: string };
  /** Versions of one resource share one strategy. */
  strategy: Strategy;
  /** Converts between this version and the storage version. Identity (undefined) when they are the same. */
  toStorage?: (object: KubeObject) => KubeObject | Promise<KubeObject>;
  fromStorage?: (object: KubeObject) => KubeObject | Promise<KubeObject>;
  schema: Schema;
  resolve: ResolveSchema;
  /** For built-in kinds: what Go's empty value of the kind prints, without defaults. Field ownership starts from it on a create. */
  empty?: () => Json;
  /** False for custom resources: their schemas carry no patch strategies. */
  strategicMerge?: boolean;
  columns: TableColumn[];
  /** Field selectors beyond metadata.name and metadata.namespace, by their path, on the storage version. */
  selectableFields: Record<string, (object: KubeObject) => string>;
  /** Present when there is a `scale` subresource. */
  scale?: ScaleAccess;
  /** Deprecation notice sent as a Warning header with every answer. */
  warning?: string;
  /** Its definition is being deleted: nothing new may come, but what is there may still change, or finalizers could never go. */
  terminating?: boolean;
}

export interface Subresource {
  /** `status`, `scale`, `binding`, `eviction`, `token`, `approval` ... */
  name: string;
  verbs: string[];
  /** Kind of the bodies: the parent's own for `status`, autoscaling/v1 Scale for `scale`. */
  kind: GroupVersionKind;
}

/**
 * What makes one kind different from the next on its way into the store. All functions are pure and synchronous, work on the
 * version of the request, and may edit the draft they are given. Order on a create: decode, prepareCreate, admission (mutate),
 * decode again if it changed anything, validateCreate, admission (validate), store. On an update likewise with prepareUpdate/validateUpdate.
 */
export interface Strategy {
  /**
   * Checks JSON types, drops or reports unknown fields, drops nulls, brings values to canonical form (quantities, times) and applies
   * defaults, in one pass. @throws StatusError BadRequest in Kubernetes' words on a wrong type.
   */
  decode(object: Json, version: string, onUnknown?: (path: string) => void): KubeObject;
  /** System-owned fields are already set. Clear status, set generation, and what else the kind does. */
  prepareCreate(object: KubeObject, context: WriteContext): void;
  /** `old` is what is stored, in the same version. Keep status on spec updates, raise generation when the spec changed, ... */
  prepareUpdate(object: KubeObject, old: KubeObject, context: WriteContext): void;
  validateCreate(object: KubeObject, context: WriteContext): FieldError[];
  validateUpdate(object: KubeObject, old: KubeObject, context: WriteContext): FieldError[];
  /**
   * The same as `decode` and `validateCreate`/`validateUpdate` (`old` is undefined on a create), giving way to other work in between.
   * To be used for bodies beyond 64 KiB; kinds without them have no object that takes long.
   */
  decodeLarge?(object: Json, version: string, onUnknown?: (path: string) => void): Promise<KubeObject>;
  /** Custom objects are always checked with this: what their rules cost does not depend on the size of the body. */
  validateLarge?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): FieldError[] | Promise<FieldError[]>;
  /** Advice that does not refuse, as Warning headers. */
  warnings?(object: KubeObject, old: KubeObject | undefined): string[];
  /** PUT to a name that does not exist creates it. */
  allowCreateOnUpdate?: boolean;
  /** An update without resourceVersion is accepted (true for most built-in kinds). */
  allowUnconditionalUpdate: boolean;
  /** Seconds an object stays with a deletionTimestamp after a delete; undefined or 0: it goes at once. Pods ask for 30. */
  gracePeriod?(object: KubeObject, requested: number | undefined): number;
  /** `orphan` for kinds that keep their dependants unless told otherwise. Only Jobs' old default; background otherwise. */
  defaultPropagation?: 'Orphan' | 'Background';
  /** Also validates metadata.name: 'dns-subdomain', 'dns-label', 'dns1035-label', 'path-segment' (RBAC), 'ip-address' (IPAddress). */
  nameRule: 'dns-subdomain' | 'dns-label' | 'dns1035-label' | 'path-segment' | 'ip-address';
  /** Paths reset before field ownership is computed, per subresource ('' is the main one), e.g. { '': ['status'], status: ['spec'] }. */
  resetFields: Record<string, string[]>;
}

export interface WriteContext {
  user: UserInfo;
  version: string;
  /** '' for the main resource. */
  subresource: string;
  now: () => Date;
}

/** How a scalable kind keeps what autoscaling/v1 Scale shows. Objects are in the version of the request. */
export interface ScaleAccess {
  specReplicas(object: KubeObject): number | undefined;
  setSpecReplicas(draft: KubeObject, replicas: number): void;
  statusReplicas(object: KubeObject): number;
  /** Serialized label selector, '' when there is none. */
  selector(object: KubeObject): string;
}

export interface TableColumn {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
  /** The cell; `now` for ages. */
  cell(object: KubeObject, now: Date): Json;
}
