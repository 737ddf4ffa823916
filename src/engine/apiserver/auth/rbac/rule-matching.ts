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
  return rule.resourceNames !== undefined && rule.resourceNames.length > 0;
}

function includesOrAll(allowed: string[] | undefined, wanted: string): boolean {
  return allowed !== undefined && (allowed.includes(wanted) || allowed.includes(ALL));
}

/** `pods`, `pods/log`, `*` for everything, and `*\/scale` for one subresource of everything; `pods/*` means nothing, as upstream. */
function resourceMatches(allowed: string[] | undefined, { resource = '', subresource = '' }: Attributes): boolean {
  if (allowed === undefined) return false;
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  if (allowed.includes(ALL) || allowed.includes(wanted)) return true;
  return subresource !== '' && allowed.includes(`*/${subresource}`);
}

function pathMatches(allowed: string[] | undefined, path: string): boolean {
  return allowed !== undefined && allowed.some((pattern) => pathCovers(pattern, path));
}

/** Equal, or the pattern ends in stars and the path begins with what stands before them. */
export function pathCovers(pattern: string, path: string): boolean {
  if (pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, ''));
}
