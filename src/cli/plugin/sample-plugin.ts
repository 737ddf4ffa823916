/** The files of a plugin with one tool. It answers, in fewer words, also when nothing that it could use is there. */
export function sampleFiles({ name, publisher, image }: { name: string; publisher: string; image: string }): Record<string, string> {
  return {
    'plugin.yaml': manifestText(name, publisher, image),
    'schemas/hello.json': `${JSON.stringify(HELLO_SCHEMA, undefined, 2)}\n`,
    'server.mjs': SERVER,
    Dockerfile: DOCKERFILE,
  };
}

function manifestText(name: string, publisher: string, image: string): string {
  return `# \`tenantry plugin lint\` checks this file; \`tenantry plugin lint --schema\` prints its JSON Schema for your editor.
apiVersion: adapstory.com/v1
kind: Plugin
metadata:
  name: ${JSON.stringify(name)}
  version: 0.1.0
  publisher: ${JSON.stringify(publisher)}
  description: Says hello to a learner.
spec:
  runtime:
    image: ${JSON.stringify(`${image}:0.1.0`)}
    resources:
      requests: { cpu: 50m, memory: 64Mi }
      limits: { cpu: 500m, memory: 128Mi }
    # Tools are called on the same port.
    startupProbe: { path: /health, port: 8080 }
  mcpTools:
    - name: hello
      description: Greets a learner by name.
      endpoint: /mcp/hello
      schema: schemas/hello.json
  # What it may reach besides DNS.
  egress:
    to: [gateway]
`;
}

const HELLO_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { type: 'string', maxLength: 100 } },
  required: ['name'],
  additionalProperties: false,
};

/** The number is above 0, so that everybody can tell that it is not root. */
const DOCKERFILE = `FROM node:22-slim
WORKDIR /app
COPY server.mjs ./
USER 10001
EXPOSE 8080
CMD ["node", "server.mjs"]
`;

const SERVER = `import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

// Who this plugin is, short-lived: read it again for every call to the gateway.
const token = () => readFile('/var/run/secrets/tenantry.dev/identity/token', 'utf8').catch(() => undefined);
const log = (level, message, more = {}) => console.log(JSON.stringify({ time: new Date().toISOString(), level, message, ...more }));

const server = createServer(async (request, response) => {
  const answer = (status, value) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (request.url === '/health') return answer(200, { status: 'ok' });
  if (request.method !== 'POST' || request.url !== '/mcp/hello') return answer(404, { error: 'not found' });
  let body = '';
  for await (const chunk of request) {
    body += chunk;
    if (body.length > 10_000) return answer(413, { error: 'too large' });
  }
  let name;
  try {
    ({ name } = JSON.parse(body));
  } catch {
    return answer(400, { error: 'expected JSON' });
  }
  if (typeof name !== 'string' || name.length > 100) return answer(400, { error: 'expected a name' });
  const isKnown = (await token()) !== undefined;
  // Without an identity it cannot ask anybody for more: it still says hello.
  log('info', 'hello', { tenant: request.headers['x-tenant-id'], degraded: !isKnown });
  return answer(200, { text: \`Hello, \${name}!\`, degraded: !isKnown });
});
server.listen(Number(process.env.PORT ?? 8080), () => log('info', 'listening', { port: server.address().port }));
process.on('SIGTERM', () => server.close(() => process.exit(0)));
`;
