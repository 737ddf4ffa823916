import { createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { subjectOf, TOKEN_AUDIENCE, TOKEN_ISSUER } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Json } from '../../../kube/object.ts';
import { LIFETIME_S, SKEW_S } from './plugin-token.ts';

/** Who shows a token. */
export interface PluginIdentity {
  /** `plugin:<name>:<tenant>`. */
  subject: string;
  plugin: string;
  publisher: string;
  tenant: string;
  permissions: readonly string[];
  /** Milliseconds since the epoch. */
  expires: number;
}

export type RefusalReason = 'Malformed' | 'UnknownKey' | 'BadSignature' | 'WrongAudience' | 'NotYetValid' | 'Expired' | 'Revoked';

/** Why a token of ours is not believed. */
export class TokenRefused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.name = 'TokenRefused';
    this.reason = reason;
  }
}

export interface VerificationPorts {
  /** The public keys that are good now, by their ids. */
  keys(): ReadonlyMap<string, KeyObject>;
  /** The installation of the plugin in the tenant, as it is now. */
  installation(tenant: string, plugin: string): PluginInstallation | undefined;
  /** By itself, or with its tenant. */
  isSuspended(installation: PluginInstallation): boolean;
  now(): number;
}

/**
 * Whose token this is; undefined when it is none of a plugin. Whoever takes such tokens asks here: signature, audience and time, and then
 * whether its installation is still there, at work, and the one that it was given to.
 * @throws TokenRefused
 */
export function verifyPluginToken(token: string, ports: VerificationPorts): PluginIdentity | undefined {
  const parts = partsOf(token);
  if (parts?.claims.iss !== TOKEN_ISSUER) return undefined;
  checkSignature(parts, ports.keys());
  const { claims } = parts;
  checkTimes(claims, ports.now());
  if (![claims.aud].flat().includes(TOKEN_AUDIENCE)) throw new TokenRefused('WrongAudience', `it is not for ${TOKEN_AUDIENCE}`);
  const { plugin, publisher, tenant } = namesIn(claims);
  const installation = ports.installation(tenant, plugin);
  const isCurrent = installation?.status?.identity !== undefined && installation.status.identity === claims.sid;
  const isAtWork = isCurrent && installation.metadata.deletionTimestamp === undefined && !ports.isSuspended(installation);
  if (!isAtWork || installation.spec.publisher !== publisher) {
    throw new TokenRefused('Revoked', `the installation of ${plugin} that it was given to is gone or suspended`);
  }
  const permissions = (claims.permissions as string[]).filter((each) => typeof each === 'string');
  return { subject: claims.sub, plugin, publisher, tenant, permissions, expires: claims.exp * 1000 };
}

/** The keys of a JWKS document, by their ids; those of another kind are left out. */
export function keysOf(jwks: string): Map<string, KeyObject> {
  const { keys = [] } = JSON.parse(jwks) as { keys?: (JsonWebKey & { kid?: string })[] };
  return new Map(
    keys.flatMap((key) => (key.kid === undefined || key.crv !== 'P-256' ? [] : [[key.kid, createPublicKey({ key, format: 'jwk' })]])),
  );
}

interface Parts {
  header: Json;
  claims: Json;
  signed: string;
  signature: string;
}

function partsOf(token: string): Parts | undefined {
  const [header, claims, signature, ...rest] = token.split('.');
  if (signature === undefined || rest.length > 0) return undefined;
  try {
    return { header: decoded(header), claims: decoded(claims), signed: `${header}.${claims}`, signature };
  } catch {
    return undefined;
  }
}

function decoded(part: string): Json {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
  if (typeof value !== 'object' || value === null) throw new Error('no object');
  return value;
}

/** What a token says about its algorithm is compared, never followed. */
function checkSignature({ header, signed, signature }: Parts, keys: ReadonlyMap<string, KeyObject>): void {
  const key = keys.get(header.kid);
  if (!key) throw new TokenRefused('UnknownKey', 'it was signed with a key that is not, or no longer, published');
  const bytes = Buffer.from(signature, 'base64url');
  const isGood =
    header.alg === 'ES256' && header.crit === undefined && verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, bytes);
  if (!isGood) throw new TokenRefused('BadSignature', 'its signature is not by that key');
}

/** Our clock may be behind that of whoever signed; nobody's clock makes a token live longer. */
function checkTimes({ iat, nbf, exp }: Json, now: number): void {
  const seconds = now / 1000;
  const isWhole = [iat, nbf, exp].every((time) => typeof time === 'number') && exp - iat <= LIFETIME_S;
  if (!isWhole) throw new TokenRefused('Malformed', 'its times are not those of a token of ours');
  if (Math.max(iat, nbf) > seconds + SKEW_S) throw new TokenRefused('NotYetValid', 'it is of a time to come; are the clocks right?');
  if (exp <= seconds) throw new TokenRefused('Expired', 'its time is over');
}

function namesIn({ sub, plugin_id, adapstory_tenant_id, permissions }: Json): { plugin: string; publisher: string; tenant: string } {
  const [, publisher, plugin] = /^([^.]+)\.(.+)$/.exec(String(plugin_id)) ?? [];
  const isWhole = publisher !== undefined && typeof adapstory_tenant_id === 'string' && Array.isArray(permissions);
  if (!isWhole || sub !== subjectOf(plugin, adapstory_tenant_id)) throw new TokenRefused('Malformed', 'its claims do not fit together');
  return { plugin, publisher, tenant: adapstory_tenant_id };
}
