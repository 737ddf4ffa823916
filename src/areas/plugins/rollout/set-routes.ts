import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { formatTime } from '../../../kube/time.ts';
import { sameRoutes, type Route } from './model/routes.ts';

/** Writes the routes down; the time of the step begins anew when they change. */
export function setRoutes({ status }: PluginInstallation, routes: Route[], step: number | undefined, now: number): void {
  const gateway = (status!.gateway ??= {});
  const target = (status!.target ??= {});
  const weight = routes.find(({ version }) => version === target.version)?.weight;
  Object.assign(target, { weight, step });
  if (step === undefined) delete target.step;
  if (sameRoutes(gateway.routes ?? [], routes)) return;
  gateway.routes = routes;
  gateway.revision = (gateway.revision ?? 0) + 1;
  target.stepSince = formatTime(new Date(now));
}
