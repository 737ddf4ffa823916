import { PLUGIN_RULES } from '../areas/plugins/admission/plugin-rules.ts';
import { PLUGINS_USER } from '../areas/plugins/plugins-rights.ts';
import type { Client } from '../client/client.ts';
import type { ReviewHandler, ServiceReference } from '../engine/apiserver/admission/webhook/call.ts';
import type { Log } from '../lib/log.ts';
import { answerReview, type AdmissionHandler } from '../runtime/admission/review.ts';
import { ADMISSION_SERVICE } from '../runtime/admission/webhook-rules.ts';

type ClientAs = (user: { name: string; groups: string[] }) => Client;

/** The rules of the area within the engine: they are loaded with the first question. */
export class PluginAdmission {
  readonly #log: Log;
  #connect!: (clientAs: ClientAs) => void;
  /** Requests may come before the engine's own clients are there. */
  readonly #connection = new Promise<ClientAs>((resolve) => (this.#connect = resolve));
  #handlers: Promise<Record<string, AdmissionHandler>> | undefined;
  #stop: (() => Promise<void>) | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  connect(clientAs: ClientAs): void {
    this.#connect(clientAs);
  }

  /** The function behind the service that the webhook is registered with. */
  reviewHandler({ namespace, name, path }: ServiceReference): ReviewHandler | undefined {
    if (namespace !== ADMISSION_SERVICE.namespace || name !== ADMISSION_SERVICE.name) return undefined;
    if (!PLUGIN_RULES.some((rule) => rule.path === path)) return undefined;
    return async (review, signal) => answerReview((await this.#opened())[path], review, signal) as Promise<never>;
  }

  async stop(): Promise<void> {
    await this.#stop?.();
  }

  #opened(): Promise<Record<string, AdmissionHandler>> {
    // A failure is not kept: the next question tries again.
    return (this.#handlers ??= this.#load().catch((error: unknown) => {
      this.#handlers = undefined;
      throw error;
    }));
  }

  async #load(): Promise<Record<string, AdmissionHandler>> {
    const [{ pluginHandlers }, { SharedInformers }, clientAs] = await Promise.all([
      import('../areas/plugins/admission/plugin-handlers.ts'),
      import('../runtime/informer/shared-informers.ts'),
      this.#connection,
    ]);
    const client = clientAs({ name: PLUGINS_USER, groups: ['system:serviceaccounts:tenantry-system', 'system:authenticated'] });
    const informers = new SharedInformers({ client, log: this.#log });
    this.#stop = () => informers.stop();
    return pluginHandlers(client, informers);
  }
}
