import type { ObjectReader } from '../../registry/objects.ts';
import { SUPERUSER_GROUP, type Attributes, type Authorizer, type Decision, type PolicyRule, type UserInfo } from '../user.ts';
import { describeBinding, type RoleRef } from './bindings.ts';
import { DecisionCache } from './decision-cache.ts';
import { PolicyIndex } from './policy-index.ts';
import { nameMatches, namesResources, ruleMatches } from './rule-matching.ts';

const SUPERUSER: Decision = Object.freeze({ allowed: true, reason: '' });
/** As kube-apiserver's --authorization-always-allow-paths: a probe needs no identity. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/livez']);

/** Role-based access control: what no rule allows is not allowed. */
export class RbacAuthorizer implements Authorizer {
  readonly #policy: PolicyIndex;
  readonly #cache: DecisionCache;

  constructor(reader: ObjectReader, cache: DecisionCache = new DecisionCache()) {
    this.#policy = new PolicyIndex(reader);
    this.#cache = cache;
  }

  authorize(attributes: Attributes): Decision {
    if (attributes.user.groups.includes(SUPERUSER_GROUP)) return SUPERUSER;
    if (attributes.path !== undefined && OPEN_PATHS.has(attributes.path)) return SUPERUSER;
    const cluster = this.#policy.clusterEpoch;
    const namespace = attributes.namespace ? this.#policy.namespaceEpoch(attributes.namespace) : 0;
    const key = this.#cache.keyOf(attributes);
    const known = this.#cache.find(key, cluster, namespace);
    if (known?.decision) return known.decision;
    const named = known ? this.#cache.find(`${key} ${attributes.name ?? ''}`, cluster, namespace) : undefined;
    return named?.decision ?? this.#decide(attributes, key);
  }

  rulesFor(user: UserInfo, namespace: string): PolicyRule[] {
    return this.resolveRules(user, namespace).rules;
  }

  /** With the roles that are bound and do not exist. */
  resolveRules(user: UserInfo, namespace: string): { rules: PolicyRule[]; errors: string[] } {
    const rules: PolicyRule[] = [];
    const errors: string[] = [];
    const collect = (rule: PolicyRule): boolean => rules.push(rule) > 0;
    this.#policy.visitRules(user, namespace, collect, (message) => errors.push(message));
    return { rules, errors };
  }

  /** The rules that a binding in `namespace` ('' for the cluster) would grant, or why there are none. */
  rulesOfRole(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    return this.#policy.rulesOf(roleRef, namespace);
  }

  #decide(attributes: Attributes, key: string): Decision {
    let reason: string | undefined;
    let nameMattered = false;
    const errors: string[] = [];
    this.#policy.visitRules(
      attributes.user,
      attributes.namespace ?? '',
      (rule, binding) => {
        if (!ruleMatches(rule, attributes)) return true;
        if (attributes.path === undefined && namesResources(rule)) {
          nameMattered = true;
          if (!nameMatches(rule, attributes.name)) return true;
        }
        reason = `RBAC: allowed by ${describeBinding(binding, attributes.user)}`;
        return false;
      },
      (message) => errors.push(message),
    );
    const decision = Object.freeze(reason === undefined ? denial(errors) : { allowed: true, reason });
    this.#remember(attributes, key, nameMattered, decision);
    return decision;
  }

  /** After the visit: it may have loaded the namespace and so given it an epoch. */
  #remember(attributes: Attributes, key: string, nameMattered: boolean, decision: Decision): void {
    const cluster = this.#policy.clusterEpoch;
    const namespace = attributes.namespace ? this.#policy.namespaceEpoch(attributes.namespace) : 0;
    this.#cache.set(key, cluster, namespace, nameMattered ? undefined : decision);
    if (nameMattered) this.#cache.set(`${key} ${attributes.name ?? ''}`, cluster, namespace, decision);
  }
}

function denial(errors: string[]): Decision {
  return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
}

/** One message plainly, several as a list: how Kubernetes joins errors. */
export function aggregate(messages: string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`;
}
