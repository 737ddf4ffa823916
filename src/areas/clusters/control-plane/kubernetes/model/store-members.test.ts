import { expect, it } from 'vitest';
import { etcdArguments, storeChange, storeMembers } from './store-members.ts';

const folders = (members: ReturnType<typeof storeMembers>) => members.map(({ folder }) => folder);

it.each([
  ['nothing is there: a new one', 3, [], 'none'],
  ['one stays one', 1, ['store'], 'none'],
  ['three stay three', 3, ['store/0', 'store/1', 'store/2'], 'none'],
  ['one becomes three', 3, ['store'], ['store']],
  ['three become one', 1, ['store/0', 'store/1', 'store/2'], ['store/0', 'store/1', 'store/2']],
  ['one of three was lost: the others make it again', 3, ['store/0', 'store/2'], ['store/0', 'store/1', 'store/2']],
  ['one of three was lost before they become one', 1, ['store/1', 'store/2'], ['store/0', 'store/1', 'store/2']],
  // One cannot know what the two others had agreed on.
  ['two of three were lost: nothing is made of what is left', 3, ['store/1'], 'lost'],
  ['two of three were lost before they become one', 1, ['store/1'], 'lost'],
  ['all of it was lost: no other is begun in its place', 1, [], 'lost'],
])('storeChange, %s', (name, wanted, there, expected) => {
  const change = storeChange(wanted, (folder) => there.includes(folder), !name.startsWith('nothing is there'));
  expect(typeof change === 'string' ? change : folders(change.from)).toEqual(expected);
});

it('storeChange, one that never served and was left half made is made to its end', () => {
  expect(storeChange(3, (folder) => folder === 'store/0', false)).toBe('none');
});

it('etcdArguments, members know each other by sockets and their clients by certificates', () => {
  const members = storeMembers(3);
  const args = etcdArguments(members[1], members);
  expect(args).toContain('--initial-cluster=etcd-0=unix://peer:0,etcd-1=unix://peer:1,etcd-2=unix://peer:2');
  expect(args).toContain('--listen-client-urls=unixs://etcd:1');
  expect(args).toContain('--client-cert-auth');
});
