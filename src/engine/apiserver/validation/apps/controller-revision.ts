import type { KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative, FIELD_IMMUTABLE } from '../formats.ts';
import { path } from '../path.ts';

export function validateControllerRevision(out: Findings, revision: KubeObject, old: KubeObject | undefined): void {
  checkNonnegative(out, revision.revision, path('revision'));
  const { data } = revision;
  if (old === undefined) {
    if (data === undefined || data === null) out.required(path('data'), 'data is mandatory');
    else if (typeof data !== 'object' || Array.isArray(data)) out.required(path('data'), 'data must be a valid JSON object');
  } else if (!deepEqual(data, old.data)) out.invalid(path('data'), data, FIELD_IMMUTABLE);
}
