import type { Json, KubeObject } from '../../../../kube/object.ts';
import { badRequestError } from '../../../../kube/status.ts';
import type { TokenUnion } from '../authentication/token-union.ts';
import { userInfoOf } from './self-review.ts';

export interface TokenReviewContext {
  tokens: Pick<TokenUnion, 'review'>;
  apiAudiences: readonly string[];
}

/** Whose token is this, and is it for any of these audiences? */
export function tokenReview(review: KubeObject, { tokens, apiAudiences }: TokenReviewContext): KubeObject {
  const token: string = review.spec?.token ?? '';
  if (token === '') throw badRequestError('token is required for TokenReview in authentication');
  const wanted: string[] = review.spec.audiences ?? [];
  return { ...review, status: statusOf(token, wanted.length > 0 ? wanted : apiAudiences, tokens) };
}

function statusOf(token: string, audiences: readonly string[], tokens: TokenReviewContext['tokens']): Json {
  try {
    const identity = tokens.review(token, audiences);
    return { authenticated: true, user: userInfoOf(identity.user), audiences: identity.audiences };
  } catch (error) {
    return { user: {}, error: (error as Error).message };
  }
}
