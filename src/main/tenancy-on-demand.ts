import type { RunningTenancy } from '../areas/tenancy/start-tenancy.ts';
import { TREE_WEBHOOKS } from '../areas/tenancy/admission/kind-rules.ts';
import { TENANCY_USER } from '../areas/tenancy/tenancy-rights.ts';
import type { Client } from '../client/client.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import type { WiderQuota } from '../engine/apiserver/admission/quota/resource-quota.ts';
import type { ReviewHandler, ServiceReference } from '../engine/apiserver/admission/webhook/call.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import { answerReview, type AdmissionHandler } from '../runtime/admission/review.ts';
import { ADMISSION_SERVICE, webhookConfigurations } from '../runtime/admission/webhook-rules.ts';

type ClientAs = (user: { name: string; groups: string[] }) => Client;

interface Connection {
  clientAs: ClientAs;
  metrics: MetricsRegistry;
}

/** The tenancy area within the engine: it starts with the first object of the tree, or the first question that admission has about one. */
export class TenancyOnDemand {
  readonly #log: Log;
  #connect!: (connection: Connection) => void;
  /** Requests may come before the engine's own clients are there. */
  readonly #connection = new Promise<Connection>((resolve) => (this.#connect = resolve));
  #open: Promise<Opened> | undefined;
  #guard: WiderQuota | undefined;

  /** `hasTree`: there are objects of a tree already, so its quotas hold before anything else is admitted. */
  constructor(log: Log, hasTree: boolean) {
    this.#log = log;
    if (hasTree) this.#guard = this.#guardToCome();
  }

  /** The quotas of the tree, for the API server to ask in the same turn. */
  get quotaGuard(): WiderQuota | undefined {
    return this.#guard;
  }

  /** For the list of things that start when there is something to do for them. */
  onDemand(clientAs: ClientAs, metrics: MetricsRegistry): OnDemand {
    this.#connect({ clientAs, metrics });
    return {
      resources: ['tenantry.dev/tenants', ...HNC_RESOURCES],
      load: async () => {
        const running = await this.#start();
        return () => running;
      },
    };
  }

  /** The function behind the service that the webhooks are registered with. */
  reviewHandler({ namespace, name, path }: ServiceReference): ReviewHandler | undefined {
    if (namespace !== ADMISSION_SERVICE.namespace || name !== ADMISSION_SERVICE.name) return undefined;
    return async (review, signal) => {
      const { handlers } = await this.#opened();
      const handler = handlers[path] ?? notFound(path);
      return answerReview(handler, review, signal) as Promise<never>;
    };
  }

  #opened(): Promise<Opened> {
    // A failure is not kept: the next question tries again.
    return (this.#open ??= this.#load().catch((error: unknown) => {
      this.#open = undefined;
      throw error;
    }));
  }

  async #load(): Promise<Opened> {
    const [{ openTenancy, startTenancyAdmission }, { QuotaGuard }] = await Promise.all([
      import('../areas/tenancy/start-tenancy.ts'),
      import('../areas/tenancy/quota/quota-guard.ts'),
    ]);
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:tenantry-system', 'system:authenticated'];
    const { clientAs, metrics } = await this.#connection;
    const client = clientAs({ name: TENANCY_USER, groups });
    const environment = await openTenancy({ client, clock: realClock, log: this.#log, metrics });
    const handlers = await startTenancyAdmission(environment);
    this.#guard = new QuotaGuard(environment.quotas, environment.forest, environment.runs, environment.clock);
    return { environment, handlers };
  }

  /** Until the area is there every counted write waits for it. */
  #guardToCome(): WiderQuota {
    return {
      refusal: () => undefined,
      hasPlaces: () => false,
      placeRefusal: () => undefined,
      takePlace: () => () => {},
      charged: () => {},
      ready: async (namespace) => {
        await this.#opened();
        await this.#guard!.ready(namespace);
      },
    };
  }

  async #start(): Promise<RunningTenancy> {
    const [{ environment }, { startTenancyControllers }, { TREE_RULES }, { installObjects }] = await Promise.all([
      this.#opened(),
      import('../areas/tenancy/start-tenancy.ts'),
      import('../areas/tenancy/admission/webhooks.ts'),
      import('./areas.ts'),
    ]);
    await installObjects(environment.client, webhookConfigurations(TREE_WEBHOOKS, TREE_RULES));
    const controllers = startTenancyControllers(environment);
    return {
      async stop() {
        await controllers.stop();
        await environment.stop();
      },
    };
  }
}

interface Opened {
  environment: Awaited<ReturnType<typeof import('../areas/tenancy/start-tenancy.ts').openTenancy>>;
  handlers: Record<string, AdmissionHandler>;
}

const HNC_RESOURCES = ['hierarchyconfigurations', 'subnamespaceanchors', 'hncconfigurations', 'hierarchicalresourcequotas'].map(
  (plural) => `hnc.x-k8s.io/${plural}`,
);

function notFound(path: string): AdmissionHandler {
  return () => ({ allowed: false, message: `there is no admission rule at ${path}`, reason: 'InternalError', code: 500 });
}
