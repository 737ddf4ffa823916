import { lookup } from 'node:dns/promises';
import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { openBroker } from './broker-thread.ts';
import type { EventBroker } from './event-broker.ts';
import { brokerSettings, type BrokerSettings, type ServerAddress } from './model/broker-settings.ts';

/** The Kafka that the platform's settings name, when they name one. */
export class PlatformBroker {
  readonly #settings: Informer;
  readonly #clock: Clock;
  readonly #resolvedHosts = new Map<string, string[]>();
  #known: { settings: BrokerSettings; broker: Promise<EventBroker> } | undefined;

  constructor(settings: Informer, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** @throws BrokerSettingsError */
  settings(): BrokerSettings | undefined {
    const data = (this.#settings.find(PLATFORM_NAMESPACE, PLATFORM_SETTINGS)?.data ?? {}) as Record<string, string>;
    const entries = Object.entries(data).filter(([name]) => name.startsWith('kafka-'));
    return brokerSettings(Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value, 'base64').toString()])));
  }

  /** @throws BrokerSettingsError */
  async current(): Promise<EventBroker | undefined> {
    const settings = this.settings();
    if (this.#known && (!settings || !deepEqual(settings, this.#known.settings))) {
      const { broker } = this.#known;
      this.#known = undefined;
      await (await broker).close();
    }
    if (!settings) return undefined;
    this.#known ??= { settings, broker: openBroker(settings, this.#clock) };
    return this.#known.broker;
  }

  /** Every broker, and what plugins are told to call first, as network policies name them. */
  async addresses(): Promise<{ cidr: string; port: number }[]> {
    const broker = await this.current().catch(() => undefined);
    if (!broker) return [];
    const servers = [...(await broker.servers()), ...broker.settings.pluginServers];
    const found = await Promise.all(servers.map((server) => this.#resolved(server)));
    const distinct = new Map(found.flat().map((address) => [`${address.cidr} ${address.port}`, address]));
    return [...distinct].sort(([a], [b]) => a.localeCompare(b)).map(([, address]) => address);
  }

  /** A name that cannot be resolved at the moment is where it was. */
  async #resolved({ host, port }: ServerAddress): Promise<{ cidr: string; port: number }[]> {
    const found = await lookup(host, { all: true }).catch(() => undefined);
    if (found)
      this.#resolvedHosts.set(
        host,
        found.map(({ address, family }) => `${address}/${family === 6 ? 128 : 32}`),
      );
    return (this.#resolvedHosts.get(host) ?? []).map((cidr) => ({ cidr, port }));
  }

  async close(): Promise<void> {
    const broker = this.#known?.broker;
    this.#known = undefined;
    await (await broker)?.close();
  }
}
