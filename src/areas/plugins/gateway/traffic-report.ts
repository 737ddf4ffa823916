import { GATEWAY_REPORT_LABEL, GATEWAY_REPORTS_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { REPORT_KEY, type Reported } from '../rollout/gateway-reports.ts';
import type { Traffic } from './traffic.ts';

/** How often the counts are told while versions take over from each other. At other times nothing is written. */
const TELL_MS = 300;
const FIELD_MANAGER = 'tenantry-plugin-gateway';

/** Tells the controllers, by a ConfigMap of its own, which routes this gateway goes by and how the requests to each version fare. */
export class TrafficReport {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #traffic: Traffic;
  readonly #installations: Informer<PluginInstallation>;
  readonly #name: string;
  /** Installations with more than one version. */
  readonly #moving = new Set<string>();
  #told: string | undefined;
  #timer: Timer | undefined;
  #telling: Promise<void> | undefined;
  #stopped = false;

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

  /** After the first list: from here on every change of routes is followed, and told at once where versions take over. */
  async start(): Promise<void> {
    for (const installation of this.#installations.list()) this.#follow(installation);
    this.#installations.onChange(({ type, object }) => {
      if (type === 'deleted') this.#forget(keyOf(object));
      else this.#follow(object);
    });
    await this.#tell();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
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
    this.#moving.add(key);
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
    if (this.#stopped) return;
    if (this.#telling) {
      this.#later();
      return;
    }
    this.#telling = this.#write().finally(() => (this.#telling = undefined));
    await this.#telling;
    if (this.#moving.size > 0) this.#later();
  }

  #later(): void {
    // Counts change with every request, so no watch can say when.
    this.#timer ??= this.#clock.setTimer(TELL_MS, () => {
      this.#timer = undefined;
      void this.#tell();
    });
  }

  async #write(): Promise<void> {
    const reported: Reported = Object.fromEntries([...this.#moving].map((key) => [key, this.#traffic.of(key)]));
    const text = JSON.stringify(reported);
    if (text === this.#told) return;
    const metadata = { name: this.#name, namespace: GATEWAY_REPORTS_NAMESPACE, labels: { [GATEWAY_REPORT_LABEL]: 'true' } };
    try {
      await this.#client
        .resource(ConfigMap, GATEWAY_REPORTS_NAMESPACE)
        .apply({ metadata, data: { [REPORT_KEY]: text } }, { fieldManager: FIELD_MANAGER, force: true });
      this.#told = text;
    } catch (error) {
      this.#told = undefined;
      this.#log.warn('cannot tell how requests fare', { error });
      this.#later();
    }
  }
}
