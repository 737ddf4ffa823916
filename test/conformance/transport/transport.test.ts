import { createInMemoryTransport } from '../../../src/client/in-memory/in-memory-transport.ts';
import { noCredentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import { makeTestPki } from './certificates.ts';
import { startHttpsServer } from './https-server.ts';
import { transportSuite } from './transport.suite.ts';

transportSuite('in-memory', (api) => Promise.resolve({ transport: createInMemoryTransport(api.handler), stop: () => Promise.resolve() }));

for (const http2 of [true, false]) {
  transportSuite(http2 ? 'http/2' : 'http/1.1', async (api) => {
    const pki = await makeTestPki();
    const server = await startHttpsServer(api.handler, pki, { http2 });
    const transport = createHttpTransport({
      endpoint: { url: server.url },
      ca: () => Promise.resolve(pki.caPem),
      credentials: noCredentials,
    });
    return {
      transport,
      async stop() {
        await transport.close();
        await server.stop();
      },
    };
  });
}
