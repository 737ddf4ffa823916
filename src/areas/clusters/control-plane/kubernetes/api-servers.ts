import type { Clock } from '../../../../lib/clock.ts';
import { ApiProbe } from './api-probe.ts';
import type { ProgramPlan } from './model/program-plan.ts';
import { ReplicaBalancer } from './replica-balancer.ts';
import { ReplicaWatch } from './watch-replicas.ts';

export interface ApiServersPorts {
  /** The process of one that hangs. */
  end(replica: number): void;
  /** How many of several are ready. */
  tell(ready: number): void;
  clock: Clock;
}

/** One that does not answer reads the new certificate when it starts; where none does, nobody knows. */
export async function showTheirCertificate(probes: readonly Pick<ApiProbe, 'showsItsCertificate'>[]): Promise<boolean> {
  const shown = await Promise.all(probes.map((probe) => probe.showsItsCertificate()));
  return shown.includes(true) && !shown.includes(false);
}

/** The API server of a control plane, or several that share its endpoint. */
export class ApiServers {
  readonly #probes: ApiProbe[];
  readonly #shared: { balancer: ReplicaBalancer; watch: ReplicaWatch; listen: readonly string[] } | undefined;

  constructor({ server, balancer: shared }: ProgramPlan, { end, tell, clock }: ApiServersPorts) {
    if (shared === undefined) {
      this.#probes = [new ApiProbe(server)];
      return;
    }
    const { port, backends, listen } = shared;
    this.#probes = backends.map((address) => new ApiProbe({ address, port }));
    const balancer = new ReplicaBalancer(port, backends);
    const watch = new ReplicaWatch({
      probes: this.#probes,
      setReady: (replica, ready) => balancer.setReady(replica, ready),
      cut: (replica) => balancer.cut(replica),
      end,
      tell,
      clock,
    });
    this.#shared = { balancer, watch, listen };
  }

  async open(): Promise<void> {
    await this.#shared?.balancer.listen(this.#shared.listen);
  }

  /** From now on they are looked at by themselves. */
  follow(): void {
    this.#shared?.watch.start();
  }

  async isReady(): Promise<boolean> {
    return this.#shared === undefined ? this.#probes[0].isReady() : (await this.#shared.watch.look()) > 0;
  }

  /** Whether all of them show the certificate that is on the disk; of several, those that answer. */
  showTheirCertificate(): Promise<boolean> {
    return showTheirCertificate(this.#probes);
  }

  close(): void {
    this.#shared?.watch.stop();
    this.#shared?.balancer.close();
  }
}
