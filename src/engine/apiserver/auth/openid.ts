import type { Json } from '../../../kube/object.ts';
import type { VerificationKey } from './authentication/json-web-token.ts';

export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const JWKS_PATH = '/openid/v1/jwks';
export const JWKS_CONTENT_TYPE = 'application/jwk-set+json';
export const OPENID_CACHE_CONTROL = 'public, max-age=3600';

/** What a relying party needs to know to believe our tokens. */
export function openIdConfiguration(issuer: string, jwksUri: string, keys: readonly VerificationKey[]): Json {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
}

export function jsonWebKeySet(keys: readonly VerificationKey[]): Json {
  return {
    keys: keys.map(({ id, algorithm, key }) => {
      const { kty, ...parameters } = key.export({ format: 'jwk' });
      return { use: 'sig', kty, kid: id, ...orderedFor(parameters), alg: algorithm };
    }),
  };
}

function orderedFor({ crv, x, y, n, e }: Json): Json {
  return crv === undefined ? { n, e } : { crv, x, y };
}
