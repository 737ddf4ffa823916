import { expect, it } from 'vitest';
import { drawTrees, type TreePlace } from './tree.ts';

function place(name: string, children: string[] = [], rest: Partial<TreePlace> = {}): [string, TreePlace] {
  return [name, { name, children, isSub: false, notes: [], inCycle: false, ...rest }];
}

it('a tree is drawn with its branches, subnamespaces marked', () => {
  const places = new Map([
    place('acme', ['acme--dev', 'acme--sys']),
    place('acme--dev', ['acme--x'], { isSub: true }),
    place('acme--x'),
    place('acme--sys'),
  ]);
  expect(drawTrees(['acme'], places)).toEqual([
    'acme',
    '├── [s] acme--dev',
    '│   └── acme--x',
    '└── acme--sys',
    '',
    '[s] indicates subnamespaces',
  ]);
});

it('what is wrong is noted once, however many it concerns', () => {
  const note = 'ActivitiesHalted (ParentMissing): Parent "gone" does not exist';
  const places = new Map([place('a', [], { notes: [note] }), place('b', [], { notes: [note] })]);
  expect(drawTrees(['a', 'b'], places)).toEqual(['a (1)', 'b (1)', '', 'Conditions:', `1) ${note}`]);
});

it('a cycle is drawn once around', () => {
  const places = new Map([place('a', ['b'], { inCycle: true }), place('b', ['a'], { inCycle: true })]);
  expect(drawTrees(['a'], places)).toEqual(['a']);
});
