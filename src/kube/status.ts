import { fieldErrorText, type FieldError } from './field-error.ts';
import { quote } from './go-text.ts';
import { qualifiedResource, type GroupResource } from './object.ts';

/** The closed set of reasons a refusal can carry, with the HTTP code each stands for. */
export const REASON_CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  ServerTimeout: 500,
  Timeout: 504,
} as const;

export type StatusReason = keyof typeof REASON_CODES;

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The Kubernetes answer to a request that has no object to give back. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** The one error class of the API edge: whatever is refused travels as this and is written to the wire as its Status. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status, options?: { cause?: unknown }) {
    super(status.message ?? status.reason ?? 'unknown', options);
    this.name = 'StatusError';
    this.status = status;
  }

  get code(): number {
    return this.status.code;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }
}

export function failure(
  reason: StatusReason | '',
  message: string,
  details?: StatusDetails,
  code: number = reason === '' ? 500 : REASON_CODES[reason],
): StatusError {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message } as Status;
  if (reason !== '') status.reason = reason;
  if (details) status.details = details;
  status.code = code;
  return new StatusError(status);
}

function detailsOf(resource: GroupResource, name?: string): StatusDetails {
  const details: StatusDetails = {};
  if (name) details.name = name;
  if (resource.group) details.group = resource.group;
  details.kind = resource.resource;
  return details;
}

export function notFoundError(resource: GroupResource, name: string): StatusError {
  return failure('NotFound', `${qualifiedResource(resource)} ${quote(name)} not found`, detailsOf(resource, name));
}

export function alreadyExistsError(resource: GroupResource, name: string): StatusError {
  return failure('AlreadyExists', `${qualifiedResource(resource)} ${quote(name)} already exists`, detailsOf(resource, name));
}

export function conflictError(resource: GroupResource, name: string, detail: string): StatusError {
  return failure(
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${quote(name)}: ${detail}`,
    detailsOf(resource, name),
  );
}

export const OPTIMISTIC_LOCK_MESSAGE = 'the object has been modified; please apply your changes to the latest version and try again';

export function forbiddenError(resource: GroupResource, name: string, detail: string): StatusError {
  if (resource.resource === '' && resource.group === '') return failure('Forbidden', `forbidden: ${detail}`, {});
  const subject = name === '' ? qualifiedResource(resource) : `${qualifiedResource(resource)} ${quote(name)}`;
  return failure('Forbidden', `${subject} is forbidden: ${detail}`, detailsOf(resource, name));
}

/** 422 with every finding as a cause. `kind` is the Kind ("Deployment"), as Kubernetes does here. */
export function invalidError(kind: { group: string; kind: string }, name: string, errors: FieldError[]): StatusError {
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const texts = [...new Set(errors.map(fieldErrorText))];
  const text = texts.length === 0 ? '' : texts.length === 1 ? `: ${texts[0]}` : `: [${texts.join(', ')}]`;
  const details: StatusDetails = {};
  if (name) details.name = name;
  if (kind.group) details.group = kind.group;
  details.kind = kind.kind;
  if (errors.length > 0) details.causes = errors.map((e) => ({ reason: e.type, message: e.message, field: e.field }));
  return failure('Invalid', `${qualified} ${quote(name)} is invalid${text}`, details);
}

export function badRequestError(message: string): StatusError {
  return failure('BadRequest', message);
}

export function methodNotSupportedError(resource: GroupResource, action: string): StatusError {
  return failure(
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${quote(qualifiedResource(resource))}`,
    detailsOf(resource),
  );
}

/** The server made names until it gave up; the client may try again. */
export function generateNameConflictError(resource: GroupResource, name: string, retryAfterSeconds: number): StatusError {
  const message = `${qualifiedResource(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure('AlreadyExists', message, { ...detailsOf(resource, name), retryAfterSeconds });
}

export function tooManyRequestsError(message: string, retryAfterSeconds: number): StatusError {
  return failure('TooManyRequests', message, { retryAfterSeconds });
}

export function requestTooLargeError(message: string): StatusError {
  return failure('RequestEntityTooLarge', `Request entity too large: ${message}`);
}

export function timeoutError(message: string, retryAfterSeconds: number): StatusError {
  return failure('Timeout', `Timeout: ${message}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});
}

export function internalServerError(message: string): StatusError {
  return failure('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

export function isStatusError(error: unknown, reason?: StatusReason): error is StatusError {
  return error instanceof StatusError && (reason === undefined || error.status.reason === reason);
}
