/** A VPN gateway as it should be. */
export interface WantedGateway {
  /** The uid of its VPC. */
  id: string;
  /** Its link in the router, unlike that of any other on this machine. */
  link: string;
  /** Path of the network namespace of its router. */
  namespace: string;
  port: number;
  peers: readonly { publicKey: string; addresses: readonly string[] }[];
}

/** Who runs the VPN gateways of tenants. All verbs can be repeated, and cost next to nothing when there is nothing to do. */
export interface Gateways {
  /** Why there can be none here, in words for the operator; undefined when there can. */
  unable(): Promise<string | undefined>;
  /** Makes it, repairs it, tells it of peers that came and went. @returns what clients have to know */
  ensure(wanted: WantedGateway): Promise<{ publicKey: string }>;
  /** Leaves nothing of it. */
  remove(id: string): Promise<void>;
  /** Tells the id of one that ended, or that no longer is where its router is. */
  onEnd(listener: (id: string) => void): () => void;
  /** Lets go of everything; gateways run on. */
  close(): void;
}
