import type { Json } from '../../../../kube/object.ts';
import { badRequestError, StatusError, type Status } from '../../../../kube/status.ts';

/** The refusal of a webhook: its own Status, made a failure if it is none, with its name in front of the message. */
export function denial(webhookName: string, result: Json): StatusError {
  const deniedBy = `admission webhook "${webhookName}" denied the request`;
  const status: Status = { kind: 'Status', apiVersion: 'v1', ...result, metadata: result?.metadata ?? {} };
  if (!(status.code >= 400)) status.code = 400;
  if (!status.status || status.status === 'Success') status.status = 'Failure';
  if (status.message) status.message = `${deniedBy}: ${status.message}`;
  else status.message = status.reason ? `${deniedBy}: ${status.reason}` : `${deniedBy} without explanation`;
  return new StatusError(status);
}

export function dryRunUnsupported(webhookName: string): StatusError {
  return badRequestError(`admission webhook "${webhookName}" does not support dry run`);
}
