import { GROUP } from '../../api/kruntimes.io/v1alpha1/group.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { Role, RoleBinding } from '../../client/kinds.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import { FIELD_MANAGER, type Session } from '../terminal/session.ts';

export interface AllowFlags {
  user?: string[];
  group?: string[];
  /** `namespace:name`, as kubectl writes them; or a name in the Runtime's own namespace. */
  serviceAccount?: string[];
}

interface Subject {
  kind: string;
  name: string;
  namespace?: string;
  apiGroup?: string;
}

const RBAC = 'rbac.authorization.k8s.io';

/** Lets users use a restricted Runtime: a Role with the verb `use`, which kubectl refuses to make, and a binding to it. */
export async function allow(session: Session, name: string, flags: AllowFlags): Promise<number> {
  const { cluster, namespace } = session;
  const subjects = subjectsOf(flags, namespace);
  if (subjects.length === 0) {
    throw new Error(`Cannot allow nobody to use Runtime "${name}": say who, with --for-user, --for-group or --for-service-account`);
  }
  const where = { server: cluster.server, namespace };
  await attempting(`allow the use of Runtime "${name}"`, where, async () => {
    const runtime = await cluster.client.resource(RuntimeKind, namespace).get(name);
    const role = `use-${name}`;
    const rules = [{ apiGroups: [GROUP], resources: ['runtimes'], resourceNames: [name], verbs: ['use'] }];
    await cluster.client.resource(Role, namespace).apply({ metadata: { name: role }, rules }, { fieldManager: FIELD_MANAGER });
    await bind(session, role, subjects);
    for (const subject of subjects) session.out(`${describe(subject)} may use Runtime ${name}\n`);
    if (runtime.spec.access !== 'Restricted') {
      session.err(`Runtime ${name} is open: all who may create Runs in namespace "${namespace}" use it, until its access is Restricted\n`);
    }
  });
  return 0;
}

/** Those who are bound already stay. A list of subjects is one value, so that it is written as it was read or not at all. */
async function bind({ cluster, namespace }: Session, role: string, subjects: Subject[]): Promise<void> {
  const bindings = cluster.client.resource(RoleBinding, namespace);
  for (;;) {
    try {
      const existing = await bindings.get(role).catch((error: unknown) => {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      });
      if (existing === undefined) {
        const roleRef = { apiGroup: RBAC, kind: 'Role', name: role };
        await bindings.create({ metadata: { name: role }, roleRef, subjects });
        return;
      }
      const known = (existing.subjects ?? []) as Subject[];
      const added = subjects.filter((subject) => !known.some((one) => describe(one) === describe(subject)));
      if (added.length > 0) await bindings.update({ ...existing, subjects: [...known, ...added] });
      return;
    } catch (error) {
      if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
}

function subjectsOf({ user = [], group = [], serviceAccount = [] }: AllowFlags, namespace: string): Subject[] {
  return [
    ...user.map((name) => ({ kind: 'User', name, apiGroup: RBAC })),
    ...group.map((name) => ({ kind: 'Group', name, apiGroup: RBAC })),
    ...serviceAccount.map((text) => {
      const at = text.indexOf(':');
      return { kind: 'ServiceAccount', name: text.slice(at + 1), namespace: at < 0 ? namespace : text.slice(0, at) };
    }),
  ];
}

function describe({ kind, name, namespace }: Subject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}:${name}`;
}
