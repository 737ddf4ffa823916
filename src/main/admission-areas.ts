import type { Client } from '../client/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import type { WebhookServerOptions } from '../runtime/admission/webhook-server.ts';
import type { WebhookAddress } from '../runtime/admission/webhook-rules.ts';

export interface AdmissionEnvironment {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
}

export interface OpenAdmission extends Pick<WebhookServerOptions, 'handlers' | 'documents'> {
  stop(): Promise<void>;
}

/** A part of the product that answers the API server of a user's Kubernetes. */
export interface AdmissionArea {
  /** The API groups whose definitions it needs. */
  groups: string[];
  /** What decides, by path. */
  open(environment: AdmissionEnvironment): Promise<OpenAdmission>;
  /** What the API server is told to ask. */
  webhooks(address: WebhookAddress): Promise<KubeObject[]>;
}

/** All that `tenantry admission` can answer for, by the name that `--area` knows. */
export const ADMISSION_AREAS: Record<string, AdmissionArea> = {
  tenancy: {
    groups: ['tenantry.dev', 'hnc.x-k8s.io'],
    async open(environment) {
      const [{ openTenancy, startTenancyAdmission }, { ensureReservationObjects }] = await Promise.all([
        import('../areas/tenancy/start-tenancy.ts'),
        import('../areas/tenancy/quota/reservations.ts'),
      ]);
      await ensureReservationObjects(environment.client);
      const tenancy = await openTenancy(environment);
      return { handlers: await startTenancyAdmission(tenancy), stop: () => tenancy.stop() };
    },
    async webhooks(address) {
      const { kubernetesWebhooks } = await import('../areas/tenancy/admission/webhooks.ts');
      return kubernetesWebhooks(address);
    },
  },
  plugins: {
    groups: ['plugins.tenantry.dev'],
    async open({ client, log }) {
      const [{ pluginHandlers }, { tokenDocuments }, { publishedKeys }, { SharedInformers }] = await Promise.all([
        import('../areas/plugins/admission/plugin-handlers.ts'),
        import('../areas/plugins/identity/token-documents.ts'),
        import('../areas/plugins/identity/published-keys.ts'),
        import('../runtime/informer/shared-informers.ts'),
      ]);
      const informers = new SharedInformers({ client, log });
      const handlers = await pluginHandlers(client, informers);
      const documents = tokenDocuments(publishedKeys(informers));
      return { handlers, documents, stop: () => informers.stop() };
    },
    async webhooks(address) {
      const [{ PLUGIN_RULES, PLUGIN_WEBHOOKS }, { webhookConfigurations }] = await Promise.all([
        import('../areas/plugins/admission/plugin-rules.ts'),
        import('../runtime/admission/webhook-rules.ts'),
      ]);
      return webhookConfigurations(PLUGIN_WEBHOOKS, PLUGIN_RULES, address);
    },
  },
};
