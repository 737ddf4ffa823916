import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError } from '../../../kube/status.ts';
import { objectDecoder } from '../builtin/decode/decode.ts';

const { decode } = objectDecoder('io.k8s.api.authentication.v1.TokenRequest', 'TokenRequest');

/** The body of serviceaccounts/token: the one kind that no resource of its own is served for. @throws StatusError BadRequest */
export function decodeTokenRequest(value: Json, fieldValidation: string | undefined, warn: (text: string) => void): KubeObject {
  const unknown: string[] = [];
  const collect = fieldValidation === 'Ignore' ? undefined : (path: string) => unknown.push(`unknown field "${path}"`);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const request = decode(
    { metadata: {}, ...(isObject ? value : {}), apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
    'v1',
    collect,
  );
  if (unknown.length > 0 && fieldValidation === 'Strict') {
    const detail = `strict decoding error: ${unknown.join(', ')}`;
    throw badRequestError(`TokenRequest in version "v1" cannot be handled as a TokenRequest: ${detail}`);
  }
  for (const text of unknown) warn(text);
  return request;
}
