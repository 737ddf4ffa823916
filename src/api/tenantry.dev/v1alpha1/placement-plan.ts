import { isUntouched } from '../../kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../kruntimes.io/v1alpha1/run.ts';
import { listed } from './listed.ts';

/** What a plan must know of a tenant that goes into a cluster of its own, or comes back from it. */
export interface PlacementFacts {
  /** Of the owners. */
  namespaces: readonly string[];
  /** `<namespace>/<name>` */
  runtimes: readonly string[];
  /** Those that have not ended. */
  runs: readonly Run[];
  /** Workloads that are neither Runtimes nor plugins, as `<Kind> <namespace>/<name>`. */
  workloads: readonly string[];
  claims: readonly string[];
  plugins: readonly PlannedPlugin[];
  /** Why the tenant cannot have the cluster. */
  refused?: string;
  /** How many workers the cluster has, or would have. */
  workers: number;
}

/** An installation, as `<namespace>/<name>`. */
export interface PlannedPlugin {
  title: string;
  /** Why it stays on the host. */
  kept?: string;
  /** Requests go to it in the cluster. */
  isInside: boolean;
}

/** What goes with the tenant. */
export interface PlacementPlan {
  cluster: string;
  namespaces: readonly string[];
  runtimes: readonly string[];
  /** Those that move: each answers at the new place before it goes at the old one. */
  plugins: readonly string[];
  /** Runs that have not begun: they begin at the other place. */
  moving: number;
  /** Runs that have begun: they end where they are, and the move waits for them. */
  ending: number;
  obstacles: string[];
  warnings: string[];
}

export function placementPlan(tenant: string, direction: 'in' | 'out', facts: PlacementFacts): PlacementPlan {
  const moving = facts.runs.filter(isUntouched).length;
  const ending = facts.runs.length - moving;
  const obstacles = direction === 'in' && facts.refused !== undefined ? [facts.refused] : [];
  const warnings: string[] = [];
  if (ending > 0)
    warnings.push(
      `${ending === 1 ? 'one Run ends' : `${ending} Runs end`} where ${ending === 1 ? 'it' : 'they'} began; the move waits for that`,
    );
  if (direction === 'in') warnings.push(...stayingBehind(facts));
  else warnings.push(`what was made in cluster "${tenant}" by its own kubeconfig goes with it; copy it first`);
  const plugins = movingPlugins(direction, facts).map(({ title }) => title);
  return { cluster: tenant, namespaces: facts.namespaces, runtimes: facts.runtimes, plugins, moving, ending, obstacles, warnings };
}

function movingPlugins(direction: 'in' | 'out', { plugins, workers }: PlacementFacts): PlannedPlugin[] {
  if (direction === 'out') return plugins.filter(({ isInside }) => isInside);
  return workers === 0 ? [] : plugins.filter(({ kept }) => kept === undefined);
}

function stayingBehind({ workloads, claims, plugins, workers, refused }: PlacementFacts): string[] {
  const warnings: string[] = [];
  if (workloads.length > 0)
    warnings.push(`${listed(workloads)} stay on the host; make them in the cluster by its kubeconfig, and delete them here`);
  if (claims.length > 0) warnings.push(`volumes are not copied: ${listed(claims)} stay on the host`);
  for (const { title, kept } of plugins) if (kept !== undefined) warnings.push(`plugin ${title} stays on the host: ${kept}`);
  if (workers === 0 && refused === undefined) {
    const others = plugins.some(({ kept }) => kept === undefined) ? ', and plugins stay on the host' : '';
    warnings.push(`the cluster has no worker: Pods of Runtimes wait for one${others}`);
  }
  return warnings;
}
