import type { KubeObject } from '../../../kube/object.ts';
import { EventRecorder } from '../../../runtime/event-recorder.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { AddressPool } from './addresses/address-pool.ts';
import { clusterRecords } from './dns/cluster-records.ts';
import { DnsServer } from './dns/dns-server.ts';
import { Upstream } from './dns/upstream.ts';
import type { CommandShell } from './kernel/command-shell.ts';
import { namespacePath } from './kernel/namespaces.ts';
import { routerName } from './links/router.ts';
import { DEFAULT_DOMAIN, DEFAULT_NODE_PORT_ADDRESS, type NetworkOptions } from './network-options.ts';
import type { NetworkPlan } from './network-plan.ts';
import { DenialReporter } from './policies/denials.ts';
import type { PolicyEnforcer } from './policies/enforce-policies.ts';
import type { Direction } from './policies/model/compiled-policy.ts';
import type { PolicyPod } from './policies/model/policy-pod.ts';
import type { NftTable } from './ruleset/nft-table.ts';
import { OWN_SERVICES } from './ruleset/router-table.ts';
import { ApiForwarder } from './services/api-forwarder.ts';
import { followServices, serviceInformers, type ServiceInformers } from './services/follow-services.ts';
import { ForgottenFlows } from './services/forgotten-flows.ts';
import { hostPorts } from './services/model/host-ports.ts';
import { ServiceRules } from './services/model/service-rules.ts';
import { NodePortProxy } from './services/node-port-proxy.ts';

export interface ClusterServicesOptions {
  options: NetworkOptions;
  plan: NetworkPlan;
  informers: SharedInformers;
  table: NftTable;
  enforcer: PolicyEnforcer;
  flush: () => Promise<void>;
  pool: AddressPool;
  /** In the router. */
  shell: CommandShell;
}

const DNS_PORT = 53;
const API_PORT = 443;

/** DNS is no Pod here. Policies that let Pods ask it name the Pods that it is elsewhere. */
export function dnsStandIn(address: string): PolicyPod {
  return {
    uid: 'dns',
    namespace: 'kube-system',
    name: 'dns',
    labels: { 'k8s-app': 'kube-dns' },
    addresses: [address],
    ports: [
      { name: 'dns', protocol: 'udp', number: DNS_PORT },
      { name: 'dns-tcp', protocol: 'tcp', number: DNS_PORT },
    ],
    subject: false,
  };
}

/** What Pods find in the cluster besides each other: Services, the API server, DNS; and what is told about them. */
export class ClusterServices {
  #given: ClusterServicesOptions;
  #informers: ServiceInformers;
  #rules: ServiceRules;
  #proxy: NodePortProxy;
  #flows: ForgottenFlows;
  #dns: DnsServer;
  #api: ApiForwarder;
  #denials: DenialReporter;
  #events: EventRecorder;
  #unfollow: (() => void) | undefined;

  constructor(given: ClusterServicesOptions) {
    this.#given = given;
    const { options, plan, table } = given;
    const { client, clock, log } = options;
    for (const key of [`${plan.dns} . udp . ${DNS_PORT}`, `${plan.dns} . tcp . ${DNS_PORT}`, `${plan.api} . tcp . ${API_PORT}`]) {
      table.addElement(OWN_SERVICES, key);
    }
    this.#informers = serviceInformers(given.informers);
    this.#rules = new ServiceRules(table, new Set([plan.dns, plan.api]));
    const place = {
      machine: plan.router.machine,
      address: options.nodePortAddress ?? DEFAULT_NODE_PORT_ADDRESS,
      source: plan.router.proxy,
    };
    this.#proxy = new NodePortProxy({ place, clock, log });
    this.#flows = new ForgottenFlows(namespacePath(routerName(plan.router.id)), log);
    const upstream = new Upstream({ clock, resolvConf: options.resolvConf });
    this.#dns = new DnsServer(
      {
        domain: options.domain ?? DEFAULT_DOMAIN,
        records: clusterRecords(this.#informers, (namespace, address) => this.#holder(address)?.namespace === namespace),
        upstream: (query, transport) => upstream.ask(query, transport),
        now: () => clock.now(),
      },
      log,
    );
    this.#api = new ApiForwarder(options.apiServer, log);
    this.#events = new EventRecorder({ client, log, controller: 'tenantry.dev/network', instance: options.nodeName ?? 'node' });
    this.#denials = this.#denialReporter();
  }

  /** Resolves when all Services are in the table. */
  async follow(): Promise<void> {
    const { options, flush } = this.#given;
    let synced = false;
    this.#unfollow = followServices(this.#informers, options.nodeName, (key, ports) => {
      this.#proxy.set(key, ports);
      if (!this.#rules.set(key, ports)) return;
      // Before everything is known, the table is not written: whoever waits for this writes it as a whole.
      (synced ? flush() : Promise.resolve())
        .then(() => this.#flows.set(key, ports))
        .catch((error: unknown) => options.log.error('cannot bring Services into the kernel', { error }));
    });
    await Promise.all([this.#informers.services.whenSynced(), this.#informers.slices.whenSynced()]);
    synced = true;
  }

  async listen(): Promise<void> {
    const { options, plan } = this.#given;
    const router = namespacePath(routerName(plan.router.id));
    await Promise.all([
      this.#dns.start(router, { address: plan.dns, port: DNS_PORT }),
      this.#api.start(router, { address: plan.api, port: API_PORT }, options.handToApiServer),
    ]);
    if (options.reportDenials ?? true) this.#denials.start();
  }

  async stop(): Promise<void> {
    this.#unfollow?.();
    this.#denials.stop();
    this.#proxy.stop();
    this.#dns.stop();
    this.#api.stop();
    await this.#events.flush();
  }

  openHostPorts(pod: KubeObject, address: string): void {
    this.#proxy.set(`pod ${pod.metadata.uid}`, hostPorts(pod, address));
  }

  closeHostPorts(uid: string): void {
    this.#proxy.set(`pod ${uid}`, []);
  }

  #denialReporter(): DenialReporter {
    const { options, enforcer } = this.#given;
    return new DenialReporter({
      clock: options.clock,
      log: options.log,
      metrics: options.metrics,
      list: (what) => this.#given.shell.run(`nft -j list ${what}`, ''),
      active: () => enforcer.model.policyCount > 0,
      podAt: (address, direction) => this.#subject(address, direction),
      record: (pod, message) => this.#events.record(pod, { type: 'Warning', reason: 'NetworkPolicyDenied', message }),
    });
  }

  #subject(address: string, direction: Direction) {
    const known = this.#holder(address);
    const pod = known && this.#given.enforcer.podObject(known.uid);
    if (!pod) return undefined;
    return { pod, policies: this.#given.enforcer.model.policiesOf(known, direction).map(({ key }) => key.slice(key.indexOf('/') + 1)) };
  }

  #holder(address: string): PolicyPod | undefined {
    const uid = this.#given.pool.holder(address);
    return uid === undefined ? undefined : this.#given.enforcer.model.pod(uid);
  }
}
