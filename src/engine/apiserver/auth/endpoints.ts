import type { KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { trackUpdate } from '../apply/track-update.ts';
import type { RequestHandler } from '../chain/dispatch.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import { negotiateWithoutTables } from '../encoding/accept.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { Resource } from '../registry/resource.ts';
import { decodeBody, readBody } from '../verbs/body.ts';
import { fitNamespace, wipeSystemFields } from '../verbs/system-fields.ts';
import { fieldManagerOf, writeOptions } from '../verbs/write-options.ts';
import type { Identity } from './identity.ts';
import {
  JWKS_CONTENT_TYPE,
  JWKS_PATH,
  jsonWebKeySet,
  OPENID_CACHE_CONTROL,
  OPENID_CONFIGURATION_PATH,
  openIdConfiguration,
} from './openid.ts';
import type { Admission } from '../admission/chain.ts';
import type { RbacAuthorizer } from './rbac/rbac-authorizer.ts';
import type { Authorizer } from './user.ts';
import { invalidReview, localSubjectAccessReview, selfSubjectAccessReview, subjectAccessReview } from './reviews/access-review.ts';
import { selfSubjectReview, selfSubjectRulesReview } from './reviews/self-review.ts';
import { tokenReview } from './reviews/token-review.ts';
import { decodeTokenRequest } from './token-request-body.ts';
import { answerTokenRequest } from './token-request.ts';

export interface EndpointOptions {
  identity: Identity;
  authorizer: Authorizer;
  /** What roles give: the only rights that can be listed. */
  roles: Pick<RbacAuthorizer, 'resolveRules'>;
  /** Asked before a token is given. */
  admission(): Admission;
  reader: ObjectReader;
  now: () => Date;
  /** `https://host:port` that relying parties reach this server at. */
  externalUrl: string;
}

export interface IdentityEndpoints {
  /** Reviews, by `group/resource`. */
  virtual: Map<string, RequestHandler>;
  /** By `group/resource/subresource`. */
  subresources: Map<string, RequestHandler>;
  paths: Map<string, (request: ApiRequest) => ApiResponse>;
}

/** Everything that this folder answers itself, ready for the server's routes. */
export function identityEndpoints(options: EndpointOptions): IdentityEndpoints {
  return {
    virtual: reviewHandlers(options),
    subresources: new Map([['/serviceaccounts/token', tokenRequestHandler(options)]]),
    paths: openIdPaths(options),
  };
}

type Answer = (review: KubeObject, request: ApiRequest) => KubeObject;

function reviewHandlers({ identity, authorizer, roles, now }: EndpointOptions): Map<string, RequestHandler> {
  const { tokens, apiAudiences } = identity;
  const access = (answer: typeof subjectAccessReview): Answer => {
    return (review, { user, info }) => answer(review, { user, namespace: info.namespace, authorizer });
  };
  const answers: [string, Answer][] = [
    ['authentication.k8s.io/tokenreviews', (review) => tokenReview(review, { tokens, apiAudiences })],
    ['authentication.k8s.io/selfsubjectreviews', (review, { user }) => selfSubjectReview(review, { user, now: () => now() })],
    ['authorization.k8s.io/subjectaccessreviews', access(subjectAccessReview)],
    ['authorization.k8s.io/localsubjectaccessreviews', access(localSubjectAccessReview)],
    ['authorization.k8s.io/selfsubjectaccessreviews', access(selfSubjectAccessReview)],
    ['authorization.k8s.io/selfsubjectrulesreviews', (review, { user }) => selfSubjectRulesReview(review, { user, authorizer: roles })],
  ];
  return new Map(answers.map(([key, answer]) => [key, reviewHandler(answer, now)]));
}

/** The way of a create up to the point where it would be stored. */
function reviewHandler(answer: Answer, now: () => Date): RequestHandler {
  return async (request: ApiRequest, resource: Resource) => {
    negotiateWithoutTables(request.headers.accept);
    const options = writeOptions(request, 'CreateOptions');
    const body = await readBody(request);
    const review = await decodeBody(resource, body, options.fieldValidation, (text) => request.warnings.push(text), request.large);
    wipeSystemFields(review.metadata);
    fitNamespace(resource, review, request.info.namespace);
    trackUpdate(undefined, review, { manager: fieldManagerOf(options, request), resource, subresource: '', now });
    const findings = resource.strategy.validateCreate(review, { user: request.user, version: resource.version, subresource: '', now });
    if (findings.length > 0) throw invalidReview(findings);
    return objectResponse(201, answer(review, request));
  };
}

function tokenRequestHandler({ identity, reader, now, admission }: EndpointOptions): RequestHandler {
  const { issuer, apiAudiences } = identity;
  return async (request) => {
    const options = writeOptions(request, 'CreateOptions');
    const { value } = await readBody(request);
    const { namespace, name } = request.info;
    const wanted = decodeTokenRequest(value, options.fieldValidation, (text) => request.warnings.push(text));
    const annotate = (key: string, text: string): void => void (request.auditAnnotations[key] = text);
    const asked = {
      operation: 'CREATE' as const,
      resource: { group: '', version: 'v1', resource: 'serviceaccounts' },
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      subresource: 'token',
      namespace,
      name,
      user: request.user,
      object: wanted,
      options: { ...options },
      dryRun: false,
      warn: (text: string) => void request.warnings.push(text),
      annotate,
      signal: request.signal,
    };
    await admission().mutate(asked);
    await admission().validate(asked);
    const context = { namespace, name, reader, issuer, apiAudiences, now: () => now().getTime(), annotate };
    return objectResponse(201, answerTokenRequest(asked.object, context));
  };
}

function openIdPaths({ identity, externalUrl }: EndpointOptions): IdentityEndpoints['paths'] {
  const document =
    (contentType: string, value: () => unknown) =>
    (request: ApiRequest): ApiResponse => {
      if (!accepts(request.headers.accept, contentType)) {
        throw failure('NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${contentType}`, {});
      }
      const bytes = Buffer.from(JSON.stringify(value()));
      return { status: 200, headers: { 'cache-control': OPENID_CACHE_CONTROL }, body: { kind: 'raw', contentType, bytes } };
    };
  const configuration = () => openIdConfiguration(identity.issuerUrl, `${externalUrl}${JWKS_PATH}`, identity.keys);
  return new Map([
    [OPENID_CONFIGURATION_PATH, document('application/json', configuration)],
    [JWKS_PATH, document(JWKS_CONTENT_TYPE, () => jsonWebKeySet(identity.keys))],
  ]);
}

function accepts(header: string | string[] | undefined, contentType: string): boolean {
  const wanted = [header ?? []].flat().join(',');
  if (wanted === '') return true;
  const types = wanted.split(',').map((clause) => clause.split(';')[0].trim());
  return types.some((type) => type === contentType || type === 'application/*' || type === '*/*');
}
