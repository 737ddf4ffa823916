import type { KubeObject } from '../../../kube/object.ts';
import type { Timer } from '../../../lib/clock.ts';
import type { PodTokens } from './pod-tokens.ts';

export interface ReadyVolume {
  /** On the machine. */
  path: string;
  readOnly: boolean;
  /** For paths that are not ours: looks again whether the path may be used, for every container. */
  locate?: () => Promise<string>;
  /** Of what the files were made from, for volumes that are filled from the API. */
  mark?: string;
  /** The failure of the last refresh, which is told once. */
  problem?: string;
}

/** What is known of the volumes of one Pod. Work on them is done in turn: two writers would undo each other. */
export class PodState {
  pod: KubeObject;
  readonly ready = new Map<string, ReadyVolume>();
  readonly tokens: PodTokens;
  /** Ends of watches on the objects that the volumes are made from. */
  readonly holds = new Map<string, () => void>();
  /** The last setUp failed; when something changes it is to be tried again. */
  waiting = false;
  gone = false;
  refreshing = false;
  renewal: Timer | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(pod: KubeObject, tokens: PodTokens) {
    this.pod = pod;
    this.tokens = tokens;
  }

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Nothing new begins after this. */
  end(): void {
    this.gone = true;
    this.renewal?.cancel();
    for (const release of this.holds.values()) release();
    this.holds.clear();
  }
}
