import { decodeJwt, decodeProtectedHeader, SignJWT, type JWTPayload } from 'jose';
import { subjectOf, TOKEN_AUDIENCE, TOKEN_ISSUER } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Target } from '../installation/model/target.ts';
import { ALGORITHM, type SigningKey } from './token-keys.ts';

/** The longest that the platform's contract allows. */
export const LIFETIME_S = 600;
/** Replaced with this much left, so that what a Pod reads is always good for a while. */
const RENEW_BEFORE_S = 300;
/** How far the clocks of those who sign and those who verify may differ. */
export const SKEW_S = 30;

/** What the token of a plugin says, besides when. */
export function claimsOf({ plugin, publisher, tenant, manifest }: Target, session: string): JWTPayload {
  return {
    iss: TOKEN_ISSUER,
    aud: TOKEN_AUDIENCE,
    sub: subjectOf(plugin, tenant),
    plugin_id: `${publisher}.${plugin}`,
    adapstory_tenant_id: tenant,
    // What makes it worth nothing once the installation is another, or was suspended meanwhile.
    sid: session,
    permissions: [...(manifest.spec.permissions ?? [])].sort(),
  };
}

export function signToken(claims: JWTPayload, { id, key }: SigningKey, nowMs: number): Promise<string> {
  const now = Math.floor(nowMs / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid: id, typ: 'JWT' })
    .setIssuedAt(now)
    .setNotBefore(now - SKEW_S)
    .setExpirationTime(now + LIFETIME_S)
    .sign(key);
}

/** How long a token may stay, in milliseconds; 0 when it has to be replaced: it says something else, or its end is near. */
export function remainingMs(token: string, claims: JWTPayload, nowMs: number): number {
  try {
    const { exp = 0, iat = 0, nbf: _, ...said } = decodeJwt(token);
    // Made when the clock was ahead: nobody believes it before that time comes.
    if (iat * 1000 > nowMs + SKEW_S * 1000) return 0;
    if (JSON.stringify(sorted(said)) !== JSON.stringify(sorted(claims))) return 0;
    return Math.max(0, (exp - RENEW_BEFORE_S) * 1000 - nowMs);
  } catch {
    return 0;
  }
}

export function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}

function sorted(claims: object): [string, unknown][] {
  return Object.entries(claims).sort(([a], [b]) => a.localeCompare(b));
}
