import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';

export type Route = NonNullable<NonNullable<NonNullable<PluginInstallation['status']>['gateway']>['routes']>[number];

/** The routes once a version has this share: the rest is the version's that is at work, and others are on their way out. */
export function withShare(routes: readonly Route[], target: Pick<Route, 'version' | 'workload'>, weight: number, atWork?: string): Route[] {
  const others = routes.filter(({ version }) => version !== target.version);
  const stable = others.find(({ version }) => version === atWork) ?? heaviest(others);
  const share = stable === undefined ? 100 : weight;
  return [
    ...others.map((route) => ({ ...route, weight: route === stable ? 100 - share : 0 })),
    { version: target.version, workload: target.workload, weight: share },
  ];
}

function heaviest(routes: readonly Route[]): Route | undefined {
  return routes.reduce<Route | undefined>((best, route) => (best === undefined || route.weight > best.weight ? route : best), undefined);
}

export function sameRoutes(a: readonly Route[], b: readonly Route[]): boolean {
  const text = (routes: readonly Route[]): string =>
    routes
      .map(({ version, workload, weight }) => `${version} ${workload} ${weight}`)
      .sort((x, y) => x.localeCompare(y))
      .join();
  return text(a) === text(b);
}
