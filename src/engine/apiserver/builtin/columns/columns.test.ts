import { expect, test } from 'vitest';
import { builtinResources } from '../resources.ts';

test('every column of every listable kind has a cell', () => {
  const tables = builtinResources().map((resource) => resource.columns.length);
  expect(tables.filter((count) => count > 0).length).toBeGreaterThan(50);
});
