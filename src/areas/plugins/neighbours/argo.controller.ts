import { MANAGED_LABEL, PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { appProject, AppProjectKind, ARGO_PART, argoSettings, PROJECT } from './app-project.ts';
import { ServedKind } from './served-kind.ts';

/** On clusters with Argo CD: the AppProject that holds what is deployed beside plugins inside their namespaces. */
export function argoController(environment: PluginsEnvironment, { namespaceCache, database }: InstallationParts): Controller {
  const projects = new ServedKind(AppProjectKind, `${MANAGED_LABEL}=${ARGO_PART}`, environment);
  const current = () => argoSettings(database.settings.find(PLATFORM_NAMESPACE, PLATFORM_SETTINGS));
  const reconcile = async (): Promise<void> => {
    const own = await projects.own();
    if (!own) return;
    const settings = current();
    const wanted = appProject(settings);
    const isThere = namespaceCache.get(settings.namespace) !== undefined;
    for (const each of own.list())
      if (each.metadata.namespace !== settings.namespace || each.metadata.name !== PROJECT) await projects.remove(each);
    if (isThere) await projects.apply(wanted, own.find(settings.namespace, PROJECT));
  };
  const controller = new Controller({ ...environment, name: 'plugin-argocd', reconcile });
  projects.onChange(() => controller.queue.add(PROJECT));
  return controller
    .watch(projects.definition, () => [PROJECT])
    .watch(database.settings, () => [PROJECT])
    .watch(namespaceCache, ({ object, type }) => (type !== 'modified' && object.metadata.name === current().namespace ? [PROJECT] : []));
}
