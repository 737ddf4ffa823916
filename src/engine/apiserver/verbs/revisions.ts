import { invalid } from '../../../kube/field-error.ts';
import { badRequestError, failure, invalidError } from '../../../kube/status.ts';
import type { Store } from '../../store/store.ts';

/** The revision a client named, or undefined when it named none. @throws StatusError when it is not a number. */
export function parseRevision(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    throw invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
      invalid('resourceVersion', text, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`),
    ]);
  }
  return Number(text);
}

/** A client that has seen a newer revision than we have talks to the wrong server, or we were restored from a backup. */
export function refuseFutureRevision(store: Store, text: string | null): void {
  const revision = parseRevision(text);
  if (revision === undefined || revision <= store.revision) return;
  throw failure(
    'Timeout',
    `Too large resource version: ${revision}, current: ${store.revision}`,
    { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
    504,
  );
}

export function parseLimit(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^-?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}
