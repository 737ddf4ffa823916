import { createHash, randomBytes } from 'node:crypto';
import { ROTATE_ANNOTATION } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { Secret } from '../../../client/kinds.ts';
import type { Target } from '../installation/model/target.ts';
import type { PluginObjects } from '../installation/plugin-objects.ts';
import type { EventBroker } from './event-broker.ts';
import { credentialsIn, EVENTS_SECRET, eventsSecret } from './events-secret.ts';
import { accessWith, isRotationDue, nextCredentials, type BrokerCredentials } from './model/broker-credentials.ts';
import type { BrokerSettings } from './model/broker-settings.ts';
import { isUnchanged } from './model/broker-difference.ts';
import { eventTypesOf, wantedEvents, withdrawn, type EventTypes, type WantedEvents } from './model/wanted-events.ts';

/** One plugin of a tenant, and the versions of it that are at work. */
export interface EventsOf {
  installation: PluginInstallation;
  target: Target;
  versions: readonly Target[];
}

/** What plugins have at the broker, and the way to it in their namespaces. */
export class PluginEvents {
  readonly #objects: Pick<PluginObjects, 'find' | 'keep'>;
  /** What was written last: a cache may be a moment behind, and a second password would be made. By namespace. */
  readonly #written = new Map<string, BrokerCredentials>();
  /** What was made right by this process, so that a round in which nothing changed asks the broker nothing. By namespace. */
  readonly #settled = new Map<string, string>();

  constructor(objects: Pick<PluginObjects, 'find' | 'keep'>) {
    this.#objects = objects;
  }

  /** Everything is there, and the plugin has the way to it. */
  async ensure(of: EventsOf, broker: EventBroker, now: number): Promise<void> {
    const { target } = of;
    const present = this.#credentials(target);
    const next = nextCredentials(present, { now, request: requestOf(of.installation) }, newPassword);
    const secret = eventsSecret(target, broker.settings, next);
    // A first password is written down before it is used, so that a crash in between makes no second one. One that follows is good at the
    // broker before anybody reads it.
    if (!present || present === next) await this.#write(target, next, [secret]);
    const wanted = this.#wanted(of, next, broker.settings, now);
    const state = fingerprint([broker.settings, wanted]);
    if (this.#settled.get(target.namespace) !== state) {
      const [changes] = await broker.compare([wanted]);
      if (!isUnchanged(changes)) await broker.apply(changes);
      this.#settled.set(target.namespace, state);
    }
    if (present && present !== next) await this.#write(target, next, [secret]);
  }

  /** It is nobody at the broker any more. */
  async withdraw({ tenant, plugin, namespace }: Pick<Target, 'tenant' | 'plugin' | 'namespace'>, broker: EventBroker): Promise<void> {
    const [changes] = await broker.compare([withdrawn(tenant, plugin)]);
    if (!isUnchanged(changes)) await broker.apply(changes);
    this.#forget(namespace);
  }

  async removeSecret({ namespace }: Target): Promise<void> {
    await this.#objects.keep(Secret, namespace, 'events', []);
    this.#forget(namespace);
  }

  hasSecret({ namespace }: Pick<Target, 'namespace'>): boolean {
    return this.#objects.find(Secret, namespace, EVENTS_SECRET) !== undefined;
  }

  /**
   * Those of them whose part of the broker is not as it should be, or whose password is due. They are looked at anew when their step runs
   * next: it alone writes.
   */
  async drifted(all: readonly EventsOf[], broker: EventBroker, now: number): Promise<EventsOf[]> {
    const known = all.flatMap((of) => {
      const credentials = this.#credentials(of.target);
      return credentials ? [{ of, credentials }] : [];
    });
    const wanted = known.map(({ of, credentials }) => this.#wanted(of, credentials, broker.settings, now));
    const changes = wanted.length === 0 ? [] : await broker.compare(wanted);
    const found = known.filter(({ of, credentials }, index) => {
      return !isUnchanged(changes[index]) || isRotationDue(credentials, { now, request: requestOf(of.installation) });
    });
    for (const { of } of found) this.#settled.delete(of.target.namespace);
    return found.map(({ of }) => of);
  }

  /** Who is suspended keeps its topics and its place in them, and cannot read or write. */
  #wanted({ target, versions }: EventsOf, credentials: BrokerCredentials, settings: BrokerSettings, now: number): WantedEvents {
    const { tenant, plugin, isSuspended } = target;
    const access = isSuspended ? () => 'none' as const : accessWith(credentials, tenant, plugin, now);
    return wantedEvents(target, typesOf(versions), access, settings);
  }

  #credentials({ tenant, plugin, namespace }: Target): BrokerCredentials | undefined {
    const written = this.#written.get(namespace);
    const cached = credentialsIn(this.#objects.find(Secret, namespace, EVENTS_SECRET), tenant, plugin);
    return written && (cached?.since ?? 0) <= written.since ? written : cached;
  }

  async #write({ namespace }: Target, credentials: BrokerCredentials, secrets: ReturnType<typeof eventsSecret>[]): Promise<void> {
    await this.#objects.keep(Secret, namespace, 'events', secrets);
    this.#written.set(namespace, credentials);
  }

  #forget(namespace: string): void {
    this.#written.delete(namespace);
    this.#settled.delete(namespace);
  }
}

export function typesOf(versions: readonly Target[]): EventTypes {
  return eventTypesOf(versions.map(({ manifest }) => manifest));
}

function requestOf({ metadata }: PluginInstallation): string {
  return metadata.annotations?.[ROTATE_ANNOTATION] ?? '';
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
