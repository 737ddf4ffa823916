import { EventRecorder } from '../../runtime/event-recorder.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { startAudit } from './audit/start-audit.ts';
import { publisherController } from './controllers/publisher/publisher.controller.ts';
import { versionController } from './controllers/version/version.controller.ts';
import { tenantDatabasesController } from './database/tenant-databases.controller.ts';
import { rotationController } from './database/rotation.controller.ts';
import { argoController } from './neighbours/argo.controller.ts';
import { kyvernoController } from './neighbours/kyverno.controller.ts';
import { tokenController } from './identity/token.controller.ts';
import { eventsOf } from './kafka/installed-events.ts';
import { eventsUpkeepController } from './kafka/events-upkeep.controller.ts';
import { lagAlertController } from './kafka/lag/lag-alert.controller.ts';
import { tenantEventsController } from './kafka/tenant-events.controller.ts';
import { installationParts } from './installation/installation-parts.ts';
import { orphansController } from './installation/orphans.controller.ts';
import { installationController } from './installation/installation.controller.ts';
import { logReadersController } from './owners/log-readers.controller.ts';
import { placementController } from './placement/placement.controller.ts';
import { followController } from './policy/follow.controller.ts';
import { policyController } from './policy/policy.controller.ts';
import { tenantSecretsController } from './secrets/tenant-secrets.controller.ts';
import type { PluginsEnvironment, PluginsStart } from './plugins-environment.ts';

export interface RunningPlugins {
  stop(): Promise<void>;
}

/** The controllers of the area. */
export function startPlugins(options: PluginsStart): RunningPlugins {
  const { client, log, instance } = options;
  const informers = new SharedInformers({ client, log });
  const events = new EventRecorder({ client, log, controller: 'plugins.tenantry.dev/plugins', instance });
  const environment: PluginsEnvironment = { ...options, informers, events };
  const parts = installationParts(environment);
  const audit = startAudit(environment, parts);
  const installations = installationController(environment, parts);
  const upkeep = eventsUpkeepController(environment, {
    ...parts,
    settings: parts.database.settings,
    broker: () => parts.broker.current(),
    brokerSettings: () => parts.broker.settings(),
    eventsOf: (installation) => eventsOf(installation, parts),
    wake: (key) => installations.queue.add(key),
    report: (refusal) => audit.recorder.report(refusal),
  });
  const controllers: { start(): unknown; stop(): Promise<void> }[] = [
    publisherController(environment),
    versionController(environment),
    installations,
    placementController(environment, parts),
    orphansController(environment, parts),
    upkeep,
    lagAlertController(environment),
    tenantEventsController(environment, parts),
    tokenController(environment, parts),
    rotationController(environment, parts),
    tenantDatabasesController(environment, parts),
    policyController(environment, parts),
    followController(environment, parts),
    logReadersController(environment, parts),
    tenantSecretsController(environment, parts),
    kyvernoController(environment, parts),
    argoController(environment, parts),
  ];
  for (const controller of controllers) controller.start();
  return {
    async stop() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await parts.placed.stop();
      await audit.stop();
      await events.flush();
      await informers.stop();
      await Promise.all([parts.database.stop(), parts.broker.close()]);
    },
  };
}
