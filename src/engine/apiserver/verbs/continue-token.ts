import { badRequestError } from '../../../kube/status.ts';

/** Where a chunked list goes on: behind which key, at which revision (0: whatever is newest, after the first one expired). */
export interface ContinueToken {
  revision: number;
  /** Relative to the listed prefix. */
  after: string;
}

export function encodeContinue(token: ContinueToken): string {
  // Kubernetes names the key to start at; behind a key is the same as at that key plus NUL.
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: `${token.after}\u0000` })).toString('base64url');
}

export function decodeContinue(text: string): ContinueToken {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw badRequestError('continue key is not valid: invalid character in token');
  }
  const { v, rv, start } = (parsed ?? {}) as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== 'meta.k8s.io/v1') throw badRequestError('continue key is not valid: server does not recognize this encoded version');
  if (typeof rv !== 'number' || rv < -1 || !Number.isInteger(rv)) {
    throw badRequestError('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') {
    throw badRequestError('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  }
  return { revision: rv, after: start.endsWith('\u0000') ? start.slice(0, -1) : start };
}
