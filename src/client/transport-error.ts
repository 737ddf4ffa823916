export type TransportErrorCode =
  /** No connection: refused, unknown host, network down, proxy refused. Nothing was sent. */
  | 'Unreachable'
  /** The server's certificate, or ours, was not accepted. */
  | 'TlsFailed'
  /** The connection broke while a request was under way: whether the server acted on it is unknown. */
  | 'ConnectionLost'
  /** The answer is not what a Kubernetes API gives: not JSON, or cut short. */
  | 'BadResponse'
  /** A credential could not be made: the exec plugin failed, a token file is missing. */
  | 'CredentialsFailed'
  /** The kubeconfig is missing, malformed or refers to something it does not hold. */
  | 'BadConfig'
  | 'Timeout'
  /** The caller's signal fired. */
  | 'Aborted'
  /** The transport was closed. */
  | 'Closed';

/** The one error class of the client's edge for everything that is not an answer of the server (those are StatusError). */
export class TransportError extends Error {
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TransportError';
    this.code = code;
  }
}

export function isTransportError(error: unknown, code?: TransportErrorCode): error is TransportError {
  return error instanceof TransportError && (code === undefined || error.code === code);
}

export function closedError(): TransportError {
  return new TransportError('Closed', 'the transport was closed');
}

export function abortedError(signal: AbortSignal): TransportError {
  const { reason } = signal;
  if (reason instanceof TransportError) return reason;
  if (reason instanceof Error && reason.name === 'TimeoutError') return new TransportError('Timeout', reason.message, { cause: reason });
  return new TransportError('Aborted', 'the request was cancelled', { cause: reason });
}
