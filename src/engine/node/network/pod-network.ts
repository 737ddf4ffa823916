import type { Duplex } from 'node:stream';
import type { KubeObject } from '../../../kube/object.ts';
import type { PodReference } from '../pod-reference.ts';

/** The network of the Pods on this node. Two implementations: namespaces of their own (root), or the machine's network for all. */
export interface PodNetwork {
  /** What the Node says about itself; `reason` and `message` explain a false. */
  readonly enforcesPolicies: { status: boolean; reason: string; message: string };
  /** The range Pod addresses come from; absent when Pods share the machine's network. */
  readonly podCidr?: string;
  /** Makes or adopts what all Pods share, and starts to follow Services, EndpointSlices and NetworkPolicies. */
  start(): Promise<void>;
  /** Can be called again: a Pod keeps its address for life. Policies that select the Pod hold before this resolves. */
  attach(pod: KubeObject): Promise<PodAttachment>;
  detach(podUid: string): Promise<void>;
  /** Addresses, links and rules of Pods that are gone, after a crash. */
  cleanUp(livePodUids: ReadonlySet<string>): Promise<void>;
  /** A connection to a port of the Pod as seen from inside it, so that what listens on the Pod's loopback is reached too. */
  dial(pod: PodReference, port: number): Promise<Duplex>;
  /** For /etc/resolv.conf of Pods with dnsPolicy ClusterFirst; absent: there is no cluster DNS here. */
  readonly dns?: { address: string; domain: string };
  /** Where Pods reach the API server when the address of its Service leads nowhere here. */
  readonly apiServer?: { address: string; port: number };
  /** Lets go without touching the running Pods' network. */
  stop(): Promise<void>;
  /** Removes everything: namespaces, links, rules. For a clean end with no Pods left. */
  destroy(): Promise<void>;
}

export interface PodAttachment {
  /** Path that a container can be started in; absent: the machine's network. */
  namespacePath?: string;
  addresses: string[];
}
