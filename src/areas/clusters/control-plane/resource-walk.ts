/** One of the things that a control plane is made of. All verbs can be repeated. */
export interface ControlPlaneResource {
  name: string;
  /** It stays while the cluster sleeps. */
  keptAsleep: boolean;
  ensure(): Promise<void>;
  remove(): Promise<void>;
}

/** Create, repair, upgrade, wake: forward, each once those before it are there. */
export async function ensureAll(resources: readonly ControlPlaneResource[]): Promise<void> {
  for (const resource of resources) await resource.ensure();
}

/** Sleep: backward, down to the first that is kept. */
export async function sleepAll(resources: readonly ControlPlaneResource[]): Promise<void> {
  for (const resource of resources.toReversed()) if (!resource.keptAsleep) await resource.remove();
}

/** Delete: backward, to the end. */
export async function removeAll(resources: readonly ControlPlaneResource[]): Promise<void> {
  for (const resource of resources.toReversed()) await resource.remove();
}
