import { MACHINE_PROVIDERS, type KernelIsolation } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { errorText } from '../../../lib/log.ts';
import type { Machines } from '../machines/machines.ts';
import { strengthOf } from '../policy/model/bounds.ts';

export interface MachineKind {
  name: string;
  isolation: KernelIsolation;
}

/** What a pool asks of its machines. */
export interface MachineWish {
  machine?: string;
  isolation: KernelIsolation;
}

/** Opens the providers of machines; asked once, and not before a worker is wanted. */
export type OpenMachines = () => Promise<readonly Machines[]>;

/** Who makes the workers of all clusters. Whether a kind of machine can be had is found out with the first worker that wants it. */
export class WorkerMachines {
  readonly #kinds: readonly MachineKind[];
  readonly #open: OpenMachines;
  readonly #listeners = new Set<(id: string) => void>();
  #opened: Promise<readonly Machines[]> | undefined;
  /** Why those that were asked cannot. */
  readonly #unable = new Map<string, string>();

  /** @param kinds what may be had, as far as nobody has tried */
  constructor(kinds: readonly MachineKind[], open: OpenMachines) {
    this.#kinds = kinds;
    this.#open = open;
  }

  /** Kinds that can be had, as far as anybody knows: to answer that, nothing is booted. */
  get offered(): readonly MachineKind[] {
    return this.#kinds.filter(({ name }) => !this.#unable.has(name));
  }

  /** The best there is. */
  async choose({ machine, isolation }: MachineWish): Promise<{ machines: Machines } | { problem: string }> {
    const all = await this.all();
    const rank = ({ provider }: Machines) => (MACHINE_PROVIDERS as readonly string[]).indexOf(provider);
    const fitting = all
      .filter((each) => (machine === undefined || each.provider === machine) && strengthOf(each.isolation) >= strengthOf(isolation))
      .toSorted((a, b) => rank(a) - rank(b));
    const reasons: string[] = [];
    for (const machines of fitting) {
      const why = await machines.unable().catch((error: unknown) => errorText(error));
      if (why === undefined) {
        this.#unable.delete(machines.provider);
        return { machines };
      }
      this.#unable.set(machines.provider, why);
      reasons.push(`${machines.provider}: ${why}`);
    }
    const what = machine === undefined ? `machines with kernel isolation ${isolation}` : `machines of the kind ${machine}`;
    return { problem: `there are no ${what} here${reasons.length === 0 ? '' : ` (${reasons.join('; ')})`}` };
  }

  async named(provider: string | undefined): Promise<Machines | undefined> {
    return (await this.all()).find((each) => each.provider === provider);
  }

  all(): Promise<readonly Machines[]> {
    return (this.#opened ??= this.#openAll().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    }));
  }

  /** Tells the id of a machine that ended. */
  onEnd(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Lets go of everything; machines run on. */
  async close(): Promise<void> {
    const opened = (await this.#opened?.catch(() => [])) ?? [];
    await Promise.all(opened.map((machines) => machines.close()));
  }

  async #openAll(): Promise<readonly Machines[]> {
    const all = await this.#open();
    for (const machines of all) {
      machines.onEnd((id) => {
        for (const listener of this.#listeners) listener(id);
      });
    }
    return all;
  }
}
