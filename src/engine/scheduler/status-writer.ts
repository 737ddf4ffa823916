import type { Client } from '../../client/client.ts';
import { Pod } from '../../client/kinds.ts';
import { isStatusError } from '../../kube/status.ts';
import { formatTime } from '../../kube/time.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import { nextTurn } from '../../runtime/informer/reflector.ts';
import type { PodInfo } from './model/pod-info.ts';
import type { QueuedPod } from './queue/pod-class.ts';

export interface SchedulingNews {
  info: PodInfo;
  reason: 'Unschedulable' | 'SchedulerError';
  message: string;
  /** Set or, when empty, cleared; absent: left as it is. */
  nominatedNode?: string;
}

/** Writes at once: enough to keep up, too few to be felt. */
const CONCURRENCY = 4;
/** Pods that merely share the lot of another get their news in this rhythm. */
const FOLLOWERS_EVERY_MS = 20;
/** Pods of a class that are looked at in one go. */
const ASKED_AT_ONCE = 50;

/**
 * Tells Pods why they have no node: condition and event. Of several news about one Pod the last is told. Pods that were told before and of
 * which nothing is known but a new number of nodes are told slowly: thousands of them must not keep the server busy.
 */
export class StatusWriter {
  #options: { client: Client; clock: Clock; log: Log; events: EventRecorder };
  #soon = new Map<string, SchedulingNews>();
  #slowly = new Map<string, SchedulingNews>();
  #crowds: { members: readonly QueuedPod[]; next: number; text: string }[] = [];
  #running = new Set<Promise<void>>();
  #pacing = false;
  #asking = false;
  #stopped = false;

  constructor(options: { client: Client; clock: Clock; log: Log; events: EventRecorder }) {
    this.#options = options;
  }

  tell(news: SchedulingNews, urgent: boolean): void {
    const { key } = news.info;
    const early = this.#soon.get(key);
    if (urgent || early || !wasTold(news.info)) {
      this.#slowly.delete(key);
      this.#soon.set(key, { ...news, nominatedNode: news.nominatedNode ?? early?.nominatedNode });
    } else this.#slowly.set(key, news);
    this.#work();
  }

  /** The same news for all of a class. Each is looked at only when its turn comes: thousands of Pods must not be handled in one go. */
  tellAll(members: readonly QueuedPod[], text: string): void {
    if (members.length === 0) return;
    this.#crowds.push({ members, next: 0, text });
    this.#work();
  }

  /** The Pod is no longer waiting. */
  forget(key: string): void {
    this.#soon.delete(key);
    this.#slowly.delete(key);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#crowds = [];
    this.#soon.clear();
    this.#slowly.clear();
    await Promise.all(this.#running);
  }

  #work(): void {
    this.#askCrowds();
    while (this.#running.size < CONCURRENCY && this.#soon.size > 0) this.#start(takeFirst(this.#soon));
    if (this.#slowly.size === 0 || this.#pacing || this.#stopped) return;
    this.#pacing = true;
    // A timer, because the point is to wait.
    this.#options.clock.setTimer(FOLLOWERS_EVERY_MS, () => {
      this.#pacing = false;
      if (this.#slowly.size > 0 && this.#soon.size === 0) this.#start(takeFirst(this.#slowly));
      this.#work();
    });
  }

  /** Takes over the next few of those that share the lot of another, unless that has changed meanwhile. */
  #askCrowds(): void {
    for (let asked = 0; asked < ASKED_AT_ONCE && this.#soon.size < CONCURRENCY; asked++) {
      const [crowd] = this.#crowds;
      const pod = crowd?.members[crowd.next++];
      if (!pod) {
        if (!crowd) return;
        this.#crowds.shift();
        continue;
      }
      if (pod.gone || pod.told === crowd.text || pod.class.failure?.text !== crowd.text) continue;
      pod.told = crowd.text;
      const news: SchedulingNews = { info: pod.info, reason: 'Unschedulable', message: crowd.text };
      (wasTold(pod.info) ? this.#slowly : this.#soon).set(pod.info.key, news);
    }
    if (this.#crowds.length > 0 && this.#running.size === 0 && this.#soon.size === 0) this.#askLater();
  }

  #askLater(): void {
    if (this.#asking) return;
    this.#asking = true;
    void nextTurn().then(() => {
      this.#asking = false;
      if (!this.#stopped) this.#work();
    });
  }

  #start(news: SchedulingNews): void {
    const writing = this.#write(news).finally(() => {
      this.#running.delete(writing);
      if (!this.#stopped) this.#work();
    });
    this.#running.add(writing);
  }

  async #write({ info, reason, message, nominatedNode }: SchedulingNews): Promise<void> {
    const { client, clock, log, events } = this.#options;
    const { pod } = info;
    events.record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message });
    const old = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const same = old?.status === 'False' && old.reason === reason && old.message === message;
    if (same && nominatedNode === undefined) return;
    const lastTransitionTime = (old?.status === 'False' && old.lastTransitionTime) || formatTime(new Date(clock.now()));
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastProbeTime: null,
      lastTransitionTime,
      observedGeneration: pod.metadata.generation,
    };
    const status = { conditions: [condition], ...(nominatedNode === undefined ? {} : { nominatedNodeName: nominatedNode || null }) };
    try {
      const patch = { metadata: { uid: pod.metadata.uid }, status };
      await client.resource(Pod, info.namespace).status.patch(pod.metadata.name!, { type: 'strategic', patch });
    } catch (error) {
      // Gone, or another of the same name: nobody left to tell.
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict') || this.#stopped) return;
      log.warn('cannot tell a Pod why it has no node', { pod: info.key, error });
    }
  }
}

function wasTold({ pod }: PodInfo): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'PodScheduled' && status === 'False') ?? false;
}

function takeFirst(news: Map<string, SchedulingNews>): SchedulingNews {
  const [key, first] = news.entries().next().value!;
  news.delete(key);
  return first;
}
