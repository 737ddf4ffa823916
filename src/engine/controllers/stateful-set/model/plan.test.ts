import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { identityLabels } from './identity.ts';
import { planStatefulSet } from './plan.ts';
import { claimOwners } from './retention.ts';
import { statefulStatus } from './status.ts';

const aSet = (spec: Json = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's', uid: 'set', generation: 2 },
  spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, ...spec },
});

/** State as a letter: `r` ready, `p` not ready, `f` failed, `t` terminating; upper case: of the older revision. */
function aPod(ordinal: number, letter: string): KubeObject {
  const state = letter.toLowerCase();
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `s-${ordinal}`,
      uid: `pod-${ordinal}`,
      labels: { ...identityLabels(`s-${ordinal}`, ordinal), 'controller-revision-hash': state === letter ? 'new' : 'old' },
      deletionTimestamp: state === 't' ? 'now' : undefined,
    },
    status: { phase: state === 'f' ? 'Failed' : 'Running', conditions: [{ type: 'Ready', status: state === 'r' ? 'True' : 'False' }] },
  };
}

function plan(spec: Json, letters: string): string[] {
  const pods = Array.from(letters).flatMap((letter, i) => (letter === '.' ? [] : [aPod(i, letter)]));
  const actions = planStatefulSet({ set: aSet(spec), pods, updateRevision: 'new', claimsAreRight: () => true, now: 0 });
  return actions.map((action) =>
    action.type === 'create'
      ? `create ${action.ordinal}${action.current ? ' as it was' : ''}`
      : `${action.type} ${action.pod.metadata.name}`,
  );
}

const parallel = { podManagementPolicy: 'Parallel' };
const partition = (count: number): Json => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: count } } });

test.each<[string, Json, string, string[]]>([
  ['starts with the first', {}, '', ['create 0']],
  ['waits for one that is not ready', {}, 'rp', []],
  ['goes on when it is', {}, 'rr', ['create 2']],
  ['fills a gap first', {}, 'r.r', ['create 1']],
  ['replaces a failed one', {}, 'rfr', ['delete s-1']],
  ['waits for one that goes', {}, 'rtr', []],
  ['has nothing to do', {}, 'rrr', []],
  ['shrinks from the top', {}, 'rrrrr', ['delete s-4']],
  ['shrinks by one at a time', {}, 'rrrrt', []],
  ['does not shrink while one below is broken', {}, 'rrrpr', ['delete s-4']],
  ['removes the lowest broken one only', {}, 'rrrpp', []],
  ['starts all in parallel', parallel, '.p', ['create 0', 'create 2']],
  ['shrinks all in parallel', parallel, 'rrrrp', ['delete s-4', 'delete s-3']],
  ['updates the highest first', {}, 'RRR', ['delete s-2']],
  ['waits for the updated one', {}, 'RRp', []],
  ['updates the next', {}, 'RRr', ['delete s-1']],
  ['stops at the partition', partition(2), 'RRr', []],
  ['creates what the partition keeps as it was', partition(2), '.Rr', ['create 0 as it was']],
  ['leaves updates to others', { updateStrategy: { type: 'OnDelete' } }, 'RRR', []],
])('planStatefulSet %s', (_name, spec, letters, expected) => {
  expect(plan(spec, letters)).toEqual(expected);
});

test('the update is through when all are new and ready', () => {
  const revisions = { current: 'old', update: 'new', collisionCount: undefined };
  const half = statefulStatus(aSet(), [aPod(0, 'R'), aPod(1, 'R'), aPod(2, 'r')], revisions, 0);
  expect(half).toMatchObject({ currentRevision: 'old', currentReplicas: 2, updatedReplicas: 1, readyReplicas: 3 });
  const through = statefulStatus(aSet(), [aPod(0, 'r'), aPod(1, 'r'), aPod(2, 'r')], revisions, 0);
  expect(through).toMatchObject({ currentRevision: 'new', currentReplicas: 3, updatedReplicas: 3 });
});

const policy = (whenScaled: string, whenDeleted: string): Json => ({ persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } });
const owner = (kind: string, name: string, uid: string, controller = true): Json => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name,
  uid,
  controller,
});

test.each<[string, Json, number, Json[], string[] | undefined]>([
  ['stays without owner', {}, 0, [], undefined],
  ['loses the set when it is to stay', {}, 0, [owner('StatefulSet', 's', 'set')], []],
  ['goes with the set', policy('Retain', 'Delete'), 0, [], ['set']],
  ['goes with its Pod when scaled down', policy('Delete', 'Delete'), 3, [owner('StatefulSet', 's', 'set')], ['pod-3']],
  ['does not yet', policy('Delete', 'Retain'), 2, [], undefined],
  [
    'is left to the garbage collector when its owner is of the past',
    policy('Delete', 'Delete'),
    0,
    [owner('Pod', 's-0', 'earlier')],
    undefined,
  ],
  ['belongs to another controller', policy('Delete', 'Delete'), 0, [owner('Other', 'o', 'other')], undefined],
])('a claim %s', (_name, spec, ordinal, ownerReferences, expected) => {
  const claim: KubeObject = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', ownerReferences } };
  expect(claimOwners(aSet(spec), aPod(ordinal, 'r'), claim)?.map(({ uid }) => uid)).toEqual(expected);
});
