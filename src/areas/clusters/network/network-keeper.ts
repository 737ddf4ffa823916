import type { Clock, Timer } from '../../../lib/clock.ts';
import { repeatedly } from '../../../lib/repeatedly.ts';
import type { Log } from '../../../lib/log.ts';
import type { NetworkPlan, Vpc } from './model/vpc.ts';
import { planProblems, vpcProblems } from './model/vpc-problems.ts';
import type { Networks, VpcOutcome } from './networks.ts';

/** Nobody tells when a rule, a link or a namespace is taken away by hand: one has to look. */
const LOOK_MS = 5000;

export interface NetworkKeeperOptions {
  networks: Networks;
  clock: Clock;
  log: Log;
}

/** Keeps the networks of tenants as they are wanted: one change at a time, and what is found broken, or could not be made, is made again. */
export class NetworkKeeper {
  readonly #options: NetworkKeeperOptions;
  #plan: NetworkPlan | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #timer: Timer | undefined;
  #failed = false;
  /** What was made of each VPC last: one that cannot become what is wanted now stays what it was. */
  #accepted = new Map<string, Vpc>();

  constructor(options: NetworkKeeperOptions) {
    this.#options = options;
  }

  /** All VPCs that there should be from now on. Says what became of each; one that cannot be is refused, and the others are made. */
  want(plan: NetworkPlan): Promise<VpcOutcome[]> {
    this.#plan = plan;
    this.#timer ??= repeatedly(this.#options.clock, LOOK_MS, () => this.#lookInTurn());
    return this.#inTurn(() => this.#ensure());
  }

  /** Leaves the networks as they are. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#turn;
  }

  /** The plan of now, which may be newer than the one that asked. */
  async #ensure(): Promise<VpcOutcome[]> {
    const { vpcs, platform } = this.#plan!;
    const { networks } = this.#options;
    if (vpcs.length === 0) {
      await networks.remove();
      this.#accepted.clear();
      this.#failed = false;
      return [];
    }
    const clashes = planProblems({ vpcs, platform });
    if (clashes.length > 0) throw new Error(clashes[0]);
    const refused = new Map(
      vpcs.flatMap((vpc) => {
        const [problem] = [...vpcProblems(vpc, platform), networks.unable(vpc)].filter((text) => text !== undefined);
        return problem === undefined ? [] : [[vpc.name, new Error(problem)] as const];
      }),
    );
    const possible = vpcs.flatMap((vpc) => (refused.has(vpc.name) ? (this.#accepted.get(vpc.name) ?? []) : vpc));
    this.#accepted = new Map(possible.map((vpc) => [vpc.name, vpc]));
    const made = await networks.ensure({ platform, vpcs: possible });
    this.#failed = made.some(({ error }) => error);
    const byName = new Map(made.map((outcome) => [outcome.name, outcome]));
    return vpcs.map(({ name }) => (refused.has(name) ? { name, error: refused.get(name) } : byName.get(name)!));
  }

  async #lookInTurn(): Promise<void> {
    try {
      await this.#inTurn(() => this.#look());
    } catch (error) {
      this.#options.log.warn('the networks of tenants cannot be looked at', { error: String(error) });
    }
  }

  async #look(): Promise<void> {
    if (this.#plan!.vpcs.length === 0) return;
    const broken = (await this.#options.networks.observe()).filter(({ intact }) => !intact).map(({ name }) => name);
    if (broken.length > 0) this.#options.log.warn('networks of tenants were broken, and are made again', { vpcs: broken.slice(0, 20) });
    if (broken.length > 0 || this.#failed) await this.#ensure();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}
