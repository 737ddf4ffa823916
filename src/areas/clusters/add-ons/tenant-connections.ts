import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { TenantConnection } from './tenant-connection.ts';

/** The connections into all clusters that are awake, by the cluster's uid. */
export class TenantConnections {
  readonly #connections = new Map<string, { connection: TenantConnection; to: string }>();
  readonly #onChange: (id: string) => void;

  constructor(onChange: (id: string) => void) {
    this.#onChange = onChange;
  }

  async open(id: string, running: RunningControlPlane): Promise<TenantConnection> {
    const to = `${running.endpoint} ${running.authorityPem}`;
    const existing = this.#connections.get(id);
    if (existing?.to === to) {
      existing.connection.update(running);
      return existing.connection;
    }
    await this.close(id);
    const connection = new TenantConnection(running, () => this.#onChange(id));
    this.#connections.set(id, { connection, to });
    return connection;
  }

  async close(id: string): Promise<void> {
    const existing = this.#connections.get(id);
    this.#connections.delete(id);
    await existing?.connection.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((id) => this.close(id)));
  }
}
