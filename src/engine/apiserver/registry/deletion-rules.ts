import type { KubeObject } from '../../../kube/object.ts';
import { storagePrefix } from './keys.ts';
import type { Resource } from './resource.ts';

/** What deletion means for the kinds whose end is more than the removal of a record. */
interface DeletionRule {
  /** False while something other than finalizers in the metadata holds the object. */
  free?(object: KubeObject): boolean;
  /** Added when deletion begins: somebody has to clean up before the object may go. */
  finalizer?: string;
  /** Edits the draft when its deletion begins. */
  begin?(draft: KubeObject, now: string): void;
}

export const CUSTOM_RESOURCE_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const RULES: Record<string, DeletionRule> = {
  'core/namespaces/': {
    free: (object) => (object.spec?.finalizers ?? []).length === 0,
    begin: (draft) => {
      draft.status = { ...draft.status, phase: 'Terminating' };
    },
  },
  'apiextensions.k8s.io/customresourcedefinitions/': {
    finalizer: CUSTOM_RESOURCE_CLEANUP,
    begin: (draft, now) => {
      const condition = {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: now,
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      };
      const others = (draft.status?.conditions ?? []).filter((c: { type: string }) => c.type !== 'Terminating');
      draft.status = { ...draft.status, conditions: [...others, condition] };
    },
  },
};

/** Kinds whose delete answers with the object rather than a Status, as in Kubernetes. */
const RETURN_OBJECT = new Set(
  [
    'core/namespaces/ core/pods/ core/services/ core/podtemplates/ core/resourcequotas/ core/serviceaccounts/',
    'core/persistentvolumes/ core/persistentvolumeclaims/ storage.k8s.io/storageclasses/ storage.k8s.io/csidrivers/',
    'storage.k8s.io/csinodes/ storage.k8s.io/volumeattachments/ storage.k8s.io/volumeattributesclasses/',
    'resource.k8s.io/deviceclasses/ resource.k8s.io/resourceclaims/ resource.k8s.io/resourceclaimtemplates/',
    'resource.k8s.io/resourceslices/',
  ]
    .join(' ')
    .split(' '),
);

export function beginDeletion(resource: Resource, draft: KubeObject, now: string): void {
  RULES[storagePrefix(resource.storage)]?.begin?.(draft, now);
}

/** The finalizer that a kind gets with its first delete, if it has one. */
export function deletionFinalizer(resource: Resource): string | undefined {
  return RULES[storagePrefix(resource.storage)]?.finalizer;
}

export function isHeld(resource: Resource, object: KubeObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return true;
  return RULES[storagePrefix(resource.storage)]?.free?.(object) === false;
}

/** An object on its way out goes when nothing holds it any more and its grace period is over. */
export function isRemovable(resource: Resource, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  return deletionTimestamp !== undefined && !deletionGracePeriodSeconds && !isHeld(resource, object);
}

export function returnsDeletedObject(resource: Resource): boolean {
  return RETURN_OBJECT.has(storagePrefix(resource.storage));
}
