import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { PluginTokens } from '../identity/plugin-tokens.ts';
import type { BackendAddress } from '../network/network-policies.ts';
import type { SecretBackend } from '../secrets/secret-backend.ts';
import type { Target } from './model/target.ts';
import type { PluginNamespaces } from './plugin-namespaces.ts';
import type { PluginObjects } from './plugin-objects.ts';
import { accepted, type AcceptedPorts } from './steps/accepted.step.ts';
import { eventsReady, type EventsPorts } from './steps/events-ready.step.ts';
import { identityIssued, limitsSet, namespaceReady, networkIsolated, type VersionsOf } from './steps/kept.steps.ts';
import { secretsResolved, type SecretsPorts } from './steps/secrets-resolved.step.ts';
import { signatureVerified } from './steps/signature-verified.step.ts';
import { suspensionEnforced, type SuspensionPorts } from './steps/suspension-enforced.step.ts';
import { databaseReady, type DatabasePorts } from './steps/database-ready.step.ts';
import { placeChosen, type PlaceChosenPorts } from '../placement/place-chosen.step.ts';
import { requestsPlaced, type RequestsPlacedPorts } from '../placement/requests-placed.step.ts';
import { trafficSafe, type SafetyPorts } from '../rollout/traffic-safe.step.ts';
import { trafficShifted, type TrafficPorts } from '../rollout/traffic-shifted.step.ts';
import { probesPassed, workloadDeployed, type ProbesPorts, type WorkloadPorts } from './steps/workload.steps.ts';

export interface InstallationPorts
  extends AcceptedPorts, EventsPorts, ProbesPorts, SafetyPorts, TrafficPorts, PlaceChosenPorts, RequestsPlacedPorts {
  isSuspended: SuspensionPorts['isSuspended'];
  ownsNamespace: SuspensionPorts['ownsNamespace'];
  deployments: SuspensionPorts['deployments'];
  deploymentsInside: SuspensionPorts['deploymentsInside'];
  isElsewhere: WorkloadPorts['isElsewhere'];
  target(installation: PluginInstallation): Target;
  versions: VersionsOf;
  namespaces: Pick<PluginNamespaces, 'ensure'>;
  keep: PluginObjects['keep'];
  databaseAddresses(): Promise<readonly BackendAddress[]>;
  brokerAddresses(): Promise<readonly BackendAddress[]>;
  gatewayAddresses(): readonly BackendAddress[];
  databases: DatabasePorts['databases'];
  claims: DatabasePorts['claims'];
  findSecret: DatabasePorts['findSecret'];
  lint: DatabasePorts['lint'];
  tokens: Pick<PluginTokens, 'ensureAccount' | 'ensure' | 'remove'>;
  backend: SecretBackend;
  pullSecret: SecretsPorts['pullSecret'];
}

/** First what must not wait: what is suspended ends, and bad versions get no requests. Then in this order: is it what it says it is, where, how much, how far, who, what may it know; only then does it run. */
export function installationSteps(ports: InstallationPorts): Step<PluginInstallation>[] {
  const { target, versions, keep } = ports;
  return [
    suspensionEnforced(ports),
    accepted(ports),
    trafficSafe(ports),
    signatureVerified(target),
    namespaceReady(target, (wanted) => ports.namespaces.ensure(wanted)),
    placeChosen(ports),
    limitsSet(target, versions, keep),
    networkIsolated(ports),
    identityIssued(target, ports.tokens),
    secretsResolved(ports),
    databaseReady(ports),
    eventsReady(ports),
    workloadDeployed(ports),
    requestsPlaced(ports),
    probesPassed(ports),
    trafficShifted(ports),
  ];
}
