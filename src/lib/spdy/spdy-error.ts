export type SpdyErrorCode =
  /** The other side broke the rules: the connection is of no more use. */
  | 'ProtocolError'
  | 'InternalError'
  /** The other side gave a stream up. */
  | 'Reset'
  /** Nothing was heard for too long. */
  | 'Idle'
  | 'Closed';

/** The one error class of SPDY's edge. */
export class SpdyError extends Error {
  readonly code: SpdyErrorCode;

  constructor(code: SpdyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SpdyError';
    this.code = code;
  }
}
