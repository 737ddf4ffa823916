import { compareText } from '../../../../kube/go-text.ts';
import { quotedList } from '../authentication/token-authenticator.ts';
import type { PolicyRule } from '../user.ts';
import { pathCovers } from './rule-matching.ts';

const ALL = '*';

/** What one check may cost: a role of a few kilobytes can name millions of combinations. */
const MAX_PARTS = 10_000;
const MAX_COMPARISONS = 100_000;

export class TooManyRules extends Error {
  constructor() {
    super('its rules name too many combinations to compare with the permissions held; split it into several roles');
    this.name = 'TooManyRules';
  }
}

/** The parts of `wanted`, each one verb on one thing, that none of the rules in `held` allows. @throws TooManyRules */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = [];
  const heldLists = held.map(listsOf);
  let parts = MAX_PARTS;
  let comparisons = MAX_COMPARISONS;
  for (const rule of wanted) {
    const lists = listsOf(rule);
    const candidates = heldLists.filter((each) => overlaps(each, lists));
    if (candidates.some((each) => covers(each, lists))) continue;
    parts -= partCount(rule);
    comparisons -= partCount(rule) * candidates.length;
    if (parts < 0 || comparisons < 0) throw new TooManyRules();
    for (const part of breakDown(rule)) {
      const partLists = listsOf(part);
      if (!candidates.some((each) => covers(each, partLists))) missing.push(part);
    }
  }
  return missing;
}

/** A rule as many rules with one group, resource, verb and name each, so that each is covered by one rule or by none. */
export function* breakDown(rule: PolicyRule): Generator<PolicyRule> {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = listsOf(rule);
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const part = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield part;
        else for (const name of resourceNames) yield { ...part, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] };
}

function partCount(rule: PolicyRule): number {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = listsOf(rule);
  return verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length);
}

type Lists = Required<PolicyRule>;

/** A role is looked at before it is validated: any list may be missing or null. */
function listsOf(rule: Partial<Record<keyof PolicyRule, string[] | null>>): Lists {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  return {
    verbs: verbs ?? [],
    apiGroups: apiGroups ?? [],
    resources: resources ?? [],
    resourceNames: resourceNames ?? [],
    nonResourceURLs: nonResourceURLs ?? [],
  };
}

/** Whether the held rule could allow any part of the wanted one: those that cannot are not compared with each part. */
function overlaps(held: Lists, wanted: Lists): boolean {
  const shares = (some: readonly string[], others: readonly string[]): boolean =>
    some.includes(ALL) || others.some((each) => some.includes(each));
  return shares(held.verbs, wanted.verbs) && (wanted.nonResourceURLs.length > 0 || shares(held.apiGroups, wanted.apiGroups));
}

function covers(rule: Lists, part: Lists): boolean {
  return (
    hasAll(rule.verbs, part.verbs) &&
    hasAll(rule.apiGroups, part.apiGroups) &&
    coversResources(rule.resources, part.resources) &&
    coversNames(rule.resourceNames, part.resourceNames) &&
    part.nonResourceURLs.every((path) => rule.nonResourceURLs.some((pattern) => pathCovers(pattern, path)))
  );
}

function hasAll(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes(ALL) || wanted.every((each) => held.includes(each));
}

function coversResources(held: readonly string[], wanted: readonly string[]): boolean {
  return hasAll(held, wanted) || wanted.every((resource) => held.includes(resource) || held.includes(anyWithSubresource(resource)));
}

/** `*\/scale` for `deployments/scale`; something nobody holds for a resource itself. */
function anyWithSubresource(resource: string): string {
  const slash = resource.indexOf('/');
  return slash < 0 ? '' : `*${resource.slice(slash)}`;
}

/** No names means all of them. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  return held.length === 0 || (wanted.length > 0 && wanted.every((name) => held.includes(name)));
}

/** Parts that differ by their verb alone, put together again for the eye. */
export function compact(parts: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const part of parts) {
    if (part.nonResourceURLs?.length) {
      others.push(part);
      continue;
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames]);
    const known = simple.get(key);
    if (known) known.verbs.push(...part.verbs);
    else simple.set(key, { ...part, verbs: [...part.verbs] });
  }
  return [...others, ...simple.values()];
}

/** `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`. */
export function compactText(rule: PolicyRule): string {
  const fields: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = fields.filter(([, values]) => values !== undefined && values.length > 0);
  return `{${shown.map(([name, values]) => `${name}:${quotedList(values!)}`).join(', ')}}`;
}

/** One line per missing permission, sorted. */
export function missingText(parts: readonly PolicyRule[]): string {
  return [...new Set(compact(parts).map(compactText))].sort(compareText).join('\n');
}
