/** Why a container could not be started: the reason and message that it waits with. */
export class StartFailure extends Error {
  readonly reason: string;
  /** When it may be tried again. */
  readonly retryAfterMs: number;
  /** It did exist for a moment, and ended like this. */
  readonly exitCode: number | undefined;

  constructor(reason: string, message: string, options: { retryAfterMs?: number; exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs ?? RETRY_MS;
    this.exitCode = options.exitCode;
  }
}

/** No watch tells when a Secret, a disk or a runtime is right again. */
const RETRY_MS = 10_000;
