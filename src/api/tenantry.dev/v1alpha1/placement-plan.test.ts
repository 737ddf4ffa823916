import { describe, expect, it } from 'vitest';
import { placementPlan, type PlacementFacts } from './placement-plan.ts';

const FACTS: PlacementFacts = { namespaces: ['acme'], runtimes: [], runs: [], workloads: [], claims: [], plugins: [], workers: 1 };
const hello = { title: 'acme/hello', isInside: false };
const stored = { title: 'acme/stored', isInside: false, kept: 'why' };

describe('the plugins of a plan', () => {
  it('move, but for those that cannot, which say why', () => {
    const plan = placementPlan('acme', 'in', { ...FACTS, plugins: [hello, stored] });
    expect(plan.plugins).toEqual(['acme/hello']);
    expect(plan.warnings).toEqual(['plugin acme/stored stays on the host: why']);
  });

  it('stay where the cluster will have no worker', () => {
    const plan = placementPlan('acme', 'in', { ...FACTS, plugins: [hello, stored], workers: 0 });
    expect(plan.plugins).toEqual([]);
    expect(plan.warnings.at(-1)).toBe('the cluster has no worker: Pods of Runtimes wait for one, and plugins stay on the host');
  });

  it('come back when they are in the cluster', () => {
    const plan = placementPlan('acme', 'out', { ...FACTS, plugins: [{ ...hello, isInside: true }, stored] });
    expect(plan.plugins).toEqual(['acme/hello']);
    expect(plan.warnings).not.toContain('plugin acme/stored stays on the host: why');
  });
});
