import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';

/** The program of the image `tenantry.dev/hello`: says which Pod it is, for first steps and for tests of Services. */
const { PORT = '8080', POD_IP, POD_NAME, POD_NAMESPACE } = process.env;
const name = POD_NAME ?? process.env.HOSTNAME ?? hostname();
const namespace = POD_NAMESPACE ?? mountedNamespace() ?? 'unknown';

function mountedNamespace(): string | undefined {
  try {
    return readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/namespace', 'utf8').trim();
  } catch {
    return undefined;
  }
}

const server = createServer((request, response) => {
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  if (request.url === '/healthz') response.end('ok\n');
  else response.end(`Hello from Pod ${name}\nnamespace: ${namespace}\nhostname: ${hostname()}\npath: ${request.url}\n`);
});

// Pods that share the machine's network have an address of their own there, and must leave the others' alone.
server.listen(Number(PORT), POD_IP, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`hello: listening on ${POD_IP ?? '*'}:${port}\n`);
});
server.on('error', (error) => {
  process.stderr.write(`hello: Cannot listen on port "${PORT}": ${error.message}; set PORT to a free one\n`);
  process.exitCode = 1;
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    // Answers what is under way; connections that wait for a next request are closed at once.
    server.close(() => process.exit(0));
    server.closeIdleConnections();
  });
}
