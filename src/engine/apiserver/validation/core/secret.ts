import type { KubeObject } from '../../../../kube/object.ts';
import { isConfigMapKey } from '../../../../kube/names.ts';
import { parseStrict } from '../../../../kube/strict-json.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable } from '../formats.ts';
import { path, type Path } from '../path.ts';

const DATA = path('data');
const MAX_BYTES = 1024 * 1024;
const WHEN_IMMUTABLE = 'field is immutable when `immutable` is set';

/** Length of what a base64 text stands for. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

export function validateSecret(out: Findings, secret: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined) {
    checkImmutable(out, secret.type ?? '', old.type ?? '', path('type'));
    checkFrozen(out, secret, old, ['data']);
  }
  let size = 0;
  for (const key in secret.data) {
    out.invalidEach(DATA.key(key), key, isConfigMapKey(key));
    size += decodedLength(secret.data[key]);
  }
  if (size > MAX_BYTES) out.tooLong(DATA, MAX_BYTES);
  checkType(out, secret);
}

/** Also for ConfigMaps: once `immutable`, forever. */
function checkFrozen(out: Findings, object: KubeObject, old: KubeObject, fields: string[]): void {
  if (old.immutable !== true) return;
  if (object.immutable !== true) out.forbidden(path('immutable'), WHEN_IMMUTABLE);
  for (const field of fields) if (!deepEqual(object[field], old[field])) out.forbidden(path(field), WHEN_IMMUTABLE);
}

function checkType(out: Findings, secret: KubeObject): void {
  const data: Record<string, string> = secret.data ?? {};
  const need = (key: string): void => {
    if (data[key] === undefined) out.required(DATA.key(key));
  };
  switch (secret.type) {
    case 'kubernetes.io/service-account-token': {
      const annotation = 'kubernetes.io/service-account.name';
      if (!secret.metadata.annotations?.[annotation]) out.required(path('metadata', 'annotations').key(annotation));
      return;
    }
    case 'kubernetes.io/dockercfg':
      return checkJson(out, data['.dockercfg'], DATA.key('.dockercfg'));
    case 'kubernetes.io/dockerconfigjson':
      return checkJson(out, data['.dockerconfigjson'], DATA.key('.dockerconfigjson'));
    case 'kubernetes.io/basic-auth':
      if (data.username !== undefined || data.password !== undefined) return;
      need('username');
      return need('password');
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) out.required(DATA.key('ssh-privatekey'));
      return;
    case 'kubernetes.io/tls':
      need('tls.crt');
      return need('tls.key');
  }
}

function checkJson(out: Findings, base64: string | undefined, at: Path): void {
  if (base64 === undefined) return out.required(at);
  const error = jsonObjectError(Buffer.from(base64, 'base64').toString('utf8'));
  if (error !== undefined) out.invalid(at, '<secret contents redacted>', error);
}

/** What Go says about a text that should be a JSON object. */
function jsonObjectError(text: string): string | undefined {
  let value: unknown;
  try {
    value = parseStrict(text);
  } catch (error) {
    return (error as Error).message;
  }
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

export function validateConfigMap(out: Findings, map: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined) checkFrozen(out, map, old, ['data', 'binaryData']);
  let size = 0;
  for (const key in map.data) {
    const at = path('data').key(key);
    out.invalidEach(at, key, isConfigMapKey(key));
    if (Object.hasOwn(map.binaryData ?? {}, key)) out.invalid(at, key, 'duplicate of key present in binaryData');
    size += Buffer.byteLength(map.data[key]);
  }
  for (const key in map.binaryData) {
    out.invalidEach(path('binaryData').key(key), key, isConfigMapKey(key));
    size += decodedLength(map.binaryData[key]);
  }
  if (size > MAX_BYTES) out.tooLong(path(''), MAX_BYTES);
}
