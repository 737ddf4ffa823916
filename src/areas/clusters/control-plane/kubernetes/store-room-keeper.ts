import type { Clock, Timer } from '../../../../lib/clock.ts';
import { repeatedly } from '../../../../lib/repeatedly.ts';
import { withAny, type EtcdMember } from './etcd-member.ts';
import { diskRoom, isWorthIt, storeStep, type DiskView } from './model/store-room.ts';

/** Why a store takes nothing but deletions. */
export type StoreTrouble = 'disk' | 'store';

export interface StoreRoomPorts {
  members: readonly Pick<EtcdMember, 'status' | 'alarms' | 'setAlarm' | 'compact' | 'defragment'>[];
  disk(): DiskView;
  /** Gives it away, or takes it again. */
  setReserve(there: boolean): Promise<void>;
  /** What the store is allowed to have. */
  quotaBytes: number;
  tell(trouble: StoreTrouble | undefined): void;
  clock: Clock;
}

/** No program tells that a disk is about to be full; by the time one is, it ends. */
const LOOK_EVERY_MS = 1000;
/** Nor does etcd tell that it has closed itself. */
const ASK_EVERY_LOOKS = 10;
const ASK_EVERY_LOOKS_IN_TROUBLE = 3;

/**
 * Keeps a store readable that has no room: before its disk is full it is closed for all that needs room, and when there is room again, or
 * enough was deleted, it is opened by itself.
 */
export class StoreRoomKeeper {
  readonly #ports: StoreRoomPorts;
  #trouble: StoreTrouble | undefined;
  /** Closed by us, as far as we know. */
  #closed = false;
  #compacted: string | undefined;
  #looks = 0;
  #timer: Timer | undefined;

  constructor(ports: StoreRoomPorts) {
    this.#ports = ports;
  }

  /** A look that fails is one at an etcd that does not answer just now; whoever starts it tells that. */
  start(): void {
    this.#timer = repeatedly(this.#ports.clock, LOOK_EVERY_MS, () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Before any program runs, and when one ended because it could not write. */
  async makeRoomToStart(isFull = false): Promise<void> {
    const room = diskRoom(this.#ports.disk());
    if (isFull || room === 'low') {
      await this.#ports.setReserve(false);
      this.#closed = false;
      this.#set('disk');
    }
  }

  async look(): Promise<void> {
    const room = diskRoom(this.#ports.disk());
    if (room === 'low' && this.#trouble !== 'disk') await this.makeRoomToStart();
    if (this.#trouble === 'disk' && room !== 'enough') return this.#close();
    if (room === 'enough') await this.#ports.setReserve(true);
    const every = this.#trouble === undefined ? ASK_EVERY_LOOKS : ASK_EVERY_LOOKS_IN_TROUBLE;
    // With room again it is opened at once.
    if (this.#trouble !== 'disk' && this.#looks++ % every !== 0) return;
    const alarms = await this.#any((member) => member.alarms());
    if (alarms.length === 0) this.#set(undefined);
    else await this.#open(alarms);
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    await this.#any(async (member) => member.setAlarm((await member.status()).id, true));
    this.#closed = true;
  }

  async #open(alarms: readonly string[]): Promise<void> {
    const { members, quotaBytes } = this.#ports;
    for (;;) {
      const statuses = await Promise.all(members.map((member) => member.status()));
      const { revision } = statuses[0];
      const step = storeStep(statuses, quotaBytes, this.#compacted === revision);
      if (step === 'wait') return this.#set('store');
      if (step === 'open') break;
      if (step === 'compact') {
        // One that was compacted to there before says so; that is as good.
        await this.#any((member) => member.compact(revision)).catch(() => {});
        this.#compacted = revision;
      } else {
        // One after the other: the rest answers meanwhile.
        for (const [index, member] of members.entries()) if (isWorthIt(statuses[index])) await member.defragment();
      }
    }
    for (const id of alarms) await this.#any((member) => member.setAlarm(id, false));
    this.#closed = false;
    this.#set(undefined);
  }

  #any<T>(work: (member: StoreRoomPorts['members'][number]) => Promise<T>): Promise<T> {
    return withAny(this.#ports.members, work);
  }

  #set(trouble: StoreTrouble | undefined): void {
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    this.#looks = 0;
    this.#ports.tell(trouble);
  }
}
