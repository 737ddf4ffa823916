import type { Attempt } from './attempt.ts';

/** A line of PostgreSQL's JSON log. */
export interface DatabaseRefusal {
  user?: string;
  dbname?: string;
  remote_host?: string;
  state_code?: string;
  message?: string;
  timestamp?: string;
}

/** SQLSTATE to the rule that refused. Others are failures of a plugin's own. */
const RULES: Readonly<Record<string, string>> = {
  '42501': 'privilege',
  '28P01': 'password',
  '28000': 'login',
  '3D000': 'database-name',
};

const LOOKED_FOR = Object.keys(RULES).map((code) => `"state_code":"${code}"`);

/** Whether a line of the log is worth being parsed. */
export function isRefusal(line: string): boolean {
  return LOOKED_FOR.some((part) => line.includes(part));
}

export interface Owner {
  tenant: string;
  plugin: string;
}

export interface DatabaseOwners {
  /** Whose role it is. */
  byRole(role: string): Owner | undefined;
  /** Whose Pod has the address. */
  byAddress(address: string): Owner | undefined;
}

/**
 * What a refusal of PostgreSQL tells. With a wrong password the role is whom somebody claims to be: then the Pod counts, and where it is not
 * known the attempt is told to the one who was to be impersonated.
 */
export function databaseAttempt(refusal: DatabaseRefusal, owners: DatabaseOwners): Attempt | undefined {
  const rule = RULES[refusal.state_code ?? ''];
  const { user = '', dbname = '', remote_host: source, message = '', timestamp = '' } = refusal;
  const claimed = owners.byRole(user);
  const caller = source === undefined ? undefined : owners.byAddress(source);
  const isClaim = rule === 'password' || rule === 'login';
  const owner = isClaim ? (caller ?? claimed) : (claimed ?? caller);
  if (rule === undefined || !owner) return undefined;
  const at = Date.parse(timestamp.replace(/ ?(UTC|GMT)$/, 'Z').replace(' ', 'T'));
  const target = isClaim ? `role ${user}` : `${dbname}: ${message}`;
  return { ...owner, kind: 'database', target, rule: `postgres:${rule}`, message, source, at: Number.isNaN(at) ? 0 : at };
}
