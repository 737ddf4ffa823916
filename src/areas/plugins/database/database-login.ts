import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';
import { DATABASE_SECRET } from '../workload/deployment.ts';
import { databaseNames, otherLogin } from './database-names.ts';
import type { DatabaseAccess } from './plugin-databases.ts';

/** On the Secret: since when the plugin has this login and not the other one. */
export const ROTATED_ANNOTATION = 'plugins.tenantry.dev/rotated-at';

/** How long a password is given out. */
export const ROTATE_AFTER_MS = 24 * 3600_000;
/** How long the one before still lets in whoever read it. */
export const OVERLAP_MS = ROTATE_AFTER_MS;

/** The role and the password that a plugin logs in with. */
export interface PluginLogin {
  user: string;
  password: string;
  /** Absent: it is the first. */
  rotatedAt?: string;
}

export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** What the Secret of a namespace says; a first login when there is none, or it is not whole. */
export function loginOf(secret: KubeObject | undefined, { tenant, plugin }: Pick<Target, 'tenant' | 'plugin'>): PluginLogin {
  const read = (name: string): string | undefined => {
    const encoded = secret?.data?.[name] as string | undefined;
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
  };
  const { runtime, second } = databaseNames(tenant, plugin);
  const [user, password] = [read('user'), read('password')];
  const rotatedAt = secret?.metadata.annotations?.[ROTATED_ANNOTATION];
  if (password === undefined || (user !== runtime && user !== second)) return { user: runtime, password: newPassword() };
  return rotatedAt === undefined ? { user, password } : { user, password, rotatedAt };
}

/** The login that follows: with the other role, so that the one before goes on for a while. */
export function nextLogin({ user }: PluginLogin, { tenant, plugin }: Pick<Target, 'tenant' | 'plugin'>, now: number): PluginLogin {
  const names = databaseNames(tenant, plugin);
  return { user: otherLogin(names, user), password: newPassword(), rotatedAt: formatTime(new Date(now)) };
}

/** Until when the login before this one is good. */
export function otherUntil({ rotatedAt }: PluginLogin): string | undefined {
  return rotatedAt === undefined ? undefined : formatTime(new Date(Date.parse(rotatedAt) + OVERLAP_MS));
}

/** In milliseconds from now; 0: it is time. */
export function rotationIn(secret: KubeObject, now: number): number {
  const since = secret.metadata.annotations?.[ROTATED_ANNOTATION] ?? secret.metadata.creationTimestamp ?? '';
  const at = Date.parse(since);
  // A time that cannot be read, or is yet to come, says nothing.
  if (!(at <= now)) return 0;
  return Math.max(0, at + ROTATE_AFTER_MS - now);
}

/** What the plugin finds in its folder. */
export function loginSecret(target: Target, { host, port, database, schema }: DatabaseAccess, login: PluginLogin): KubeObject {
  const { user, password, rotatedAt } = login;
  const at = host.includes(':') ? `[${host}]` : host;
  const uri = `postgresql://${encodeURIComponent(user)}:${password}@${at}:${port}/${encodeURIComponent(database)}`;
  const entries = { host, port: String(port), database, user, schema, password, uri };
  const data = Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));
  const annotations = rotatedAt === undefined ? {} : { annotations: { [ROTATED_ANNOTATION]: rotatedAt } };
  const metadata = { name: DATABASE_SECRET, labels: labelsOf(target, 'database'), ...annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
}
