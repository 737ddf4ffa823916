import type { IncomingMessage } from 'node:http';
import { badRequestError, failure, internalServerError, REASON_CODES, type StatusError, type StatusReason } from '../../../kube/status.ts';

const MAX_TEXT_BYTES = 50_000;

/** What the API server makes of an error of the kubelet's, which comes as plain text. */
export async function nodeRefusal(answer: IncomingMessage, resource: string, name: string): Promise<StatusError> {
  const code = answer.statusCode ?? 0;
  const text = await startOf(answer);
  if (code === 500) return internalServerError(text);
  if (code === 400) return badRequestError(text);
  const known = KNOWN[code];
  const reason = known?.reason ?? (code >= 500 ? 'InternalError' : '');
  const message =
    known?.message ?? (code >= 500 ? `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding` : '');
  const said = code === 403 ? text : message || `the server responded with the status code ${code} but did not return more information`;
  return failure(reason, `${said} ( ${resource} ${name})`, { name, kind: resource }, code);
}

const KNOWN: Record<number, { reason: StatusReason; message: string }> = {
  [REASON_CODES.NotFound]: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  [REASON_CODES.Unauthorized]: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  [REASON_CODES.Forbidden]: { reason: 'Forbidden', message: '' },
  [REASON_CODES.MethodNotAllowed]: {
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
  },
  [REASON_CODES.Conflict]: { reason: 'Conflict', message: 'the server reported a conflict' },
  [REASON_CODES.Invalid]: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  [REASON_CODES.TooManyRequests]: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  [REASON_CODES.ServiceUnavailable]: {
    reason: 'ServiceUnavailable',
    message: 'the server is currently unable to handle the request',
  },
};

async function startOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    parts.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= MAX_TEXT_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, MAX_TEXT_BYTES).toString();
}
