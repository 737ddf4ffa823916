import { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { hasFinalizer } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';

const PROTECTION = 'kubernetes.io/vac-protection';

/** A VolumeAttributesClass that is deleted goes when no volume and no claim refers to it any more. Keys are classes. */
export function attributesClassController({ client, clock, log, metrics, informers }: Environment): Running {
  const classes = informers.get<KubeObject>(VolumeAttributesClass);
  const claims = informers.get<KubeObject>(PersistentVolumeClaim);
  const volumes = informers.get<KubeObject>(PersistentVolume);
  claims.addIndex('attributes', claimClasses);
  volumes.addIndex('attributes', volumeClasses);
  return new Controller({
    name: 'attributes-class',
    clock,
    log,
    metrics,
    async reconcile(name, { signal }) {
      const one = classes.get(name);
      if (!one || one.metadata.deletionTimestamp === undefined || !hasFinalizer(one, PROTECTION)) return;
      if (claims.byIndex('attributes', name).length > 0 || volumes.byIndex('attributes', name).length > 0) return;
      const { uid, resourceVersion, finalizers = [] } = one.metadata;
      const patch = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((other) => other !== PROTECTION) } };
      await client
        .resource<KubeObject>(VolumeAttributesClass)
        .patch(name, { type: 'merge', patch }, { signal })
        .catch((error: unknown) => {
          if (!isStatusError(error, 'NotFound')) throw error;
        });
    },
  })
    .watch(classes)
    .watch(claims, (change) => (change.type === 'modified' ? claimClasses(change.previous) : claimClasses(change.object)))
    .watch(volumes, (change) => (change.type === 'modified' ? volumeClasses(change.previous) : volumeClasses(change.object)))
    .start();
}

/** What it wants, what it has, and what it is changed to. */
function claimClasses({ spec, status }: KubeObject): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter(Boolean))];
}

function volumeClasses({ spec }: KubeObject): string[] {
  return spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [];
}
