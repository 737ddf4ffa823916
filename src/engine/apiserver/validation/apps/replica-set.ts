import type { KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { path } from '../path.ts';
import { templateOptions } from '../pod/template.ts';
import { checkCounters, checkWithinReplicas } from './replicas-status.ts';
import { checkReplicaSetTemplate, checkSelectedTemplate, checkSelectorImmutable, checkWorkloadSelector } from './selector-template.ts';

const SPEC = path('spec');
const STATUS = path('status');
const COUNTERS = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration', 'terminatingReplicas'];
const PARTS = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];

export function validateReplicaSet(out: Findings, set: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return checkReplicaSetStatus(out, set);
  const spec = set.spec ?? {};
  const options = templateOptions(old?.spec?.template);
  checkNonnegative(out, spec.replicas, SPEC.child('replicas'));
  checkNonnegative(out, spec.minReadySeconds, SPEC.child('minReadySeconds'));
  checkWorkloadSelector(out, spec.selector, 'deployment', SPEC.child('selector'));
  checkSelectedTemplate(out, spec, SPEC, 'invalid label selector', (template, at) =>
    checkReplicaSetTemplate(out, spec.selector, template, at, options),
  );
  if (old !== undefined) checkSelectorImmutable(out, spec.selector, old.spec?.selector, SPEC.child('selector'));
}

/** ReplicationControllers have the same. */
export function checkReplicaSetStatus(out: Findings, set: KubeObject): void {
  const status = set.status ?? {};
  checkCounters(out, status, COUNTERS, STATUS);
  checkWithinReplicas(out, status, PARTS, 'readyReplicas', STATUS);
}
