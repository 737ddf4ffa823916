import { labelSelectorMatcher, type LabelMatcher } from '../../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { ConditionMatcher, MatchCondition } from '../match-conditions.ts';
import type { Rule } from './rules.ts';

/** One webhook of a configuration, with everything prepared that does not change from request to request. */
export interface CompiledWebhook {
  /** `<configuration>/<name>/<how many of that name came before>`. */
  key: string;
  configuration: string;
  name: string;
  rules: Rule[];
  /** Also called when a rule names another version or group of the same objects. */
  matchesEquivalents: boolean;
  failsOpen: boolean;
  supportsDryRun: boolean;
  reinvocable: boolean;
  timeoutSeconds: number;
  reviewVersions: string[];
  /** Undefined selects everything. @throws when called on a selector that cannot be read. */
  namespaceSelector: () => LabelMatcher;
  objectSelector: () => LabelMatcher;
  conditions?: ConditionMatcher;
  clientConfig: ClientConfig;
}

export interface ClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** PEM, base64. */
  caBundle?: string;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

export type CompileConditions = (conditions: MatchCondition[], failsOpen: boolean) => ConditionMatcher;

export function compileConfiguration(configuration: KubeObject, compileConditions: CompileConditions): CompiledWebhook[] {
  const seen = new Map<string, number>();
  return (configuration.webhooks ?? []).map((webhook: Json) => {
    const before = seen.get(webhook.name) ?? 0;
    seen.set(webhook.name, before + 1);
    return compileWebhook(webhook, configuration.metadata.name!, before, compileConditions);
  });
}

function compileWebhook(webhook: Json, configuration: string, before: number, compileConditions: CompileConditions): CompiledWebhook {
  const failsOpen = webhook.failurePolicy === 'Ignore';
  return {
    key: `${configuration}/${webhook.name}/${before}`,
    configuration,
    name: webhook.name,
    rules: webhook.rules ?? [],
    matchesEquivalents: (webhook.matchPolicy ?? 'Equivalent') === 'Equivalent',
    failsOpen,
    supportsDryRun: webhook.sideEffects === 'None' || webhook.sideEffects === 'NoneOnDryRun',
    reinvocable: webhook.reinvocationPolicy === 'IfNeeded',
    timeoutSeconds: webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    namespaceSelector: once(() => labelSelectorMatcher(webhook.namespaceSelector ?? {})),
    objectSelector: once(() => labelSelectorMatcher(webhook.objectSelector ?? {})),
    conditions: webhook.matchConditions?.length > 0 ? compileConditions(webhook.matchConditions, failsOpen) : undefined,
    clientConfig: webhook.clientConfig ?? {},
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
