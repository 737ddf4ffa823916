import type { Client } from '../../../client/client.ts';
import { ControllerRevision } from '../../../client/kinds.ts';
import { semanticEqual } from '../../../kube/json-value.ts';
import type { Kind } from '../../../kube/kind.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { ownerReference } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { claim } from './claim.ts';
import { controlledOrOrphaned } from './informers.ts';
import { sortedKeys } from './model/sorted-keys.ts';
import { templateHash } from './model/template-hash.ts';

const MAX_PREFIX = 223;

export interface History {
  /** The revision of the owner's template as it is now. */
  update: KubeObject;
  /** All of them, the lowest number first; `update` is the last. */
  all: KubeObject[];
  collisionCount: number | undefined;
}

/** The revisions of an owner, orphans that match its selector adopted. */
export function claimRevisions(client: Client, kind: Kind, owner: KubeObject, revisions: Informer): Promise<KubeObject[]> {
  const { namespace, name } = owner.metadata;
  const matcher = labelSelectorMatcher(owner.spec.selector);
  return claim(owner, controlledOrOrphaned(revisions, owner), {
    objects: client.resource<KubeObject>(ControllerRevision, namespace),
    readOwner: () => client.resource<KubeObject>(kind, namespace).get(name!),
    matches: ({ metadata }) => matcher.matches(metadata.labels),
  });
}

/** Makes sure that the owner's template is a revision, and the newest: a template that comes back gets its old revision with a new number. */
export async function ensureRevision(
  client: Client,
  owner: KubeObject,
  existing: readonly KubeObject[],
  hashLabel: string,
): Promise<History> {
  const data = revisionData(owner);
  const sorted = [...existing].sort(byRevision);
  const collisionCount: number | undefined = owner.status?.collisionCount;
  const equal = sorted.findLast((revision) => semanticEqual(revision.data, data));
  const next = (sorted.at(-1)?.revision ?? 0) + 1;
  if (!equal) {
    const created = await createRevision(client, owner, data, next, hashLabel);
    return { update: created.revision, all: [...sorted, created.revision], collisionCount: created.collisions };
  }
  const others = sorted.filter((revision) => revision !== equal);
  if (others.length === 0 || equal === sorted.at(-1)) return { update: equal, all: [...others, equal], collisionCount };
  const revisions = client.resource<KubeObject>(ControllerRevision, owner.metadata.namespace);
  const update = await revisions.update({ ...equal, revision: next });
  return { update, all: [...others, update], collisionCount };
}

async function createRevision(client: Client, owner: KubeObject, data: Json, revision: number, hashLabel: string) {
  const revisions = client.resource<KubeObject>(ControllerRevision, owner.metadata.namespace);
  for (let collisions: number | undefined = owner.status?.collisionCount; ; collisions = (collisions ?? 0) + 1) {
    const hash = templateHash(owner.spec.template, collisions);
    const name = `${owner.metadata.name!.slice(0, MAX_PREFIX)}-${hash}`;
    try {
      const created = await revisions.create({
        metadata: {
          name,
          labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
          annotations: owner.metadata.annotations,
          ownerReferences: [ownerReference(owner, { controller: true, blockOwnerDeletion: true })],
        },
        data,
        revision,
      });
      return { revision: created, collisions };
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      const taken = await revisions.get(name);
      if (semanticEqual(taken.data, data)) return { revision: taken, collisions };
    }
  }
}

/** Deletes the oldest revisions that nobody uses, beyond the limit. */
export async function truncateHistory(
  client: Client,
  owner: KubeObject,
  all: readonly KubeObject[],
  isLive: (revision: KubeObject) => boolean,
) {
  const unused = all.filter((revision) => !isLive(revision));
  const limit: number = owner.spec.revisionHistoryLimit ?? 10;
  for (const { metadata } of unused.slice(0, Math.max(0, unused.length - limit))) {
    try {
      await client.resource(ControllerRevision, metadata.namespace).delete(metadata.name!);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

/**
 * A strategic merge patch that brings the template back, which is what `kubectl rollout undo` sends. Its keys are in order, as Go writes
 * them: programs that look for the revision of a template compare bytes.
 */
function revisionData(owner: KubeObject): Json {
  return { spec: { template: sortedKeys({ ...owner.spec.template, $patch: 'replace' }) } };
}

/** The template that a revision holds. */
export function templateOf(revision: KubeObject): Json {
  const { $patch: _, ...template } = revision.data.spec.template;
  return template;
}

function byRevision(a: KubeObject, b: KubeObject): number {
  if (a.revision !== b.revision) return a.revision - b.revision;
  const [timeA = '', timeB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return a.metadata.name! < b.metadata.name! ? -1 : 1;
}
