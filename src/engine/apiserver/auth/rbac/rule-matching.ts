import type { Attributes, PolicyRule } from '../user.ts';

const ALL = '*';

/** Whether the rule's verbs, groups and resources (or paths) fit, names aside: those are asked for apart, see `nameMatches`. */
export function ruleMatches(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includesOrAll(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined) return pathMatches(rule.nonResourceURLs, attributes.path);
  return includesOrAll(rule.apiGroups, attributes.group ?? '') && resourceMatches(rule.resources, attributes);
}

export function nameMatches(rule: PolicyRule, name: string | undefined): boolean {
  return !namesResources(rule) || rule.resourceNames!.includes(name ?? '');
}

export function namesResources(rule: PolicyRule): boolean {
  return (rule.resourceNames?.length ?? 0) > 0;
}

/** Lists of a rule, null where the client wrote null or nothing. */
type Values = readonly string[] | null | undefined;

function includesOrAll(allowed: Values, wanted: string): boolean {
  return allowed ? allowed.includes(wanted) || allowed.includes(ALL) : false;
}

/** `pods`, `pods/log`, `*` for everything, and `*\/scale` for one subresource of everything; `pods/*` means nothing, as upstream. */
function resourceMatches(allowed: Values, { resource = '', subresource = '' }: Attributes): boolean {
  if (!allowed) return false;
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  if (allowed.includes(ALL) || allowed.includes(wanted)) return true;
  return subresource !== '' && allowed.includes(`*/${subresource}`);
}

function pathMatches(allowed: Values, path: string): boolean {
  return allowed ? allowed.some((pattern) => pathCovers(pattern, path)) : false;
}

/** Equal, or the pattern ends in stars and the path begins with what stands before them. */
export function pathCovers(pattern: string, path: string): boolean {
  if (pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, ''));
}
