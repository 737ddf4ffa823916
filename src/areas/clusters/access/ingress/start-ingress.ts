import { createSecureContext, type SecureContext } from 'node:tls';
import type { Client } from '../../../../client/client.ts';
import { EndpointSlice, Ingress, IngressClass, Secret, Service } from '../../../../client/kinds.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import { errorText, type Log } from '../../../../lib/log.ts';
import { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { IngressProxy } from './ingress-proxy.ts';
import { endpointsOf } from './model/endpoints.ts';
import { found, INGRESS_CONTROLLER, ownIngresses, routingOf, type IngressObject, type Routing } from './model/routes.ts';

const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class';
const SERVICE_NAME = 'kubernetes.io/service-name';
const BY_SERVICE = 'service';
/** It may read Secrets that it knows the name of, and not watch them all: so it looks again. */
const LOOK_MS = 20_000;
/** Changes that come together are taken up together. */
const SETTLE_MS = 20;

export interface IngressStart {
  client: Client;
  clock: Clock;
  log: Log;
  /** The Service that it is reached through: its address is told in the status of Ingresses. */
  service: { namespace: string; name: string };
}

export interface RunningIngress {
  proxy: IngressProxy;
  isReady(): boolean;
  stop(): Promise<void>;
}

/** The ingress controller: what Ingresses say, and the proxy that does it. */
export async function startIngress({ client, clock, log, service }: IngressStart): Promise<RunningIngress> {
  const informers = new SharedInformers({ client, log });
  const ingresses = informers.get(Ingress);
  const classes = informers.get(IngressClass);
  const services = informers.get(Service);
  const slices = informers.get(EndpointSlice);
  slices.addIndex(BY_SERVICE, ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`]);
  let routing: Routing = { hosts: new Map(), fallback: undefined, certificates: new Map() };
  const contexts = new Map<string, { version: string; context: SecureContext }>();
  let timer: Timer | undefined;
  let stopped = false;

  const own = (): IngressObject[] => {
    const ours = [...classes.list()].filter(({ spec }) => spec?.controller === INGRESS_CONTROLLER);
    const isDefault = ours.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true');
    return ownIngresses(ingresses.list(), new Set(ours.map(({ metadata }) => metadata.name!)), isDefault);
  };

  const readCertificate = async (namespace: string, secret: string): Promise<void> => {
    const id = `${namespace}/${secret}`;
    try {
      const { metadata, data } = await client.resource(Secret, namespace).get(secret);
      if (contexts.get(id)?.version === metadata.resourceVersion) return;
      const pem = (key: string): Buffer => Buffer.from(data?.[key] ?? '', 'base64');
      contexts.set(id, { version: metadata.resourceVersion!, context: createSecureContext({ cert: pem('tls.crt'), key: pem('tls.key') }) });
    } catch (error) {
      if (isStatusError(error, 'NotFound')) contexts.delete(id);
      // One that was good stays in use: a renewal may be half done.
      log.warn('a certificate cannot be used', { secret: id, error: errorText(error) });
    }
  };

  const tellAddress = async (all: readonly IngressObject[]): Promise<void> => {
    const told = services.get(`${service.namespace}/${service.name}`)?.status?.loadBalancer?.ingress ?? [];
    const addresses = told.map(({ ip, hostname }) => (ip === undefined ? { hostname } : { ip }));
    for (const { metadata, status } of all) {
      if (deepEqual(status?.loadBalancer?.ingress ?? [], addresses)) continue;
      const patch = { status: { loadBalancer: { ingress: addresses } } };
      await client.resource(Ingress, metadata.namespace).status.patch(metadata.name!, { type: 'merge', patch });
    }
  };

  const refresh = async (): Promise<void> => {
    timer?.cancel();
    const all = own();
    routing = routingOf(all);
    const wanted = new Map([...routing.certificates.values()].map((one) => [`${one.namespace}/${one.secret}`, one]));
    for (const id of contexts.keys()) if (!wanted.has(id)) contexts.delete(id);
    await Promise.all([...wanted.values()].map(({ namespace, secret }) => readCertificate(namespace, secret)));
    await tellAddress(all).catch((error: unknown) => log.warn('the address of Ingresses cannot be told', { error: errorText(error) }));
    if (!stopped) later(LOOK_MS);
  };
  let turn: Promise<void> = Promise.resolve();
  const later = (ms: number): void => {
    timer?.cancel();
    if (stopped) return;
    timer = clock.setTimer(ms, () => {
      turn = turn.then(refresh);
    });
  };

  await informers.whenSynced();
  await refresh();
  for (const informer of [ingresses, classes]) informer.onChange(() => later(SETTLE_MS));
  services.onChange(({ object: { metadata } }) => {
    if (metadata.namespace === service.namespace && metadata.name === service.name) later(SETTLE_MS);
  });
  const proxy = new IngressProxy({
    routing: () => routing,
    endpoints: (target) => {
      const id = `${target.namespace}/${target.service}`;
      return endpointsOf(target, services.get(id), slices.byIndex(BY_SERVICE, id));
    },
    certificateFor: (name) => {
      const certificate = found(routing.certificates, name);
      return certificate && contexts.get(`${certificate.namespace}/${certificate.secret}`)?.context;
    },
  });
  return {
    proxy,
    isReady: () => !stopped,
    async stop() {
      stopped = true;
      timer?.cancel();
      await proxy.close();
      await turn;
      await informers.stop();
      await client.close();
    },
  };
}
