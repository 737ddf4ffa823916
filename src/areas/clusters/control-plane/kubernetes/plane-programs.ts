import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { ControlEvent } from '../process/control-socket.ts';
import { ApiServers } from './api-servers.ts';
import { dataDisk, setReserve } from './data-disk.ts';
import { EtcdMember } from './etcd-member.ts';
import { quotaArgument } from './model/program-arguments.ts';
import { titleOf, type ProgramPlan, type ProgramSpec } from './model/program-plan.ts';
import { KEYS, storeMembers } from './model/store-members.ts';
import { ProgramKeeper, type KeeperTrouble } from './program-keeper.ts';
import { keepLogsShort, startProgram } from './start-program.ts';
import { StoreRoomKeeper } from './store-room-keeper.ts';

const CERTIFICATE_LOOK_MS = 50;
/** Whoever asked has given up by then, and asks again. */
const CERTIFICATE_LOOKS = 400;

export interface PlaneProgramsOptions {
  plan: ProgramPlan;
  /** How large its store may become. */
  storeBytes: number;
  tell(event: ControlEvent): void;
  clock: Clock;
}

/** All programs of the control plane in this folder: kept running, with one endpoint, and with a store that can be read. */
export class PlanePrograms {
  readonly #options: PlaneProgramsOptions;
  readonly #room: StoreRoomKeeper;
  readonly #apiServers: ApiServers;
  readonly #keeper: ProgramKeeper;
  #tunnelCertificate = '';

  constructor(options: PlaneProgramsOptions) {
    const { plan, storeBytes, tell, clock } = options;
    this.#options = options;
    this.#room = new StoreRoomKeeper({
      members: storeMembers(plan.store.members).map(({ clientSocket }) => new EtcdMember(clientSocket)),
      disk: dataDisk,
      setReserve,
      quotaBytes: storeBytes,
      tell(trouble) {
        tell({ type: 'disk', full: trouble === 'disk' });
        tell({ type: 'store', full: trouble === 'store' });
      },
      clock,
    });
    this.#apiServers = new ApiServers(plan, {
      end: (replica) => this.#keeper.kill('kube-apiserver', replica),
      tell: (ready) => tell({ type: 'replicas', ready }),
      clock,
    });
    this.#keeper = new ProgramKeeper(plan.programs, {
      start: (spec) => startProgram(withRoom(spec, storeBytes), plan.withParent),
      hasSocket: existsSync,
      isReady: () => this.#apiServers.isReady(),
      tell: (trouble) => this.#tell(trouble),
      clock,
    });
  }

  /** Before anything is done with the store. */
  prepare(): Promise<void> {
    return this.#room.makeRoomToStart();
  }

  /** Resolves when requests are answered. @throws KeeperError */
  async start(): Promise<void> {
    this.#tunnelCertificate = await tunnelCertificate();
    try {
      await this.#apiServers.open();
      await this.#keeper.start();
    } catch (error) {
      await this.#keeper.stop();
      throw error;
    }
    this.#apiServers.follow();
    this.#room.start();
    keepLogsShort(this.#options.plan.programs.map(titleOf), this.#options.clock);
  }

  stop(): Promise<void> {
    this.#room.stop();
    this.#apiServers.close();
    return this.#keeper.stop();
  }

  /** New certificates are there. Resolves when they are shown. */
  async replaceCertificates(): Promise<void> {
    const now = await tunnelCertificate();
    if (now !== this.#tunnelCertificate) await this.#keeper.keysChanged();
    this.#tunnelCertificate = now;
    for (let looks = 1; !(await this.#apiServers.showTheirCertificate()); looks++) {
      if (looks === CERTIFICATE_LOOKS) throw new Error('the API server does not show its new certificate');
      await sleep(this.#options.clock, CERTIFICATE_LOOK_MS);
    }
  }

  #tell(trouble: KeeperTrouble | undefined): void {
    if (trouble !== undefined && 'diskFull' in trouble) void this.#room.makeRoomToStart(true);
    else this.#options.tell({ type: 'programs', ...trouble });
  }
}

/** How large a store may become is told to it here, so that another size does not make another plan. */
function withRoom(spec: ProgramSpec, storeBytes: number): ProgramSpec {
  return spec.name === 'etcd' ? { ...spec, args: [...spec.args, quotaArgument(storeBytes)] } : spec;
}

/** Of the one program that does not look for another by itself. */
function tunnelCertificate(): Promise<string> {
  return readFile(`${KEYS}/konnectivity-server.crt`, 'utf8');
}
