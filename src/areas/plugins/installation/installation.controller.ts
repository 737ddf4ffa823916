import { INSTALLATION_FINALIZER } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { Deployment, Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/steps/outcome.ts';
import { stepReconciler } from '../../../runtime/steps/step-reconciler.ts';
import { manifestsOf, namedByOthers } from '../kafka/installed-events.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { gatewayAddresses } from '../network/gateway-addresses.ts';
import type { PlaceChosenPorts } from '../placement/place-chosen.step.ts';
import type { RequestsPlacedPorts } from '../placement/requests-placed.step.ts';
import { workloadOf } from '../workload/deployment.ts';
import { policyFor } from '../policy/model/policy-for.ts';
import { restartsOf } from '../workload/workload-health.ts';
import { pullSecretFrom, type InstallationParts } from './installation-parts.ts';
import { installationSteps, type InstallationPorts } from './installation.steps.ts';
import { wakeInstallations } from './installation.wake-ups.ts';
import { pluginNamespaceOf } from './model/plugin-names.ts';
import { isStopped } from './model/stopped-workload.ts';
import { versionsAtWork, type Part } from './model/target.ts';
import { FIELD_MANAGER } from './plugin-objects.ts';
import { summarise, type Transition } from './summarise.ts';
import { teardownSteps } from './teardown.steps.ts';

const CONCURRENCY = 8;

/** Makes of a PluginInstallation what it says: this version of a plugin, at work for this tenant and nobody else. */
export function installationController(environment: PluginsEnvironment, parts: InstallationParts): Controller {
  const { client, clock, events } = environment;
  const { installations, tenants, namespaces, secrets } = parts;
  const transitions = new WeakMap<PluginInstallation, Transition[]>();
  const reconcile = stepReconciler<PluginInstallation>({
    clock,
    read: (key) => installations.get(key),
    resource: (namespace) => client.resource(PluginInstallationKind, namespace),
    fieldManager: FIELD_MANAGER,
    finalizer: INSTALLATION_FINALIZER,
    steps: installationSteps(portsOf(parts, () => clock.now())),
    teardown: teardownSteps({
      removeNamespace: async (namespace, tenant, installation) =>
        (await namespaces.remove(namespace, tenant, installation)) && parts.placed.inside(tenant)?.has(namespace) !== true,
      isTenantGoing: (tenant) => tenants.get(tenant)?.metadata.deletionTimestamp !== undefined,
      backend: secrets,
      databases: () => parts.database.open(),
      broker: () => parts.broker.current(),
      events: parts.events,
      hasClaim: (tenant) => parts.eventClaims.has(tenant),
      claims: parts.dataClaims,
      manifestsOf: (installation) => manifestsOf(installation, parts),
      namedByOthers: (installation) => namedByOthers(installation, parts),
    }),
    summarise: (draft, outcome) => void transitions.set(draft, summarised(draft, outcome, parts, clock.now())),
    written: (draft) => {
      for (const transition of transitions.get(draft) ?? []) events.record(draft, eventOf(transition));
    },
  });
  const controller = new Controller({ ...environment, name: 'plugin-installation', concurrency: CONCURRENCY, reconcile });
  wakeInstallations(controller, parts);
  return controller;
}

function portsOf(parts: InstallationParts, now: () => number): InstallationPorts {
  const { versions, namespaces, objects, tokens, secrets, database, pullSecrets, policies, reports } = parts;
  return {
    isSuspended: (installation) => parts.isSuspended(installation),
    ownsNamespace: (...args) => namespaces.isOwn(...args),
    deployments: (namespace) => deploymentsOf(parts, namespace),
    deploymentsInside: (installation, namespace) => deploymentsInside(parts, installation, namespace),
    ...placementPorts(parts, now),
    isTenant: (namespace) => namespaces.isTenant(namespace),
    versionsOf: (publisher, plugin) => versions.byIndex('plugin', `${publisher}/${plugin}`),
    version: (name) => versions.get(name),
    target: (installation) => parts.target(installation),
    namespaces,
    keep: (...args) => objects.keep(...args),
    databaseAddresses: () => database.addresses(),
    databases: () => database.open(),
    brokerAddresses: () => parts.broker.addresses(),
    gatewayAddresses: () => gatewayAddresses(parts.gatewaySlices.list()),
    broker: () => parts.broker.current(),
    events: parts.events,
    claimTenant: (tenant) => parts.eventClaims.claim(tenant),
    claims: parts.dataClaims,
    findSecret: (namespace, name) => objects.find(Secret, namespace, name),
    // The parser of PostgreSQL is some megabytes that plugins without migrations do not need.
    lint: async (files) => (files.length === 0 ? [] : (await import('../migrations/lint-migrations.ts')).lintMigrations(files)),
    tokens,
    backend: secrets,
    pullSecret: (name, publisher) => pullSecretFrom(pullSecrets, name, publisher),
    deployment: (namespace, name) => siteOf(parts, namespace).deployment(namespace, name),
    versions: (installation, target) => versionsAtWork(installation, target, (name) => versions.get(name)),
    restarts: (namespace, workload) => restartsOf(siteOf(parts, namespace).pods(namespace, workload), now()),
    policy: (tenant, plugin) => policyFor(plugin, policies.byIndex('tenant', tenant)),
    traffic: (...args) => reports.facts(...args),
    forgetSilent: (installation, revision) => reports.forgetSilent(installation, revision),
  };
}

function placementPorts(
  parts: InstallationParts,
  now: () => number,
): PlaceChosenPorts & RequestsPlacedPorts & Pick<InstallationPorts, 'isElsewhere'> {
  const { placed, placeOf, target, versions, namespaces } = parts;
  return {
    target,
    placeOf,
    tenantIn: (tenant) => placed.tenantIn(tenant),
    hasCopies: (tenant, namespace) => placed.inside(tenant)?.has(namespace) === true,
    setPlace: (namespace, place) => namespaces.setPlace(namespace, place),
    versions: (installation, wanted) => versionsAtWork(installation, wanted, (name) => versions.get(name)),
    workloadAt(place, each) {
      const site = place === 'host' ? hostSite(parts) : clusterSite(parts, each.tenant);
      const pods = site.pods(each.namespace, workloadOf(each));
      return { deployment: site.deployment(each.namespace, workloadOf(each)), restarts: restartsOf(pods, now()), pods };
    },
    isElsewhere: (installation) => installation.status?.placement !== undefined && placeOf(installation).in === 'cluster',
  };
}

/** Where the Pods of plugins are looked at. */
interface Site {
  deployment(namespace: string, name: string): KubeObject | undefined;
  pods(namespace: string, workload: string): KubeObject[];
}

const NOWHERE: Site = { deployment: () => undefined, pods: () => [] };

function hostSite({ objects, pods }: InstallationParts): Site {
  return {
    deployment: (namespace, name) => objects.find(Deployment, namespace, name),
    pods: (namespace, workload) => pods.byIndex('workload', `${namespace}/${workload}`),
  };
}

function clusterSite({ placed }: InstallationParts, tenant: string): Site {
  const inside = placed.inside(tenant);
  return inside?.isKnown ? inside : NOWHERE;
}

/** That of the Pods that requests go to. */
function siteOf(parts: InstallationParts, namespace: string): Site {
  const { installations, namespaces } = parts;
  const owner = installations
    .byIndex('namespace', namespace)
    .find(({ metadata }) => namespaces.isOwn(namespace, metadata.namespace!, metadata.name!));
  return owner?.status?.placement === undefined ? hostSite(parts) : clusterSite(parts, owner.metadata.namespace!);
}

function deploymentsOf({ objects }: InstallationParts, namespace: string): KubeObject[] {
  const part: Part = 'workload';
  return objects.informerOf(Deployment).byIndex('part', `${namespace}/${part}`);
}

function summarised(draft: PluginInstallation, outcome: Outcome, parts: InstallationParts, now: number): Transition[] {
  const { versions, isSuspended, namespaces } = parts;
  const { metadata, spec, status } = draft;
  const target = status?.target?.version;
  const version = target === undefined ? undefined : versions.get(pluginVersionName(spec.publisher, spec.plugin, target));
  const namespace = pluginNamespaceOf(metadata.namespace!, spec.plugin);
  const ownsNamespace = namespaces.isOwn(namespace, metadata.namespace!, metadata.name!);
  const inside = deploymentsInside(parts, draft, namespace);
  const isIdle = !ownsNamespace || (inside !== undefined && isStopped([...deploymentsOf(parts, namespace), ...inside]));
  return summarise(draft, outcome, { version, isSuspended: isSuspended(draft), isStopped: isIdle, now });
}

/** Undefined: it answers in the tenant's cluster, and what is there cannot be known now. */
function deploymentsInside(
  { placed }: InstallationParts,
  { metadata, status }: PluginInstallation,
  namespace: string,
): readonly KubeObject[] | undefined {
  return placed.deployments(metadata.namespace!, namespace) ?? (status?.placement === undefined ? [] : undefined);
}

function eventOf({ from, to, reason, message }: Transition) {
  const type = to === 'FAILED' || to === 'ROLLED_BACK' ? ('Warning' as const) : ('Normal' as const);
  const why = message === '' ? reason : `${reason}: ${message}`;
  return { type, reason: type === 'Warning' && to === 'FAILED' ? reason : to, action: to, message: `${from ?? 'NEW'} -> ${to}; ${why}` };
}
