import { formatTime } from '../../../../kube/time.ts';
import type { Json } from '../../../../kube/object.ts';
import { copyField, keepAllBut, type KindBehaviour } from './standard.ts';

export const PERSISTENT_VOLUME: KindBehaviour = {
  onCreate(volume, context) {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(context.now()) };
  },
  subresources: {
    status(volume, old, context) {
      keepAllBut(volume, old, 'status');
      const isMoved = volume.status.phase !== old.status.phase;
      const given = volume.status.lastPhaseTransitionTime;
      if (!isMoved && given === undefined) copyField(volume.status, old.status, 'lastPhaseTransitionTime');
      if (isMoved && (given === undefined || given === old.status.lastPhaseTransitionTime)) {
        volume.status.lastPhaseTransitionTime = formatTime(context.now());
      }
    },
  },
};

export const PERSISTENT_VOLUME_CLAIM: KindBehaviour = {
  addsFields: true,
  onCreate: (claim) => normalizeSources(claim.spec, false),
  onUpdate: (claim, old) => normalizeSources(claim.spec, Boolean(old.spec.dataSource ?? old.spec.dataSourceRef)),
};

/** `dataSource` and `dataSourceRef` are two names for one thing as long as it is in the same namespace. */
function normalizeSources(spec: Json, hadSource: boolean): void {
  // Anything but claims and snapshots was ignored there before the second name existed, and still is.
  if (spec.dataSource && !spec.dataSourceRef && !hadSource && !isOldSource(spec.dataSource)) delete spec.dataSource;
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { namespace: _namespace, ...reference } = spec.dataSourceRef;
    spec.dataSource = reference;
  }
}

function isOldSource({ apiGroup, kind }: Json): boolean {
  if (kind === 'PersistentVolumeClaim') return !apiGroup;
  return kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io';
}
