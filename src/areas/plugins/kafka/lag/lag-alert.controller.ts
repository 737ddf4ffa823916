import { Controller } from '../../../../runtime/controller.ts';
import { ServedKind } from '../../neighbours/served-kind.ts';
import type { PluginsEnvironment } from '../../plugins-environment.ts';
import { lagAlertRule, OWN_RULES, PrometheusRuleKind } from './lag-alert-rule.ts';

const RULE = 'rule';

/** On clusters with Prometheus' operator: the alert that installations tell themselves as well. */
export function lagAlertController(environment: PluginsEnvironment): Controller {
  const rules = new ServedKind(PrometheusRuleKind, OWN_RULES, environment);
  const reconcile = async (): Promise<void> => {
    const wanted = lagAlertRule();
    const own = await rules.own();
    if (own) await rules.apply(wanted, own.find(wanted.metadata.namespace, wanted.metadata.name!));
  };
  const controller = new Controller({ ...environment, name: 'plugin-lag-alert', reconcile });
  rules.onChange(() => controller.queue.add(RULE));
  return controller.watch(rules.definition, () => [RULE]);
}
