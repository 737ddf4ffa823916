import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { TenantConnection } from './tenant-connection.ts';

/** The connections into all clusters that are awake, by the cluster's uid. */
export class TenantConnections {
  readonly #connections = new Map<string, { connection: TenantConnection; to: string }>();
  readonly #onChange: (id: string) => void;
  #stopped = false;

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
    if (this.#stopped) throw new Error('the connections into clusters are closed');
    const connection = new TenantConnection(running, () => this.#onChange(id));
    this.#connections.set(id, { connection, to });
    return connection;
  }

  async close(id: string): Promise<void> {
    const existing = this.#connections.get(id);
    this.#connections.delete(id);
    await existing?.connection.stop();
  }

  /** Also for those who wait for an answer: nothing is opened any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#connections.keys()].map((id) => this.close(id)));
  }
}
