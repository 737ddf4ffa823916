import { ValidatingWebhookConfiguration } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { Controller } from '../../../runtime/controller.ts';
import { objectRules, OBJECTS_RULE } from '../admission/objects/objects-rules.ts';
import { TREE_WEBHOOKS } from '../admission/kind-rules.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import type { ConfiguredType } from './model/configured-types.ts';
import { propagates } from './model/goes-to.ts';

/** Keeps the webhook on objects to the types that are propagated: nobody else's writes wait for it. */
export function webhookRulesController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { client, clock, log, metrics, informers, types } = environment;
  const configurations = informers.get(ValidatingWebhookConfiguration, { fieldSelector: `metadata.name=${TREE_WEBHOOKS}` });
  const controller = new Controller({
    name: 'rules of the objects webhook',
    clock,
    log,
    metrics,
    async reconcile() {
      const webhook = configurations.get(TREE_WEBHOOKS)?.webhooks?.find(({ name }) => name === OBJECTS_RULE.name);
      const rules = rulesFor(types.configured);
      if (!webhook || deepEqual(webhook.rules, rules)) return;
      const patch = { webhooks: [{ name: OBJECTS_RULE.name, rules }] };
      await client.resource(ValidatingWebhookConfiguration).patch(TREE_WEBHOOKS, { type: 'strategic', patch });
    },
  });
  const look = (): void => controller.queue.add(TREE_WEBHOOKS);
  let stopListening = (): void => {};
  return {
    start() {
      stopListening = types.onChange(look);
      controller.watch(configurations, () => [TREE_WEBHOOKS]).start();
    },
    async stop() {
      stopListening();
      await controller.stop();
    },
  };
}

function rulesFor(types: readonly ConfiguredType[]) {
  const groups = new Map<string, string[]>();
  for (const { kind, mode } of types) {
    if (propagates(mode)) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind.plural]);
  }
  return objectRules(Array.from(groups, ([group, plurals]) => ({ group, plurals: plurals.sort() })));
}
