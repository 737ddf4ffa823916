import { readFileSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { tokenCredentials } from '../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../src/client/http/http-transport.ts';
import type { Transport } from '../../src/client/transport.ts';
import { startProcessNode, type ProcessNode } from '../integration/node/node-of-processes.ts';
import { streamsSuite } from '../integration/node/streams.suite.ts';
import { connectTarget, type ApiTarget } from '../support/api-target.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

/** Our client, a real kube-apiserver, and our node's server as its kubelet: each end understands what is between them. */
let plane: ControlPlane;
let target: ApiTarget;
let node: ProcessNode;
let transport: Transport;

beforeAll(async () => {
  plane = await startControlPlane({ flags: ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'] });
  const { url, kubeconfig, ca, adminToken: token, certificates } = plane;
  target = connectTarget({ name: 'kubernetes', url, kubeconfig, ca, token, close: () => Promise.resolve() });
  node = await startProcessNode({
    request: target.request,
    ca,
    caKey: readFileSync(certificates.caKey, 'utf8'),
    clientNames: ['kubernetes-admin'],
  });
  transport = createHttpTransport({
    endpoint: { url: new URL(url) },
    ca: () => Promise.resolve(ca),
    credentials: tokenCredentials(token),
  });
});
afterAll(async () => {
  await transport.close();
  await node.close();
  await target.close();
  await plane.stop();
});

streamsSuite(() => ({ request: target.request, transport, node }));
