import { PLUGINS_GROUP } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Attempt } from './attempt.ts';

/** A request that the API server answered, as far as it matters here. */
export interface AnsweredRequest {
  code: number;
  user: { name: string; groups: readonly string[] };
  verb: string;
  /** `group/resource` or the path of what is no resource. */
  resource: string;
  namespace: string;
  name: string;
  message?: string;
  source?: string;
  at: number;
}

/** Who of a plugin asks: itself with its token, or an account of its namespace. */
export interface Asker {
  tenant: string;
  plugin: string;
  /** Where it runs. */
  namespace: string;
}

const SUBJECT = /^plugin:([^:]+):([^:]+)$/;
const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

/** The plugin and the tenant of a user, or the namespace that its account is in; undefined for everybody else. */
export function pluginUser({
  name,
  groups,
}: AnsweredRequest['user']): { plugin: string; tenant: string } | { namespace: string } | undefined {
  const [, plugin, tenant] = SUBJECT.exec(name) ?? [];
  if (plugin !== undefined) return groups.includes(PLUGINS_GROUP) ? { plugin, tenant } : undefined;
  const [, namespace] = ACCOUNT.exec(name) ?? [];
  return namespace === undefined || !namespace.startsWith('plugin-') ? undefined : { namespace };
}

/** A refusal outside of the plugin's own namespace. What is refused inside is nobody else's. */
export function apiAttempt(request: AnsweredRequest, asker: Asker | undefined): Attempt | undefined {
  if (request.code !== 403 || !asker || request.namespace === asker.namespace) return undefined;
  const { verb, resource, namespace, name, message, source, at } = request;
  const where = [namespace, name].filter((part) => part !== '').join('/');
  const target = `${verb} ${resource}${where === '' ? '' : ` ${where}`}`;
  return { tenant: asker.tenant, plugin: asker.plugin, kind: 'api', target, rule: 'rbac', message, source, at };
}
