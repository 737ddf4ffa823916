import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { INSTALLATION_ANNOTATION, secretPathOf } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Controller } from '../../../runtime/controller.ts';
import type { Change } from '../../../runtime/informer/informer.ts';
import { tenantOfClaim } from '../claims/tenant-claims.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { pathsOf } from '../secrets/stored-secrets.ts';
import { startsOf } from '../workload/workload-health.ts';
import type { InstallationParts } from './installation-parts.ts';

/** Which change concerns which installations. */
export function wakeInstallations(controller: Controller, parts: InstallationParts): void {
  const { installations, versions, namespaceCache, secrets, pullSecrets } = parts;
  installations.addIndex('tenant', ({ metadata }) => [metadata.namespace!]);
  installations.addIndex('plugin', ({ spec }) => [`${spec.publisher}/${spec.plugin}`]);
  installations.addIndex('secrets', ({ metadata, spec }) => [secretPathOf(spec.plugin, metadata.namespace!, '')]);
  installations.addIndex('publisher', ({ spec }) => [spec.publisher]);
  const by = (index: string, value: string): string[] => installations.byIndex(index, value).map(keyOf);

  for (const informer of parts.objects.informers) controller.watch(informer, ({ object }) => by('namespace', object.metadata.namespace!));
  secrets.external.onFollowing((informer) => controller.watch(informer, ({ object }) => by('namespace', object.metadata.namespace!)));
  const placed = (tenant: string, namespace?: string): void => {
    for (const key of namespace === undefined ? by('tenant', tenant) : by('namespace', namespace)) controller.queue.add(key);
  };
  parts.placed.onChange(placed);
  parts.placed.homes.onChange((tenant) => placed(tenant));
  controller
    .watch(parts.pods, (change) => (isRestart(change) ? by('namespace', change.object.metadata.namespace!) : []))
    .watch(parts.gatewaySlices, () => Array.from(installations.list(), keyOf))
    .watch(parts.reports.informer, (change) => parts.reports.installationsIn(change))
    .watch(parts.policies, ({ object }) => by('tenant', object.metadata.namespace!))
    .watch(installations, (change) => (isReport(change) ? [] : [keyOf(change.object)]))
    .watch(versions, ({ object: { spec } }) => by('plugin', `${spec.publisher}/${spec.plugin}`))
    .watch(namespaceCache, ({ object: { metadata } }) => {
      const isTenant = metadata.labels?.[TENANT_LABEL] === metadata.name;
      if (metadata.annotations?.[INSTALLATION_ANNOTATION] !== undefined) return by('namespace', metadata.name!);
      return isTenant ? by('tenant', metadata.name!) : [];
    })
    .watch(secrets.stored.informer, ({ object }) => pathsOf(object).flatMap((path) => by('secrets', folderOf(path))))
    .watch(pullSecrets, ({ object }) => Object.values(object.metadata.labels ?? {}).flatMap((publisher) => by('publisher', publisher)))
    .watch(parts.eventClaims.informer, ({ type, object }) => (type === 'deleted' ? by('tenant', tenantOfClaim(object)) : []))
    .watch(parts.dataClaims.tenants.informer, ({ type, object }) => (type === 'deleted' ? by('tenant', tenantOfClaim(object)) : []))
    .watch(parts.database.settings, () => Array.from(installations.list(), keyOf))
    // Read by the steps, so their first lists have to be there; what changes in them is the token controller's.
    .watch(parts.tenants, () => [])
    .watch(parts.keySecret, () => [])
    .watch(parts.jwks, () => []);
}

/** `adapstory/plugins/<plugin>/<tenant>/` of a path below it. */
function folderOf(path: string): string {
  return `${path.split('/').slice(0, 4).join('/')}/`;
}

/** The rest of what happens to Pods is told by their Deployment. */
function isRestart(change: Change<KubeObject>): boolean {
  return change.type === 'modified' && startsOf(change.object) !== startsOf(change.previous);
}

/** Our own write of the status. */
function isReport(change: Change<PluginInstallation>): boolean {
  if (change.type !== 'modified') return false;
  const { metadata, status } = change.object;
  const previous = change.previous.metadata;
  const isSame =
    metadata.generation === previous.generation &&
    metadata.deletionTimestamp === previous.deletionTimestamp &&
    deepEqual(metadata.finalizers, previous.finalizers);
  return isSame && !deepEqual(status, change.previous.status);
}
