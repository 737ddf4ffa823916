import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Deployment, HorizontalPodAutoscaler, Secret } from '../../../../client/kinds.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { errorText } from '../../../../lib/log.ts';
import { done, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { EventBroker } from '../../kafka/event-broker.ts';
import type { PluginEvents } from '../../kafka/plugin-events.ts';
import { pluginNamespaceOf } from '../model/plugin-names.ts';
import { isStopped, stopped } from '../model/stopped-workload.ts';
import type { PluginObjects } from '../plugin-objects.ts';

export interface SuspensionPorts {
  isSuspended(installation: PluginInstallation): boolean;
  /** Whether the namespace is this installation's, and not that of another publisher's plugin of the same name. */
  ownsNamespace(namespace: string, tenant: string, installation: string): boolean;
  /** All of a plugin's namespace. */
  deployments(namespace: string): readonly KubeObject[];
  /** Those in the cluster that its tenant lives in, which are stopped by whoever keeps them; undefined: nobody knows what runs there. */
  deploymentsInside(installation: PluginInstallation, namespace: string): readonly KubeObject[] | undefined;
  keep: PluginObjects['keep'];
  events: Pick<PluginEvents, 'withdraw' | 'hasSecret'>;
  /** @throws BrokerSettingsError */
  broker(): Promise<EventBroker | undefined>;
}

/** No watch tells when a broker is back. */
const TRY_AGAIN_MS = 5_000;
/** Nor when a cluster that held more than is looked at holds less. */
const LOOK_AGAIN_MS = 30_000;

/**
 * What is suspended has no token and no Pods, and is nobody at the broker. It needs to know no version and no backend for the first two:
 * whoever suspends a plugin because something is wrong with it must not have to wait until that is right.
 */
export function suspensionEnforced(ports: SuspensionPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.SuspensionEnforced,
    async run(installation) {
      const { metadata, spec, status } = installation;
      if (!ports.isSuspended(installation)) return done('NotSuspended');
      const tenant = metadata.namespace!;
      const namespace = pluginNamespaceOf(tenant, spec.plugin);
      if (status) delete status.identity;
      if (!ports.ownsNamespace(namespace, tenant, metadata.name!)) return done(InstallationReason.Suspended, 'nothing of it runs');
      await Promise.all([
        ports.keep(Secret, namespace, 'identity', []),
        ports.keep(HorizontalPodAutoscaler, namespace, 'workload', []),
        ports.keep(Deployment, namespace, 'workload', ports.deployments(namespace).map(stopped)),
      ]);
      const failure = await withdraw(ports, installation, namespace);
      if (failure) return failure;
      const inside = ports.deploymentsInside(installation, namespace);
      if (!isStopped([...ports.deployments(namespace), ...(inside ?? [])]))
        return waiting(InstallationReason.Suspended, 'its Pods are ending');
      if (inside === undefined) return unknownInside(status!.placement!.cluster);
      return done(InstallationReason.Suspended, 'it has no token and no Pods');
    },
  };
}

function unknownInside(cluster: string): Outcome {
  const message = `it has no token, but its Pods may still run: what is in cluster "${cluster}" cannot be known now; waiting for it`;
  return waiting(InstallationReason.ClusterUnavailable, message, LOOK_AGAIN_MS);
}

/** As long as the step for events has not said it itself. */
async function withdraw(
  { events, broker: open }: SuspensionPorts,
  { metadata, spec, status }: PluginInstallation,
  namespace: string,
): Promise<Outcome | undefined> {
  const ready = findCondition(status?.conditions, InstallationCondition.EventsReady);
  if (!events.hasSecret({ namespace }) || (ready?.status === 'True' && ready.reason === InstallationReason.Suspended)) return undefined;
  try {
    const broker = await open();
    if (broker) await events.withdraw({ tenant: metadata.namespace!, plugin: spec.plugin, namespace }, broker);
    return undefined;
  } catch (error) {
    const message = `it has no token and no Pods, but what it may do at Kafka cannot be taken from it: ${errorText(error)}; trying again`;
    return waiting(InstallationReason.EventsUnavailable, message, TRY_AGAIN_MS);
  }
}
