import { quote } from '../../../../kube/go-text.ts';
import type { GroupResource } from '../../../../kube/object.ts';
import type { ObjectChange, ObjectReader } from '../../registry/objects.ts';
import type { PolicyRule, UserInfo } from '../user.ts';
import { BindingIndex, bindingOf, type Binding, type RoleRef } from './bindings.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
const resource = (name: string): GroupResource => ({ group: RBAC_GROUP, resource: name });
export const ROLES = resource('roles');
export const CLUSTER_ROLES = resource('clusterroles');
export const ROLE_BINDINGS = resource('rolebindings');
export const CLUSTER_ROLE_BINDINGS = resource('clusterrolebindings');

interface Scope {
  /** Grows with every change in the namespace, so that decisions made before are recognised as old. */
  epoch: number;
  /** Undefined until the namespace is first asked about. */
  bindings?: BindingIndex;
  roles: Map<string, readonly PolicyRule[]>;
}

export type Visit = (rule: PolicyRule, binding: Binding) => boolean;

/**
 * Roles and bindings by scope, read when a scope is first asked about and kept current by changes from then on. A namespace
 * without bindings takes no memory, however often it is asked about.
 */
export class PolicyIndex {
  readonly #reader: ObjectReader;
  readonly #namespaces = new Map<string, Scope>();
  readonly #clusterRoles = new Map<string, readonly PolicyRule[]>();
  #clusterBindings: BindingIndex | undefined;
  #clusterEpoch = 1;
  #lastEpoch = 1;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
    reader.onChange(CLUSTER_ROLES, (change) => this.#clusterRoleChanged(change));
    reader.onChange(CLUSTER_ROLE_BINDINGS, (change) => this.#clusterBindingChanged(change));
    reader.onChange(ROLES, (change) => this.#roleChanged(change));
    reader.onChange(ROLE_BINDINGS, (change) => this.#bindingChanged(change));
  }

  /** Changes whenever a ClusterRole or ClusterRoleBinding does: decisions everywhere may be different then. */
  get clusterEpoch(): number {
    return this.#clusterEpoch;
  }

  /** Changes whenever a Role or RoleBinding of the namespace does. */
  namespaceEpoch(namespace: string): number {
    return this.#namespaces.get(namespace)?.epoch ?? 0;
  }

  /** Calls `visit` with every rule that applies to the user until it returns false. Roles that do not exist are reported as errors. */
  visitRules(user: UserInfo, namespace: string, visit: Visit, onError: (message: string) => void): void {
    const visitBinding = (binding: Binding): boolean => {
      const rules = this.rulesOf(binding.roleRef, binding.namespace);
      if (typeof rules === 'string') {
        onError(rules);
        return true;
      }
      for (const rule of rules) if (!visit(rule, binding)) return false;
      return true;
    };
    if (!this.#clusterScope().visit(user, visitBinding) || namespace === '') return;
    this.#scope(namespace)?.visit(user, visitBinding);
  }

  /** The rules of a role, or the reason why there are none. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    if (roleRef.kind === 'ClusterRole') return this.#clusterRole(roleRef.name) ?? `clusterrole.${RBAC_GROUP} "${roleRef.name}" not found`;
    if (roleRef.kind === 'Role') return this.#role(namespace, roleRef.name) ?? `role.${RBAC_GROUP} "${roleRef.name}" not found`;
    return `unsupported role reference kind: ${quote(roleRef.kind)}`;
  }

  #clusterScope(): BindingIndex {
    if (!this.#clusterBindings) {
      this.#clusterBindings = new BindingIndex();
      for (const object of this.#reader.list(CLUSTER_ROLE_BINDINGS)) this.#clusterBindings.set(bindingOf(object));
    }
    return this.#clusterBindings;
  }

  #scope(namespace: string): BindingIndex | undefined {
    const known = this.#namespaces.get(namespace);
    if (known?.bindings) return known.bindings;
    const found = this.#reader.list(ROLE_BINDINGS, namespace);
    if (found.length === 0) return undefined;
    const bindings = new BindingIndex();
    for (const object of found) bindings.set(bindingOf(object));
    if (known) known.bindings = bindings;
    else this.#namespaces.set(namespace, { epoch: ++this.#lastEpoch, bindings, roles: new Map() });
    return bindings;
  }

  #clusterRole(name: string): readonly PolicyRule[] | undefined {
    const known = this.#clusterRoles.get(name);
    if (known) return known;
    const role = this.#reader.get(CLUSTER_ROLES, '', name);
    if (!role) return undefined;
    const rules: PolicyRule[] = role.rules ?? [];
    this.#clusterRoles.set(name, rules);
    return rules;
  }

  #role(namespace: string, name: string): readonly PolicyRule[] | undefined {
    const known = this.#namespaces.get(namespace)?.roles.get(name);
    if (known) return known;
    const role = this.#reader.get(ROLES, namespace, name);
    if (!role) return undefined;
    const rules: PolicyRule[] = role.rules ?? [];
    this.#namespaces.get(namespace)?.roles.set(name, rules);
    return rules;
  }

  #clusterRoleChanged({ object }: ObjectChange): void {
    this.#clusterRoles.delete(object.metadata.name!);
    this.#clusterEpoch = ++this.#lastEpoch;
  }

  #clusterBindingChanged({ type, object }: ObjectChange): void {
    if (type === 'DELETED') this.#clusterBindings?.delete(object.metadata.name!);
    else this.#clusterBindings?.set(bindingOf(object));
    this.#clusterEpoch = ++this.#lastEpoch;
  }

  #roleChanged({ object }: ObjectChange): void {
    const { namespace, name } = object.metadata;
    this.#touch(namespace!).roles.delete(name!);
  }

  #bindingChanged({ type, object }: ObjectChange): void {
    const { namespace, name } = object.metadata;
    const scope = this.#touch(namespace!);
    if (type === 'DELETED') scope.bindings?.delete(name!);
    else scope.bindings?.set(bindingOf(object));
    if (type === 'DELETED' && scope.bindings?.size === 0) scope.bindings = undefined;
  }

  /** The scope with a new epoch. It stays after its last binding went: an old decision must not look current again. */
  #touch(namespace: string): Scope {
    let scope = this.#namespaces.get(namespace);
    if (!scope) {
      scope = { epoch: 0, roles: new Map() };
      this.#namespaces.set(namespace, scope);
    }
    scope.epoch = ++this.#lastEpoch;
    return scope;
  }
}
