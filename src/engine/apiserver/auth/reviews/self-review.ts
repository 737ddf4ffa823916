import { formatTime } from '../../../../kube/time.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { badRequestError } from '../../../../kube/status.ts';
import type { RbacAuthorizer } from '../rbac/rbac-authorizer.ts';
import type { PolicyRule, UserInfo } from '../user.ts';

/** Who am I? */
export function selfSubjectReview(review: KubeObject, context: { user: UserInfo; now: () => Date }): KubeObject {
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    metadata: { creationTimestamp: formatTime(context.now()) },
    status: { userInfo: userInfoOf(context.user) },
  };
}

/** What may I do in this namespace? */
export function selfSubjectRulesReview(
  review: KubeObject,
  context: { user: UserInfo; authorizer: Pick<RbacAuthorizer, 'resolveRules'> },
): KubeObject {
  const namespace: string = review.spec?.namespace ?? '';
  if (namespace === '') throw badRequestError('no namespace on request');
  const { rules, errors } = context.authorizer.resolveRules(context.user, namespace);
  const status: Json = {
    resourceRules: rules.filter((rule) => rule.resources?.length).map(resourceRule),
    nonResourceRules: rules
      .filter((rule) => rule.nonResourceURLs?.length)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
  };
  if (errors.length > 0) status.evaluationError = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
  return { apiVersion: review.apiVersion, kind: review.kind, metadata: {}, spec: {}, status };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): Json {
  const rule: Json = { verbs, apiGroups, resources };
  if (resourceNames?.length) rule.resourceNames = resourceNames;
  return rule;
}

/** A user as the authentication API writes it. */
export function userInfoOf({ name, uid, groups, extra }: UserInfo): Json {
  const info: Json = { username: name };
  if (uid) info.uid = uid;
  if (groups.length > 0) info.groups = groups;
  if (extra && Object.keys(extra).length > 0) info.extra = extra;
  return info;
}
