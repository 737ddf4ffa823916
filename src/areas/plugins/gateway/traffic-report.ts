import { GATEWAY_REPORT_LABEL, GATEWAY_REPORTS_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { errorText, type Log } from '../../../lib/log.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { REPORT_KEY, type Reported } from '../rollout/gateway-reports.ts';
import { nextReportMs, SLOW_MS } from './model/report-pace.ts';
import type { Traffic } from './traffic.ts';

const FIELD_MANAGER = 'tenantry-plugin-gateway';

interface Followed {
  revision: number;
  leaving: string[];
  since: number;
}

/** Tells the controllers, by a ConfigMap of its own, which routes this gateway goes by and how the requests to each version fare. */
export class TrafficReport {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #traffic: Traffic;
  readonly #installations: Informer<PluginInstallation>;
  readonly #name: string;
  /** Installations with more than one version. Of others nothing is told. */
  readonly #moving = new Map<string, Followed>();
  #told: { text: string; reported: Reported; at: number } | undefined;
  #timer: Timer | undefined;
  #telling: Promise<void> | undefined;
  #isOpen = false;

  constructor(options: {
    client: Client;
    clock: Clock;
    log: Log;
    traffic: Traffic;
    installations: Informer<PluginInstallation>;
    instance: string;
  }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#traffic = options.traffic;
    this.#installations = options.installations;
    this.#name = `plugin-gateway-${options.instance}`;
  }

  /**
   * After the first list: from here on every change of routes is followed, and told at once where versions take over.
   * @throws when it cannot tell: controllers would take a gateway that they do not hear for none, and end what it still has requests at
   */
  async start(): Promise<void> {
    for (const installation of this.#installations.list()) this.#follow(installation);
    this.#installations.onChange(({ type, object }) => {
      if (type === 'deleted') this.#forget(keyOf(object));
      else this.#follow(object);
    });
    try {
      await this.#put();
    } catch (error) {
      const message = `Cannot tell controllers of this gateway: ${errorText(error)}; check its rights in the namespace ${GATEWAY_REPORTS_NAMESPACE}`;
      throw new Error(message, { cause: error });
    }
    this.#isOpen = true;
    if (this.#moving.size > 0) this.#wake();
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    this.#timer?.cancel();
    await this.#telling;
    try {
      await this.#client.resource(ConfigMap, GATEWAY_REPORTS_NAMESPACE).delete(this.#name);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) this.#log.warn('cannot take back the report of this gateway', { error });
    }
  }

  #follow(installation: PluginInstallation): void {
    const key = keyOf(installation);
    const { revision = 0, routes = [] } = installation.status?.gateway ?? {};
    this.#traffic.follow(key, revision);
    if (routes.length <= 1) {
      // What was told of it is taken back with the next report; nobody waits for that.
      this.#moving.delete(key);
      return;
    }
    if (this.#moving.get(key)?.revision === revision) return;
    const leaving = routes.filter(({ weight }) => weight === 0).map(({ version }) => version);
    this.#moving.set(key, { revision, leaving, since: this.#clock.monotonic() });
    this.#wake();
  }

  #forget(key: string): void {
    this.#moving.delete(key);
    this.#traffic.forget(key);
  }

  #wake(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    void this.#tell();
  }

  /** One write at a time; the next is due while there is something to tell. */
  async #tell(): Promise<void> {
    if (!this.#isOpen) return;
    if (!this.#telling) {
      this.#telling = this.#put().catch((error: unknown) => {
        this.#told = undefined;
        this.#log.warn('cannot tell how requests fare', { error });
      });
      await this.#telling;
      this.#telling = undefined;
    }
    if (this.#moving.size > 0 || !this.#told) this.#later();
  }

  #later(): void {
    if (!this.#isOpen) return;
    const now = this.#clock.monotonic();
    const due = [...this.#moving].map(([key, { since, ...moving }]) =>
      nextReportMs({ ...moving, sinceMs: now - since }, this.#told?.reported[key]),
    );
    // Counts change with every request, so no watch can say when.
    this.#timer ??= this.#clock.setTimer(Math.min(SLOW_MS, ...due), () => {
      this.#timer = undefined;
      void this.#tell();
    });
  }

  /** What was told is told again now and then: who was taken for gone is heard again. */
  async #put(): Promise<void> {
    const reported: Reported = Object.fromEntries([...this.#moving.keys()].map((key) => [key, this.#traffic.of(key)]));
    const text = JSON.stringify(reported);
    const at = this.#clock.monotonic();
    if (text === this.#told?.text && at - this.#told.at < SLOW_MS) return;
    const metadata = { name: this.#name, namespace: GATEWAY_REPORTS_NAMESPACE, labels: { [GATEWAY_REPORT_LABEL]: 'true' } };
    await this.#client
      .resource(ConfigMap, GATEWAY_REPORTS_NAMESPACE)
      .apply({ metadata, data: { [REPORT_KEY]: text } }, { fieldManager: FIELD_MANAGER, force: true });
    this.#told = { text, reported, at };
  }
}
