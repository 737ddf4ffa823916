import { GATEWAY_REPORT_LABEL, GATEWAY_REPORTS_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { trafficFacts, type GatewayReport, type TrafficFacts } from './model/traffic-facts.ts';

/** The key in the ConfigMap of a gateway. */
export const REPORT_KEY = 'report.json';

/** By `<tenant>/<installation>`. */
export type Reported = Record<string, GatewayReport>;

/** What the gateways tell: one ConfigMap each, because controllers and gateways may not be able to reach each other. */
export class GatewayReports {
  readonly informer: Informer;
  readonly #client: Client;
  /** Parsed once per change. */
  readonly #parsed = new WeakMap<KubeObject, Reported>();

  constructor(client: Client, informers: SharedInformers) {
    this.#client = client;
    this.informer = informers.get(ConfigMap, { namespace: GATEWAY_REPORTS_NAMESPACE, labelSelector: GATEWAY_REPORT_LABEL });
  }

  facts(installation: string, revision: number, wasReported: boolean): TrafficFacts {
    return trafficFacts(
      Array.from(this.informer.list(), (report) => this.#reported(report)[installation]),
      revision,
      wasReported,
    );
  }

  /** Which installations a change of a report is about: one gateway tells of all of them together. */
  installationsIn(change: Change<KubeObject>): string[] {
    const now = this.#reported(change.object);
    if (change.type !== 'modified') return Object.keys(now);
    const before = this.#reported(change.previous);
    return [...new Set([...Object.keys(now), ...Object.keys(before)])].filter((key) => !deepEqual(now[key], before[key]));
  }

  /** Forgets the gateways that do not go by these routes: whoever is still there reports again. */
  async forgetSilent(installation: string, revision: number): Promise<void> {
    const silent = Array.from(this.informer.list()).filter((report) => this.#reported(report)[installation]?.revision !== revision);
    for (const { metadata } of silent) {
      try {
        await this.#client.resource(ConfigMap, GATEWAY_REPORTS_NAMESPACE).delete(metadata.name!, { preconditions: { uid: metadata.uid } });
      } catch (error) {
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
      }
    }
  }

  #reported(report: KubeObject): Reported {
    let reported = this.#parsed.get(report);
    if (!reported) {
      reported = parse(report.data?.[REPORT_KEY] as string | undefined);
      this.#parsed.set(report, reported);
    }
    return reported;
  }
}

/** A report that cannot be read says nothing. */
function parse(text: string | undefined): Reported {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Reported);
  } catch {
    return {};
  }
}
