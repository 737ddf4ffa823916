import { isTransportError } from '../../../client/transport-error.ts';
import { quote } from '../../../kube/go-text.ts';
import { StatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';

const GENERIC: Record<number, string> = {
  400: 'the server rejected our request for an unknown reason',
  404: 'the server could not find the requested resource',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** What a server in between says when the one that was asked cannot be reached. */
const FROM_PROXY = /^(?:service unavailable|error trying to reach service: .*|404 page not found)$/s;

/**
 * An error of a request in the words of client-go, because they stand in conditions. It repeats what a server says of its own; for an
 * answer without a Status it has sentences that name the request: `(get pods.metrics.k8s.io)`.
 */
export function clientText(error: unknown, request: string): string {
  if (!(error instanceof StatusError)) return isTransportError(error) ? error.message : errorText(error);
  const { code, message } = error;
  const generic = GENERIC[code];
  if (generic !== undefined && (message === generic || FROM_PROXY.test(message))) return `${generic} (${request})`;
  if (code >= 500 && FROM_PROXY.test(message)) {
    return `an error on the server (${quote(message)}) has prevented the request from succeeding (${request})`;
  }
  return message;
}

/** An error's own words, which hold those of its cause already. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
