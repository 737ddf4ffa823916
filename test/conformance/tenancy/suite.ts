import { afterAll, beforeAll, describe } from 'vitest';
import type { ApiTarget } from '../../support/api-target.ts';
import { objectsSuite } from './objects.suite.ts';
import { tenantBoundsSuite } from './tenant-bounds.suite.ts';
import { treeLifeSuite } from './tree-life.suite.ts';
import { treeRacesSuite } from './tree-races.suite.ts';
import { treeRefusalsSuite } from './tree-refusals.suite.ts';
import { Tree } from './tree.ts';

/** What ours promises beyond HNC: bounds of tenants, and an orderly end of everything that goes wrong. */
export function tenantConformance(name: string, start: () => Promise<ApiTarget>): void {
  withTree(`tenants on ${name}`, start, (tree) => {
    describe('bounds', () => tenantBoundsSuite(tree));
    describe('races', () => treeRacesSuite(tree));
  });
}

/** What holds for trees of namespaces wherever HNC's API is served: by us on either engine, and by HNC itself. */
export function treeConformance(name: string, start: () => Promise<ApiTarget>): void {
  withTree(`trees of namespaces on ${name}`, start, (tree) => {
    describe('life', () => treeLifeSuite(tree));
    describe('refusals', () => treeRefusalsSuite(tree));
    describe('objects', () => objectsSuite(tree));
  });
}

function withTree(title: string, start: () => Promise<ApiTarget>, tests: (tree: () => Tree) => void): void {
  describe(title, { timeout: 180_000 }, () => {
    let target: ApiTarget;
    const tree = (): Tree => new Tree(target);
    beforeAll(async () => {
      target = await start();
      // On the embedded engine nothing is done about trees before there is one.
      await tree().must(tree().createNamespace('first-tree'));
      await tree().until(async () => void (await tree().must(tree().configure('first-tree', {}))));
    }, 300_000);
    afterAll(() => target?.close(), 60_000);
    tests(tree);
  });
}
