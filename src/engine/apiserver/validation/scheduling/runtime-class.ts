import { isDns1123Label } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabels } from '../labels.ts';
import { path } from '../path.ts';
import { podOptions } from '../pod/options.ts';
import { checkResourceRequirements } from '../pod/resources.ts';
import { checkTolerations } from '../pod/tolerations.ts';

const TOLERATIONS = path('scheduling', 'tolerations');

export function validateRuntimeClass(out: Findings, runtimeClass: KubeObject, old: KubeObject | undefined): void {
  const { handler = '', overhead, scheduling } = runtimeClass;
  out.invalidEach(path('handler'), handler, isDns1123Label(handler));
  if (overhead !== undefined) {
    checkResourceRequirements(out, { limits: overhead.podFixed }, path('overhead'), { allowIndivisibleHugePages: false });
  }
  if (scheduling !== undefined) {
    checkLabels(out, scheduling.nodeSelector, path('scheduling', 'nodeSelector'));
    checkUniqueTolerations(out, scheduling.tolerations ?? []);
  }
  if (old !== undefined) checkImmutable(out, handler, old.handler ?? '', path('handler'));
}

function checkUniqueTolerations(out: Findings, tolerations: Json[]): void {
  checkTolerations(out, tolerations, TOLERATIONS, podOptions(false));
  const seen = new Set<string>();
  tolerations.forEach((toleration, i) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) out.duplicate(TOLERATIONS.index(i), internalForm('Toleration', toleration));
    seen.add(identity);
  });
}
