import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkClaimSpec } from '../core/claim-spec.ts';
import { semanticEqual } from '../equality.ts';
import { Findings } from '../findings.ts';
import { checkDnsLabel, checkNonnegative } from '../formats.ts';
import { checkAtMost100Percent, checkPositiveIntOrPercent, isZero } from '../int-or-percent.ts';
import { internalForm } from '../internal-form.ts';
import { checkAnnotations, checkLabels } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkPodAnnotations } from '../pod/annotations.ts';
import type { PodOptions } from '../pod/options.ts';
import { checkPodTemplate, templateOptions } from '../pod/template.ts';
import { checkCollisionCount, checkCounters, checkWithinReplicas } from './replicas-status.ts';
import { checkAlwaysRunning, checkLabelsSelected, checkSelectedTemplate, checkWorkloadSelector } from './selector-template.ts';

const SPEC = path('spec');
const STATUS = path('status');
const COUNTERS = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
];
const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

interface Tolerated {
  serviceName: boolean;
  claimTemplates: boolean;
  podTemplate: boolean;
}

export function validateStatefulSet(out: Findings, set: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status' && old !== undefined) {
    const status = set.status ?? {};
    checkCounters(out, status, COUNTERS, STATUS);
    checkWithinReplicas(out, status, PARTS, 'status.readyReplicas', STATUS);
    return checkCollisionCount(out, status, old.status ?? {}, STATUS);
  }
  const spec = set.spec ?? {};
  if (old === undefined) {
    return checkSpec(out, spec, templateOptions(), { serviceName: false, claimTemplates: false, podTemplate: false });
  }
  const options = templateOptions(old.spec?.template);
  const tolerated = { serviceName: true, claimTemplates: true, podTemplate: false };
  const oldFindings = new Findings();
  checkSpec(oldFindings, old.spec ?? {}, options, tolerated);
  checkSpec(out, spec, options, { ...tolerated, podTemplate: oldFindings.count > 0 });
  checkFixedFields(out, spec, old.spec ?? {});
}

const MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

function checkFixedFields(out: Findings, spec: Json, old: Json): void {
  const next = { ...spec };
  for (const field of MUTABLE) next[field] = old[field];
  if (semanticEqual('apps.StatefulSetSpec', next, old)) return;
  const fields =
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
  out.forbidden(SPEC, `updates to statefulset spec for fields other than ${fields} are forbidden`);
}

function checkSpec(out: Findings, spec: Json, options: PodOptions, tolerated: Tolerated): void {
  const at = SPEC;
  const management: string = spec.podManagementPolicy ?? '';
  if (management === '') out.required(at.child('podManagementPolicy'));
  else if (management !== 'OrderedReady' && management !== 'Parallel') {
    out.invalid(at.child('podManagementPolicy'), management, "must be 'OrderedReady' or 'Parallel'");
  }
  checkUpdateStrategy(out, spec.updateStrategy ?? {}, at.child('updateStrategy'));
  checkRetention(out, spec.persistentVolumeClaimRetentionPolicy, at.child('persistentVolumeClaimRetentionPolicy'));
  if (!tolerated.claimTemplates) {
    (spec.volumeClaimTemplates ?? []).forEach((claim: Json, i: number) =>
      checkClaimSpec(out, claim.spec ?? {}, at.child('volumeClaimTemplates').index(i).child('spec')),
    );
  }
  checkNonnegative(out, spec.replicas, at.child('replicas'));
  checkNonnegative(out, spec.minReadySeconds, at.child('minReadySeconds'));
  checkNonnegative(out, spec.ordinals?.start, at.child('ordinals.start'));
  if (!tolerated.serviceName && spec.serviceName) checkDnsLabel(out, spec.serviceName, at.child('serviceName'));
  checkWorkloadSelector(out, spec.selector, 'statefulset', at.child('selector'));
  checkSelectedTemplate(out, spec, at, '', (template, templateAt) =>
    checkTemplate(out, spec, template, templateAt, options, tolerated.podTemplate),
  );
  checkAlwaysRunning(out, spec.template ?? {}, 'StatefulSet', at.child('template'));
}

/** Volumes of the claim templates take the place of those with the same name; host name and subdomain are overwritten. */
function asRun(spec: Json, template: Json): Json {
  const claims: Json[] = spec.volumeClaimTemplates ?? [];
  const { subdomain: _subdomain, hostname: _hostname, ...podSpec } = template.spec ?? {};
  if (claims.length === 0) return { ...template, spec: podSpec };
  const names = new Set<string>(claims.map((claim) => claim.metadata?.name ?? ''));
  const added = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const kept = (podSpec.volumes ?? []).filter((volume: Json) => !names.has(volume.name));
  return { ...template, spec: { ...podSpec, volumes: [...added, ...kept] } };
}

function checkTemplate(out: Findings, spec: Json, served: Json, at: Path, options: PodOptions, skipSpec: boolean): void {
  const template = asRun(spec, served);
  const annotations = template.metadata?.annotations;
  checkLabelsSelected(out, spec.selector, template, at);
  if (!skipSpec) checkPodTemplate(out, template, at, options);
  checkLabels(out, template.metadata?.labels, at.child('labels'));
  checkAnnotations(out, annotations, at.child('annotations'));
  checkPodAnnotations(out, annotations, template.spec, at.child('annotations'), options);
}

function checkUpdateStrategy(out: Findings, strategy: Json, at: Path): void {
  const { type = '', rollingUpdate } = strategy;
  switch (type) {
    case '':
      return out.required(at);
    case 'OnDelete':
      if (rollingUpdate !== undefined) {
        const form = internalForm('apps.RollingUpdateStatefulSetStrategy', rollingUpdate);
        out.invalid(at.child('rollingUpdate'), form, "only allowed for updateStrategy 'RollingUpdate'");
      }
      return;
    case 'RollingUpdate':
      if (rollingUpdate !== undefined) checkRollingUpdate(out, rollingUpdate, at.child('rollingUpdate'));
      return;
    default:
      out.invalid(at, internalForm('apps.StatefulSetUpdateStrategy', strategy), "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function checkRollingUpdate(out: Findings, { partition, maxUnavailable }: Json, at: Path): void {
  checkNonnegative(out, partition, at.child('partition'));
  if (maxUnavailable === undefined) return;
  const unavailableAt = at.child('maxUnavailable');
  checkPositiveIntOrPercent(out, maxUnavailable, unavailableAt);
  if (isZero(maxUnavailable)) out.invalid(unavailableAt, maxUnavailable, 'cannot be 0');
  checkAtMost100Percent(out, maxUnavailable, unavailableAt);
}

function checkRetention(out: Findings, policy: Json, at: Path): void {
  if (policy === undefined) return;
  for (const field of ['whenDeleted', 'whenScaled']) {
    const value: string = policy[field] ?? '';
    if (value !== 'Retain' && value !== 'Delete') out.notSupported(at.child(field), value, ['Retain', 'Delete']);
  }
}
