import { createHash } from 'node:crypto';

export interface Migration {
  name: string;
  sql: string;
  /** Takes away what versions before it may use. */
  isContract?: boolean;
}

/** A migration that the database has. */
export interface Applied {
  name: string;
  digest: string;
  isContract: boolean;
}

/** What the server was told last about a plugin, and what it has. */
export interface Settled {
  /** Of login, limits and addresses. */
  state: string;
  applied: readonly Applied[];
}

export function digestOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** Whether everything is as this state says, all of these migrations are applied, and none that took away what they have not heard of. */
export function covers(settled: Settled | undefined, state: string, migrations: readonly Migration[]): boolean {
  if (settled?.state !== state) return false;
  const digests = new Map(settled.applied.map(({ name, digest }) => [name, digest]));
  const known = new Set(migrations.map(({ name }) => name));
  const isApplied = migrations.every(({ name, sql }) => digests.get(name) === digestOf(sql));
  return isApplied && settled.applied.every(({ name, isContract }) => !isContract || known.has(name));
}

/** As `settle` wrote it; what anybody else wrote says nothing. */
export function readSettled(text: unknown): Settled[] {
  try {
    const found = JSON.parse(String(text)) as Partial<Settled> | null;
    return typeof found?.state === 'string' && Array.isArray(found.applied) ? [found as Settled] : [];
  } catch {
    return [];
  }
}
