import type { Client } from '../../../../client/client.ts';
import { isContained } from '../../../../kube/is-contained.ts';
import type { Kind } from '../../../../kube/kind.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { FIELD_MANAGER } from '../../installation/plugin-objects.ts';
import { lagAlertRule } from './lag-alert-rule.ts';

export const PrometheusRule: Kind = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'PrometheusRule',
  plural: 'prometheusrules',
  namespaced: true,
};

/** Nobody tells when the operator is installed, or its rule is changed: the kind may not even be served. */
const LOOK_EVERY_MS = 5 * 60_000;

/** Keeps the alert where Prometheus' operator is. */
export class AlertRules {
  readonly #client: Client;
  readonly #clock: Clock;
  #nextLook = 0;

  constructor({ client, clock }: { client: Client; clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  async keep(): Promise<void> {
    const now = this.#clock.monotonic();
    if (now < this.#nextLook) return;
    this.#nextLook = now + LOOK_EVERY_MS;
    const rule = lagAlertRule();
    const rules = this.#client.resource(PrometheusRule, rule.metadata.namespace);
    try {
      const existing = await rules.get(rule.metadata.name!).catch(absent);
      if (!isContained(rule, existing)) await rules.apply(rule, { fieldManager: FIELD_MANAGER, force: true });
    } catch (error) {
      // Not served: there is no Prometheus that would read it, and the installations tell it themselves.
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

function absent(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error;
  return undefined;
}
