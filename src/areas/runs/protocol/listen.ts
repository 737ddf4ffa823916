import { ServerCredentials, type Server } from '@grpc/grpc-js';

/** @returns the port, where the address left it open */
export function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => (error === null ? resolve(port) : reject(error))),
  );
}
