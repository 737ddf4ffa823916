import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from './options.ts';

/** How single containers restart and resize. */
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

export function checkResizePolicy(out: Findings, policies: Json[], podRestartPolicy: string | undefined, at: Path): void {
  const seen = new Set<string>();
  policies.forEach(({ resourceName = '', restartPolicy = '' }, i) => {
    if (seen.has(resourceName)) out.duplicate(at.index(i), resourceName);
    seen.add(resourceName);
    if (resourceName === '') out.required(at);
    else if (resourceName !== 'cpu' && resourceName !== 'memory') out.notSupported(at, resourceName, ['cpu', 'memory']);
    if (restartPolicy === '') out.required(at);
    else if (!RESIZE_POLICIES.includes(restartPolicy)) out.notSupported(at, restartPolicy, RESIZE_POLICIES);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      out.invalid(at, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  });
}

const POLICIES = ['Always', 'Never', 'OnFailure'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

export function checkRulesWithoutPolicy(out: Findings, container: Json, at: Path): void {
  if ((container.restartPolicyRules ?? []).length === 0) return;
  out.required(at.child('restartPolicy'), 'must specify restartPolicy when restart rules are used');
}

export function checkContainerRestartPolicy(out: Findings, container: Json, options: PodOptions, at: Path): void {
  const rules: Json[] = container.restartPolicyRules ?? [];
  const policy: string | undefined = container.restartPolicy;
  if (policy === undefined) {
    if (rules.length === 0) return;
    checkRulesWithoutPolicy(out, container, at);
  } else if (!POLICIES.includes(policy)) out.notSupported(at.child('restartPolicy'), policy, POLICIES);
  if (rules.length > MAX_RULES) out.tooLong(at.child('restartPolicyRules'), MAX_RULES);
  rules.forEach((rule, i) => checkRule(out, rule, options, at.child('restartPolicyRules').index(i)));
}

function checkRule(out: Findings, rule: Json, options: PodOptions, at: Path): void {
  const action: string = rule.action ?? '';
  const allowed = action === 'Restart' || (options.allowRestartAllContainers && action === 'RestartAllContainers');
  if (!allowed) out.notSupported(at.child('action'), action, ['Restart']);
  if (rule.exitCodes === undefined) return out.required(at.child('exitCodes'), 'must be specified');
  const { operator = '', values = [] } = rule.exitCodes;
  if (operator !== 'In' && operator !== 'NotIn') out.notSupported(at.child('exitCodes', 'operator'), operator, ['In', 'NotIn']);
  if (values.length > MAX_EXIT_CODES) out.tooLong(at.child('exitCodes', 'values'), MAX_EXIT_CODES);
}
