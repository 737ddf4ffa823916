import { status } from '@grpc/grpc-js';

/** As gRPC tells one. */
export type CallError = Error & { code: number; details: string };

export function callError(code: number, details: string): CallError {
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details });
}
