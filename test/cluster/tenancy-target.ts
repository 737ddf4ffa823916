import { readFileSync } from 'node:fs';
import { kubernetesWebhooks } from '../../src/areas/tenancy/admission/webhooks.ts';
import { ensureReservationObjects } from '../../src/areas/tenancy/quota/reservations.ts';
import { openTenancy, startTenancyAdmission, startTenancyControllers } from '../../src/areas/tenancy/start-tenancy.ts';
import { tenancyRights } from '../../src/areas/tenancy/tenancy-rights.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Namespace, ServiceAccount } from '../../src/client/kinds.ts';
import type { Json } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { MetricsRegistry } from '../../src/lib/metrics.ts';
import { installObjects } from '../../src/main/areas.ts';
import { startWebhookServer } from '../../src/runtime/admission/webhook-server.ts';
import { connectTarget, type ApiTarget } from '../support/api-target.ts';
import { ownCustomResourceDefinitions } from '../support/custom-resource-definitions.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { startControllerManager } from './controller-manager.ts';

const NAMESPACE = 'tenantry-system';

const CONTROLLERS = ['namespace', 'garbage-collector', 'resourcequota', 'serviceaccount'];

/** A real kube-apiserver with our controllers and our admission beside it, as on somebody's cluster; with more of its controllers if named. */
export async function startTenancyTarget(more: string[] = []): Promise<ApiTarget> {
  const plane = await startControlPlane();
  const admin = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
  await admin.resource(Namespace).create({ metadata: { name: NAMESPACE } });
  await installObjects(admin, [...ownCustomResourceDefinitions(), ...tenancyRights()]);
  // After the definitions: it looks for new kinds to count only twice a minute, and counts again only every five minutes.
  const endManager = await startControllerManager(plane, [...CONTROLLERS, ...more]);
  const client = await clientOf(plane, admin, 'tenantry-tenancy');
  await ensureReservationObjects(client);
  const environment = await openTenancy({ client, clock: realClock, log: silentLog, metrics: new MetricsRegistry() });
  const { serverCert, serverKey } = plane.certificates;
  const pair = { cert: readFileSync(serverCert, 'utf8'), key: readFileSync(serverKey, 'utf8') };
  const server = await startWebhookServer({
    handlers: await startTenancyAdmission(environment),
    certificate: async () => pair,
    host: '127.0.0.1',
    port: 0,
    clock: realClock,
    log: silentLog,
  });
  // The API server of the test runs on no cluster network: it reaches the webhooks at their address.
  await installObjects(admin, kubernetesWebhooks({ authority: plane.ca, url: `https://127.0.0.1:${server.port}` }));
  const controllers = startTenancyControllers(environment);
  return connectTarget({
    name: 'kube-apiserver',
    url: plane.url,
    kubeconfig: plane.kubeconfig,
    ca: plane.ca,
    token: plane.adminToken,
    async close() {
      await controllers.stop();
      await environment.stop();
      await server.stop();
      await Promise.all([client.close(), admin.close()]);
      await endManager();
      await plane.stop();
    },
  });
}

/** As a service account, with a token like that of a Pod. */
async function clientOf(plane: ControlPlane, admin: Client, name: string): Promise<Client> {
  const accounts = admin.resource(ServiceAccount, NAMESPACE);
  await accounts.create({ metadata: { name } });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { expirationSeconds: 7200 } };
  const { status } = (await accounts.subresource('token').create(name, request as never)) as Json;
  const context = resolveContext(await loadKubeconfig({ path: plane.kubeconfig }));
  return createClient(await connectContext({ ...context, user: { token: status.token } }));
}
