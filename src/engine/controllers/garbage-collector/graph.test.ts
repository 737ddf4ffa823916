import { beforeEach, expect, test } from 'vitest';
import type { ObjectMeta, OwnerReference } from '../../../kube/object.ts';
import { blockingDependents, OwnershipGraph, type Identity } from './graph.ts';

let woken: string[];
let misplaced: string[];
let absent: string[];
let graph: OwnershipGraph;
beforeEach(() => {
  woken = [];
  misplaced = [];
  absent = [];
  graph = new OwnershipGraph({
    wake: (uid) => woken.push(uid),
    absent: ({ uid }) => absent.push(uid),
    invalidNamespace: (dependent, reference) => misplaced.push(`${dependent.identity.uid}->${reference.uid}`),
  });
});

const identity = (uid: string, namespace = 'x'): Identity => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: uid, uid });
const ownedBy = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  ...more,
});
const observe = (uid: string, metadata: ObjectMeta = {}, namespace = 'x'): void => graph.observe(identity(uid, namespace), metadata);
const takeWoken = (): string[] => woken.splice(0);

test('objects that own nothing and are owned by nothing are not kept', () => {
  observe('a');
  observe('b', { deletionTimestamp: 'now', finalizers: ['other'] });
  expect(graph.size).toBe(0);
});

test('an owner that is only named is woken, to be asked for', () => {
  observe('child', { ownerReferences: [ownedBy('owner')] });
  expect(takeWoken()).toEqual(['owner']);
  expect(graph.get('owner')).toMatchObject({ virtual: true });
  observe('owner');
  expect(graph.get('owner')).toMatchObject({ virtual: false });
  expect(takeWoken()).toEqual([]);
});

test('dependents are woken when their owner goes, and the graph forgets what nobody needs', () => {
  observe('child', { ownerReferences: [ownedBy('owner')] });
  observe('owner');
  takeWoken();
  graph.remove('owner');
  expect(takeWoken()).toEqual(['child']);
  expect(absent).toEqual(['owner']);
  graph.remove('child');
  expect(graph.size).toBe(0);
});

test('an owner is forgotten when its last dependent lets go of it', () => {
  observe('child', { ownerReferences: [ownedBy('owner')] });
  observe('owner');
  observe('child', { ownerReferences: [] });
  expect(graph.size).toBe(0);
});

test('foreground deletion wakes the dependents and the owner, once', () => {
  observe('child', { ownerReferences: [ownedBy('owner', { blockOwnerDeletion: true })] });
  observe('owner');
  takeWoken();
  const deleting = { deletionTimestamp: 'now', finalizers: ['foregroundDeletion'] };
  observe('owner', deleting);
  expect(takeWoken()).toEqual(['child', 'owner']);
  observe('owner', deleting);
  expect(takeWoken()).toEqual([]);
  expect(blockingDependents(graph.get('owner')!).map((node) => node.identity.uid)).toEqual(['child']);
});

test.each<[string, () => void]>([
  ['goes', () => graph.remove('child')],
  ['lets go of it', () => observe('child', { ownerReferences: [] })],
  ['blocks it no more', () => observe('child', { ownerReferences: [ownedBy('owner', { blockOwnerDeletion: false })] })],
])('an owner in foreground deletion is woken when a blocking dependent %s', (_what, change) => {
  observe('child', { ownerReferences: [ownedBy('owner', { blockOwnerDeletion: true })] });
  observe('owner', { deletionTimestamp: 'now', finalizers: ['foregroundDeletion'] });
  takeWoken();
  change();
  expect(takeWoken()).toEqual(['owner']);
  expect(blockingDependents(graph.get('owner')!)).toEqual([]);
});

test('orphaning wakes the owner only', () => {
  observe('child', { ownerReferences: [ownedBy('owner')] });
  takeWoken();
  observe('owner', { deletionTimestamp: 'now', finalizers: ['orphan'] });
  expect(takeWoken()).toEqual(['owner']);
  expect(graph.get('owner')).toMatchObject({ orphaning: true });
});

test('a list that does not show an object removes it, and leaves other kinds and hearsay alone', () => {
  observe('child', { ownerReferences: [ownedBy('owner')] });
  observe('owner');
  graph.observe({ ...identity('secret'), kind: 'Secret' }, { ownerReferences: [ownedBy('rumour')] });
  takeWoken();
  graph.listBegins('v1', 'ConfigMap');
  observe('child', { ownerReferences: [ownedBy('owner')] });
  graph.listEnds('v1', 'ConfigMap');
  expect(graph.get('owner')).toBeUndefined();
  expect(graph.get('secret')).toBeDefined();
  expect(graph.get('rumour')).toBeDefined();
  expect(takeWoken()).toEqual(['child']);
});

test('an owner that the server does not have wakes those who named it so', () => {
  observe('child', { ownerReferences: [ownedBy('ghost')] });
  takeWoken();
  graph.confirmAbsent(graph.get('ghost')!);
  expect(takeWoken()).toEqual(['child']);
  expect(graph.get('ghost')).toBeUndefined();
});

test('an owner that dependents name differently is asked for by each name before it is given up', () => {
  observe('a', { ownerReferences: [ownedBy('ghost')] });
  observe('b', { ownerReferences: [ownedBy('ghost', { kind: 'Secret' })] });
  takeWoken();
  graph.confirmAbsent(graph.get('ghost')!);
  expect(takeWoken()).toEqual(['a', 'ghost']);
  expect(graph.get('ghost')!.identity.kind).toBe('Secret');
  graph.confirmAbsent(graph.get('ghost')!);
  expect(takeWoken()).toEqual(['b']);
  expect(graph.get('ghost')).toBeUndefined();
});

test('an owner in another namespace is reported and its dependent woken, whichever is seen first', () => {
  observe('owner', { ownerReferences: [ownedBy('root')] }, 'elsewhere');
  observe('late', { ownerReferences: [ownedBy('owner')] });
  expect(takeWoken()).toContain('late');
  observe('early', { ownerReferences: [ownedBy('other')] });
  takeWoken();
  observe('other', {}, 'elsewhere');
  expect(takeWoken()).toEqual(['early']);
  expect(misplaced).toEqual(['late->owner', 'early->other']);
});

test('a cluster-scoped owner fits dependents of every namespace', () => {
  observe('owner', { ownerReferences: [ownedBy('root')] }, '');
  takeWoken();
  observe('a', { ownerReferences: [ownedBy('owner')] }, 'x');
  observe('b', { ownerReferences: [ownedBy('owner')] }, 'y');
  expect(takeWoken()).toEqual([]);
  expect(misplaced).toEqual([]);
});
