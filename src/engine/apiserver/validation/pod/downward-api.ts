import { isQualifiedName } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { nanos } from '../quantities.ts';
import type { Path } from '../path.ts';

/** Fields of the Pod and resources of its containers, as environment variables or files. */
const SERVED_FIELDS = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const BYTE_DIVISORS = new Set(['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']);

export const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
export const VOLUME_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

function splitSubscript(fieldPath: string): { field: string; subscript?: string } {
  const open = fieldPath.indexOf("['");
  if (!fieldPath.endsWith("']") || open <= 0 || open + 2 > fieldPath.length - 2) return { field: fieldPath };
  return { field: fieldPath.slice(0, open), subscript: fieldPath.slice(open + 2, -2) };
}

function conversionError(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  const { field, subscript } = splitSubscript(fieldPath);
  if (subscript !== undefined) {
    return field === 'metadata.annotations' || field === 'metadata.labels'
      ? undefined
      : `field label does not support subscript: ${fieldPath}`;
  }
  return SERVED_FIELDS.has(fieldPath) || fieldPath === 'spec.host' ? undefined : `field label not supported: ${fieldPath}`;
}

export function checkFieldRef(out: Findings, ref: Json, supported: readonly string[], at: Path): void {
  const { apiVersion = '', fieldPath = '' } = ref;
  if (apiVersion === '') return out.required(at.child('apiVersion'));
  if (fieldPath === '') return out.required(at.child('fieldPath'));
  const error = conversionError(apiVersion, fieldPath);
  if (error !== undefined) return out.invalid(at.child('fieldPath'), fieldPath, `error converting fieldPath: ${error}`);
  const { field, subscript } = splitSubscript(fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath);
  if (subscript !== undefined) {
    const key = field === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    out.invalidEach(at, key, isQualifiedName(key));
  } else if (!supported.includes(field)) out.notSupported(at.child('fieldPath'), field, supported);
}

export function checkResourceFieldRef(out: Findings, ref: Json, at: Path, inVolume: boolean): void {
  const resource: string = ref.resource ?? '';
  const isHugePages = resource.startsWith('limits.hugepages-') || resource.startsWith('requests.hugepages-');
  if (inVolume && !ref.containerName) out.required(at.child('containerName'));
  else if (resource === '') out.required(at.child('resource'));
  else if (!RESOURCES.includes(resource) && !isHugePages) out.notSupported(at.child('resource'), resource, RESOURCES);
  const divisor: string = ref.divisor ?? '0';
  if (nanos(divisor) !== 0n) checkDivisor(out, resource, divisor, at.child('divisor'));
}

function checkDivisor(out: Findings, resource: string, divisor: string, at: Path): void {
  const kind = resource.slice(resource.indexOf('.') + 1);
  if (kind === 'cpu') {
    if (divisor !== '1m' && divisor !== '1')
      out.invalid(at, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    return;
  }
  const names: Record<string, string> = { memory: 'memory', 'ephemeral-storage': 'local ephemeral storage' };
  const name = kind.startsWith('hugepages-') ? 'hugepages' : names[kind];
  if (name === undefined || BYTE_DIVISORS.has(divisor)) return;
  const list = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';
  out.invalid(at, resource, `only divisor's values ${list} are supported with the ${name} resource`);
}
