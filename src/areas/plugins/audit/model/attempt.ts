import { createHash } from 'node:crypto';
import type { AttemptKind, CrossTenantAttempt } from '../../../../api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { formatTime } from '../../../../kube/time.ts';

/** Something that was tried and refused, as its source saw it. */
export interface Attempt {
  tenant: string;
  plugin: string;
  kind: AttemptKind;
  target: string;
  rule: string;
  message?: string;
  source?: string;
  /** Milliseconds since the epoch. */
  at: number;
  count?: number;
}

/** The same again is one object: this is its name in the tenant. */
export function attemptName({ plugin, kind, target, rule }: Attempt): string {
  const hash = createHash('sha256').update([plugin, kind, target, rule].join('\0')).digest('hex').slice(0, 16);
  return `${plugin.slice(0, 40).replace(/[^a-z0-9]+$/, '')}-${kind}-${hash}`;
}

/** What stands for all that is too much to be told apart. */
export function withoutTarget(attempt: Attempt): Attempt {
  return { ...attempt, target: '*', message: undefined, source: undefined };
}

/** Cut to what the object may hold, whatever a plugin put into a name. */
export function fitting(attempt: Attempt): Attempt {
  const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  return {
    ...attempt,
    target: cut(printable(attempt.target), 512),
    rule: cut(attempt.rule, 128),
    ...(attempt.message === undefined ? {} : { message: cut(printable(attempt.message), 1024) }),
    ...(attempt.source === undefined ? {} : { source: cut(printable(attempt.source), 253) }),
  };
}

/** Terminals show it: no control characters of somebody else's making. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

/** Two reports of the same, in one. */
export function joined(before: Attempt, next: Attempt): Attempt {
  return { ...next, at: Math.max(before.at, next.at), count: (before.count ?? 1) + (next.count ?? 1) };
}

export function specOf(attempt: Attempt, first: number, existing?: CrossTenantAttempt['spec']): CrossTenantAttempt['spec'] {
  const { plugin, kind, target, rule, message, source, at, count = 1 } = attempt;
  return {
    plugin,
    kind,
    target,
    rule,
    count: (existing?.count ?? 0) + count,
    firstSeen: existing?.firstSeen ?? formatTime(new Date(first)),
    lastSeen: formatTime(new Date(at)),
    ...(message === undefined ? {} : { message }),
    ...(source === undefined ? {} : { source }),
  };
}
