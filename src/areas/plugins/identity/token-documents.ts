import { TOKEN_DISCOVERY_PATH, TOKEN_ISSUER, TOKEN_JWKS_PATH } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';

export interface TokenDocument {
  contentType: string;
  text: string;
}

const NO_KEYS = JSON.stringify({ keys: [] });

/**
 * What OpenID Connect asks whoever issues tokens, by path. @param jwks the published keys @returns documents, for the host that was asked:
 * where it was asked, there it can be asked again
 */
export function tokenDocuments(jwks: () => string | undefined): Record<string, (host: string) => TokenDocument> {
  return {
    [TOKEN_DISCOVERY_PATH]: (host) => ({
      contentType: 'application/json',
      text: JSON.stringify({
        issuer: TOKEN_ISSUER,
        jwks_uri: `https://${host}${TOKEN_JWKS_PATH}`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      }),
    }),
    [TOKEN_JWKS_PATH]: () => ({ contentType: 'application/jwk-set+json', text: jwks() ?? NO_KEYS }),
  };
}
