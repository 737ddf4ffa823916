import { NAME_RULES } from '../../../../kube/metadata-validation.ts';
import { isDns1123Label } from '../../../../kube/names.ts';
import { CelOpaque, Fault, NO_SUCH_OVERLOAD, type CelValue } from '../values.ts';
import type { CelFunction, FunctionTable } from './function-table.ts';

/** What an expression asks the authorizer. The subject is the user of the request unless it names a service account. */
export interface AuthorizationQuestion {
  verb: string;
  serviceAccount?: { namespace: string; name: string };
  /** Either a path, or a resource. */
  path?: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  fieldSelector?: string;
  labelSelector?: string;
}

export interface AuthorizationAnswer {
  allowed: boolean;
  reason: string;
  error?: string;
}

/** Answers at once: expressions are not interrupted by questions. */
export type AuthorizerPort = (question: AuthorizationQuestion) => AuthorizationAnswer;

/** An authorizer, or a question to it that is not complete yet. */
export class CelAuthorization extends CelOpaque {
  readonly typeName: string;
  readonly ask: AuthorizerPort;
  readonly question: Omit<AuthorizationQuestion, 'verb'>;

  constructor(
    stage: 'Authorizer' | 'PathCheck' | 'GroupCheck' | 'ResourceCheck',
    ask: AuthorizerPort,
    question: Omit<AuthorizationQuestion, 'verb'>,
  ) {
    super();
    this.typeName = `kubernetes.authorization.${stage}`;
    this.ask = ask;
    this.question = question;
  }

  equals(other: CelOpaque): boolean {
    return this === other;
  }

  is(stage: string): boolean {
    return this.typeName === `kubernetes.authorization.${stage}`;
  }
}

class CelDecision extends CelOpaque {
  readonly typeName = 'kubernetes.authorization.Decision';
  readonly answer: AuthorizationAnswer;

  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }

  equals(other: CelOpaque): boolean {
    return this === other;
  }
}

/** The value of the variable `authorizer`. */
export function authorizerValue(ask: AuthorizerPort): CelAuthorization {
  return new CelAuthorization('Authorizer', ask, {});
}

/** The value of `authorizer.requestResource`. */
export function requestResourceValue(ask: AuthorizerPort, resource: Omit<AuthorizationQuestion, 'verb'>): CelAuthorization {
  return new CelAuthorization('ResourceCheck', ask, resource);
}

function onStage(stage: string, apply: (value: CelAuthorization, text: string) => CelValue): CelFunction {
  return ([value, text]) =>
    value instanceof CelAuthorization && value.is(stage) && typeof text === 'string' ? apply(value, text) : NO_SUCH_OVERLOAD;
}

function refined(field: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector'): CelFunction {
  return onStage('ResourceCheck', ({ ask, question }, text) => new CelAuthorization('ResourceCheck', ask, { ...question, [field]: text }));
}

const serviceAccount: CelFunction = ([value, namespace, name]) => {
  if (!(value instanceof CelAuthorization) || typeof namespace !== 'string' || typeof name !== 'string') return NO_SUCH_OVERLOAD;
  if (NAME_RULES['dns-subdomain'](name, false).length > 0) return new Fault('Invalid service account name');
  if (isDns1123Label(namespace).length > 0) return new Fault('Invalid service account namespace');
  return new CelAuthorization('Authorizer', value.ask, { serviceAccount: { namespace, name } });
};

const check: CelFunction = ([value, verb]) => {
  if (!(value instanceof CelAuthorization) || typeof verb !== 'string') return NO_SUCH_OVERLOAD;
  if (!value.is('PathCheck') && !value.is('ResourceCheck')) return NO_SUCH_OVERLOAD;
  return new CelDecision(value.ask({ ...value.question, verb }));
};

function onDecision(read: (answer: AuthorizationAnswer) => CelValue): CelFunction {
  return ([value]) => (value instanceof CelDecision ? read(value.answer) : NO_SUCH_OVERLOAD);
}

export const AUTHORIZATION: FunctionTable = {
  path: onStage('Authorizer', ({ ask, question }, path) =>
    path.trim() === '' ? new Fault('path must not be empty') : new CelAuthorization('PathCheck', ask, { ...question, path }),
  ),
  group: onStage('Authorizer', ({ ask, question }, group) => new CelAuthorization('GroupCheck', ask, { ...question, group })),
  serviceAccount,
  resource: onStage('GroupCheck', ({ ask, question }, resource) =>
    resource.trim() === ''
      ? new Fault('resource must not be empty')
      : new CelAuthorization('ResourceCheck', ask, { ...question, resource }),
  ),
  subresource: refined('subresource'),
  namespace: refined('namespace'),
  name: refined('name'),
  fieldSelector: refined('fieldSelector'),
  labelSelector: refined('labelSelector'),
  check,
  allowed: onDecision((answer) => answer.allowed),
  reason: onDecision((answer) => answer.reason),
  errored: onDecision((answer) => answer.error !== undefined),
  error: onDecision((answer) => answer.error ?? ''),
};
