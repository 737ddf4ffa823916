import { status } from '@grpc/grpc-js';

/** A failure with the code that gRPC clients compare with. */
export function grpcError(code: keyof typeof status, message: string): { code: number; details: string } {
  return { code: status[code], details: message };
}
