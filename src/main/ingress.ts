import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { startIngress } from '../areas/clusters/access/ingress/start-ingress.ts';
import { createClient } from '../client/client.ts';
import { connectInCluster } from '../client/config/connect.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, errorText } from '../lib/log.ts';

/** The program of the image `tenantry.dev/ingress`: the ingress controller of the cluster that its Pod is in. */
const { POD_IP = '0.0.0.0', POD_NAMESPACE = 'kube-system', TENANTRY_ROOT = '' } = process.env;
const { values: flags } = parseArgs({
  options: {
    /** Of the Service in its namespace that it is reached through. */
    service: { type: 'string', default: 'tenantry-ingress' },
    http: { type: 'string', default: '8080' },
    https: { type: 'string', default: '8443' },
    health: { type: 'string', default: '8081' },
  },
});
const log = createLog({ level: 'info', format: 'json', write: (line) => process.stderr.write(line) });

try {
  const folder = `${TENANTRY_ROOT}/var/run/secrets/kubernetes.io/serviceaccount`;
  const { transport } = await connectInCluster(process.env, { folder, userAgent: 'tenantry-ingress' });
  const service = { namespace: POD_NAMESPACE, name: flags.service };
  const ingress = await startIngress({ client: createClient(transport), clock: realClock, log, service });
  ingress.proxy.plain.listen(Number(flags.http), POD_IP);
  ingress.proxy.secure.listen(Number(flags.https), POD_IP);
  const health = createServer((_request, response) => void response.writeHead(ingress.isReady() ? 200 : 503).end());
  health.listen(Number(flags.health), POD_IP);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      // What is under way is ended; who waits for it ends it after the grace of the Pod.
      void ingress.stop().then(() => process.exit(0));
    });
  }
  log.info('listening', { http: flags.http, https: flags.https });
} catch (error) {
  process.stderr.write(`ingress: ${errorText(error)}\n`);
  process.exitCode = 1;
}
