import type { AdmissionHandler } from '../../runtime/admission/review.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { admissionHandlers } from './admission/webhooks.ts';
import { followForest } from './forest/follow-forest.ts';
import { readTreeSettings } from './forest/read-tree-settings.ts';
import { anchorController } from './hierarchy/anchor.controller.ts';
import { hierarchyController } from './hierarchy/hierarchy.controller.ts';
import { metering } from './metering/start-metering.ts';
import { namespaceQuotaController } from './quota/namespace-quota.controller.ts';
import { quotaStatusController } from './quota/quota-status.controller.ts';
import { RunsInFlight } from './quota/runs-in-flight.ts';
import { TreeQuotas } from './quota/tree-quotas.ts';
import { configurationStatusController } from './propagation/configuration-status.controller.ts';
import { followConfiguration } from './propagation/follow-configuration.ts';
import { propagationController } from './propagation/propagation.controller.ts';
import { webhookRulesController } from './propagation/webhook-rules.controller.ts';
import { tenantController } from './tenant/tenant.controller.ts';
import type { TenancyEnvironment, TenancyStart } from './tenancy-environment.ts';

export interface RunningTenancy {
  stop(): Promise<void>;
}

/** The tree and what is read of it, for controllers and admission alike. */
export async function openTenancy(options: TenancyStart): Promise<TenancyEnvironment & RunningTenancy> {
  const informers = new SharedInformers({ client: options.client, log: options.log });
  const forest = await followForest(informers, await readTreeSettings(options.client, options.log));
  const quotas = new TreeQuotas(informers, forest, options.clock);
  const runs = new RunsInFlight(informers, quotas, forest, options.clock);
  const { types, stop } = await followConfiguration({ ...options, informers });
  await informers.whenSynced();
  return {
    ...options,
    informers,
    forest,
    types,
    quotas,
    runs,
    async stop() {
      await stop();
      await informers.stop();
    },
  };
}

/** The controllers of the area. */
export function startTenancyControllers(environment: TenancyEnvironment): RunningTenancy {
  const controllers: { start(): unknown; stop(): Promise<void> }[] = [
    hierarchyController(environment),
    anchorController(environment),
    namespaceQuotaController(environment),
    quotaStatusController(environment),
    propagationController(environment),
    configurationStatusController(environment),
    webhookRulesController(environment),
    tenantController(environment),
    metering(environment),
  ];
  for (const controller of controllers) controller.start();
  return {
    async stop() {
      await Promise.all(controllers.map((controller) => controller.stop()));
    },
  };
}

/** The rules of admission, ready to answer: every cache that they read has its first list. */
export async function startTenancyAdmission(environment: TenancyEnvironment): Promise<Record<string, AdmissionHandler>> {
  const handlers = admissionHandlers(environment);
  await environment.informers.whenSynced();
  return handlers;
}
