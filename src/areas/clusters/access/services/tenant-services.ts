/** A place on the platform's side that workers of a tenant reach. */
export interface ServiceListener {
  name: string;
  protocol: 'tcp' | 'udp';
  port: number;
}

/** What the platform does for workers, at the machine's address of their tenant's transit pair: names of the world, and images. */
export interface TenantServices {
  /**
   * Serves at these addresses from now on, each for one tenant, and at no others. Can be repeated, and costs nothing when nothing differs.
   * @returns what could not be, by address
   */
  serve(addresses: readonly string[]): Promise<ReadonlyMap<string, string>>;
  readonly listeners: readonly ServiceListener[];
  stop(): Promise<void>;
}
