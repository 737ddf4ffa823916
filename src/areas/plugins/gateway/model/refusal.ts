/** Why the gateway answers itself. The first three are those of the platform's own gateway. */
export const REFUSALS = {
  PLUGIN_NOT_INSTALLED: 404,
  /** The permission is not, or no longer, there. */
  'ADAP-SEC-0010': 403,
  /** It cannot be found out: nobody gets in. */
  'ADAP-SEC-0011': 503,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CROSS_TENANT: 403,
  BODY_TIMEOUT: 408,
  REQUEST_RATE_EXCEEDED: 429,
  PLUGIN_SUSPENDED: 503,
  PLUGIN_UNAVAILABLE: 503,
  PLUGIN_FAILED: 502,
  PLUGIN_TIMEOUT: 504,
  NOT_FOUND: 404,
} as const;
export type RefusalCode = keyof typeof REFUSALS;

/** A request that the gateway answers itself. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The plugin that went too far. */
  readonly offender: { tenant: string; plugin: string } | undefined;

  constructor(code: RefusalCode, message: string, retryAfterMs?: number, offender?: { tenant: string; plugin: string }) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = REFUSALS[code];
    this.retryAfterMs = retryAfterMs;
    this.offender = offender;
  }
}

export function refusalHeaders({ code, retryAfterMs }: Refusal): Record<string, string> {
  return {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
    ...(code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {}),
  };
}

export function refusalBody({ code, status, message }: Refusal, request: { path: string; requestId: string; now: number }): string {
  const timestamp = new Date(request.now).toISOString();
  return `${JSON.stringify({ timestamp, status, error: code, message, path: request.path, requestId: request.requestId, details: {} })}\n`;
}
