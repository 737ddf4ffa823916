import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromResourceList, toResourceList } from '../../../../kube/resource-list.ts';
import { TreeLedger } from './tree-ledger.ts';

const RQ = 'hrq.hnc.x-k8s.io';
const amounts = (list: Record<string, string>) => toResourceList(list);

/** `top` with `left` and `right` below it, and a quota of 10 Pods on top. */
function family(): TreeLedger {
  const ledger = new TreeLedger();
  ledger.place('left', 'top');
  ledger.place('right', 'top');
  ledger.setLimit('top', 'all', { hard: amounts({ pods: '10' }), countedIn: RQ });
  return ledger;
}

describe('the ledger of a tree', () => {
  it('refuses what the whole tree has no room for, and names the quota', () => {
    const ledger = family();
    ledger.setUsage('left', RQ, amounts({ pods: '7' }));
    ledger.setUsage('right', RQ, amounts({ pods: '3' }));
    expect(ledger.excess('right', RQ, amounts({ pods: '4' }))?.message).toBe(
      'exceeded hierarchical quota in namespace "top": "all", requested: pods=1, used: pods=10, limited: pods=10',
    );
  });

  it('admits what fits to the last piece', () => {
    const ledger = family();
    ledger.setUsage('left', RQ, amounts({ pods: '7' }));
    expect(ledger.excess('right', RQ, amounts({ pods: '3' }))).toBeUndefined();
  });

  it('tolerates old excess when nothing is added', () => {
    const ledger = family();
    ledger.setUsage('left', RQ, amounts({ pods: '12' }));
    expect(ledger.excess('left', RQ, amounts({ pods: '11' }))).toBeUndefined();
    expect(ledger.excess('right', RQ, amounts({ pods: '1' }))).toBeDefined();
  });

  it('names the quota furthest up first', () => {
    const ledger = family();
    ledger.setLimit('left', 'own', { hard: amounts({ pods: '1' }), countedIn: RQ });
    expect(ledger.excess('left', RQ, amounts({ pods: '11' }))).toMatchObject({ namespace: 'top', quota: 'all' });
    expect(ledger.excess('left', RQ, amounts({ pods: '2' }))).toMatchObject({ namespace: 'left', quota: 'own' });
  });

  it('counts a moved branch where it is now', () => {
    const ledger = family();
    ledger.setUsage('left', RQ, amounts({ pods: '7' }));
    ledger.place('left', undefined);
    expect(fromResourceList(ledger.used('top', 'all'))).toEqual({ pods: '0' });
    ledger.place('left', 'right');
    expect(fromResourceList(ledger.used('top', 'all'))).toEqual({ pods: '7' });
  });

  it('counts scoped quotas apart', () => {
    const ledger = family();
    ledger.setUsage('left', `${RQ}-high`, amounts({ pods: '9' }));
    expect(fromResourceList(ledger.used('top', 'all'))).toEqual({ pods: '0' });
  });

  it('shows, after any changes, what a count from scratch shows', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('place' as const), name, parent: fc.option(name, { nil: undefined }) }),
      fc.record({ kind: fc.constant('use' as const), name, pods: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const ledger = new TreeLedger();
        const parents = new Map<string, string | undefined>();
        const used = new Map<string, number>();
        for (const each of ['a', 'b', 'c', 'd', 'e']) ledger.setLimit(each, 'q', { hard: amounts({ pods: '1' }), countedIn: RQ });
        for (const change of steps) {
          if (change.kind === 'use') {
            used.set(change.name, change.pods ?? 0);
            ledger.setUsage(change.name, RQ, change.pods === undefined ? undefined : amounts({ pods: String(change.pods) }));
          } else if (!isBelow(parents, change.name, change.parent)) {
            parents.set(change.name, change.parent);
            ledger.place(change.name, change.parent);
          }
        }
        for (const each of ['a', 'b', 'c', 'd', 'e']) {
          const expected = [...used].filter(([other]) => isBelow(parents, each, other)).reduce((sum, [, pods]) => sum + pods, 0);
          expect(fromResourceList(ledger.used(each, 'q'))).toEqual({ pods: String(expected) });
        }
      }),
    );
  });
});

/** Whether `name` is `top` or below it. */
function isBelow(parents: Map<string, string | undefined>, top: string, name: string | undefined): boolean {
  for (let each = name; each !== undefined; each = parents.get(each)) if (each === top) return true;
  return false;
}
