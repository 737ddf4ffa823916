import { quote } from '../../../../kube/go-text.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { UserInfo } from '../user.ts';

export interface RoleRef {
  apiGroup?: string;
  kind: string;
  name: string;
}

export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

/** What deciding needs of a RoleBinding or ClusterRoleBinding; the objects themselves are not kept. */
export interface Binding {
  name: string;
  /** '' for a ClusterRoleBinding. */
  namespace: string;
  roleRef: RoleRef;
  subjects: Subject[];
}

export function bindingOf(object: KubeObject): Binding {
  return {
    name: object.metadata.name!,
    namespace: object.metadata.namespace ?? '',
    roleRef: object.roleRef as RoleRef,
    subjects: (object.subjects as Subject[] | undefined) ?? [],
  };
}

/** A ServiceAccount is a user with a long name, so two kinds of keys are enough. */
const userKey = (name: string): string => `U${name}`;
const groupKey = (name: string): string => `G${name}`;

function subjectKey(subject: Subject, bindingNamespace: string): string | undefined {
  switch (subject.kind) {
    case 'User':
      return userKey(subject.name);
    case 'Group':
      return groupKey(subject.name);
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace;
      return namespace === '' ? undefined : userKey(`system:serviceaccount:${namespace}:${subject.name}`);
    }
    default:
      return undefined;
  }
}

/** The bindings of one scope (a namespace, or the cluster) by whom they are for: finding a user's costs nothing of the others'. */
export class BindingIndex {
  readonly #byName = new Map<string, Binding>();
  readonly #bySubject = new Map<string, Set<Binding>>();

  get size(): number {
    return this.#byName.size;
  }

  set(binding: Binding): void {
    this.delete(binding.name);
    this.#byName.set(binding.name, binding);
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      if (key === undefined) continue;
      const known = this.#bySubject.get(key);
      if (known) known.add(binding);
      else this.#bySubject.set(key, new Set([binding]));
    }
  }

  delete(name: string): void {
    const binding = this.#byName.get(name);
    if (!binding) return;
    this.#byName.delete(name);
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      const known = key === undefined ? undefined : this.#bySubject.get(key);
      known?.delete(binding);
      if (known?.size === 0) this.#bySubject.delete(key!);
    }
  }

  /** Calls `visit` with each binding that applies to the user until it returns false; false when it was stopped. */
  visit(user: UserInfo, visit: (binding: Binding) => boolean): boolean {
    for (const binding of this.#bySubject.get(userKey(user.name)) ?? []) if (!visit(binding)) return false;
    for (const group of user.groups) {
      for (const binding of this.#bySubject.get(groupKey(group)) ?? []) if (!visit(binding)) return false;
    }
    return true;
  }
}

/** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`, naming the first subject that applies. */
export function describeBinding(binding: Binding, user: UserInfo): string {
  const { roleRef, namespace } = binding;
  const subject = binding.subjects.find((candidate) => appliesTo(candidate, user, namespace));
  const [kind, name] = namespace === '' ? ['ClusterRoleBinding', binding.name] : ['RoleBinding', `${binding.name}/${namespace}`];
  return `${kind} ${quote(name)} of ${roleRef.kind} ${quote(roleRef.name)} to ${describeSubject(subject!, namespace)}`;
}

function describeSubject(subject: Subject, bindingNamespace: string): string {
  const name = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || bindingNamespace}` : subject.name;
  return `${subject.kind} ${quote(name)}`;
}

function appliesTo(subject: Subject, user: UserInfo, bindingNamespace: string): boolean {
  const key = subjectKey(subject, bindingNamespace);
  return subject.kind === 'Group' ? user.groups.includes(subject.name) : key === userKey(user.name);
}
