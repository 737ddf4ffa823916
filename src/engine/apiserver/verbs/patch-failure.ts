import { invalid } from '../../../kube/field-error.ts';
import type { Json } from '../../../kube/object.ts';
import { invalidError, isStatusError } from '../../../kube/status.ts';

const REFUSED_BODY = /^\S+ in version "[^"]*" cannot be handled as a \S+: (.*)$/s;
const WRONG_TYPE = /^json: cannot unmarshal (\S+).* of type (\S+)$/;

/**
 * What does not decode is a bad request when the client wrote it whole, but an invalid patch when it came out of a patch: `kubectl edit`
 * opens the editor again for the one and gives up on the other.
 */
export function patchFailure(error: unknown, patched: Json, strategicPatch: Json): unknown {
  if (!isStatusError(error, 'BadRequest')) return error;
  const finding = REFUSED_BODY.exec(error.message)?.[1];
  if (finding === undefined) return error;
  const field =
    strategicPatch === undefined
      ? invalid('patch', JSON.stringify(patched), finding)
      : invalid('patch', goText(strategicPatch), conversionFinding(finding));
  return invalidError({ group: '', kind: '' }, '', [field]);
}

/** Strategic patches are converted, not decoded, and that code has words of its own for a wrong type. */
function conversionFinding(finding: string): string {
  const found = WRONG_TYPE.exec(finding);
  if (found === null) return finding;
  const [, given, wanted] = found;
  if (wanted.startsWith('[]')) return `cannot restore slice from ${goKind(given)}`;
  if (wanted.startsWith('map[')) return `cannot restore map from ${goKind(given)}`;
  return /^[a-z]/.test(wanted) && !wanted.includes('.') ? `unrecognized type: ${wanted}` : `cannot restore struct from: ${goKind(given)}`;
}

function goKind(jsonType: string): string {
  return { array: 'slice', object: 'map', number: 'int64' }[jsonType] ?? jsonType;
}

/** A value as Go's `%+v` prints it. */
function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
}
