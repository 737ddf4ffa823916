import { answerTokenRequest } from '../engine/apiserver/auth/token-request.ts';
import type { Identity } from '../engine/apiserver/auth/identity.ts';
import {
  JWKS_CONTENT_TYPE,
  JWKS_PATH,
  jsonWebKeySet,
  OPENID_CACHE_CONTROL,
  OPENID_CONFIGURATION_PATH,
  openIdConfiguration,
} from '../engine/apiserver/auth/openid.ts';
import type { Authorizer } from '../engine/apiserver/auth/user.ts';
import type { RequestHandler } from '../engine/apiserver/chain/dispatch.ts';
import { objectResponse, textResponse, type ApiRequest, type ApiResponse } from '../engine/apiserver/chain/request.ts';
import type { ObjectWriter } from '../engine/apiserver/registry/objects.ts';
import { readBody } from '../engine/apiserver/verbs/body.ts';

interface IdentityParts {
  identity: Identity;
  objects: ObjectWriter;
  authorizer: Authorizer;
}

type PathHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** Requests about identity itself: tokens, reviews, and the documents that let others check our tokens. */
export function identityRoutes({ identity, objects }: IdentityParts): {
  virtual: Map<string, RequestHandler>;
  subresources: Map<string, RequestHandler>;
  paths: Map<string, PathHandler>;
} {
  const now = () => Date.now();
  const token: RequestHandler = async (request) => {
    const { value } = await readBody(request);
    const { namespace, name } = request.info;
    const answer = answerTokenRequest(
      { metadata: {}, ...value },
      {
        namespace,
        name,
        reader: objects,
        issuer: identity.issuer,
        apiAudiences: identity.apiAudiences,
        now,
        annotate: (key, text) => {
          request.auditAnnotations[key] = text;
        },
      },
    );
    return objectResponse(201, answer);
  };
  const cached = (response: ApiResponse): ApiResponse => ({ ...response, headers: { 'cache-control': OPENID_CACHE_CONTROL } });
  return {
    virtual: new Map(),
    subresources: new Map([['/serviceaccounts/token', token]]),
    paths: new Map<string, PathHandler>([
      [JWKS_PATH, () => cached(textResponse(200, JSON.stringify(jsonWebKeySet(identity.keys)), JWKS_CONTENT_TYPE))],
      [
        OPENID_CONFIGURATION_PATH,
        () => cached(objectResponse(200, openIdConfiguration(identity.issuerUrl, `${identity.issuerUrl}${JWKS_PATH}`, identity.keys))),
      ],
    ]),
  };
}
