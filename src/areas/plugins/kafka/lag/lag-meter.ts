import { leaderOf, type ClusterView, type KafkaClient } from '../kafka-client.ts';
import { brokerOffsets, committedOffsets, EARLIEST, LATEST } from './broker-offsets.ts';
import type { LagQuestion, PartitionLag } from './partition-lag.ts';
import { partitionKey, readingKey, readingsOf, type Reading } from './readings.ts';
import { recordTime } from './record-time.ts';

/** Asks the broker alone: a consumer that is dead tells nobody that it is late. */
export class LagMeter {
  readonly #client: KafkaClient;
  /** A record's time never changes, so a group that stands still costs one look. */
  #known = new Map<string, { offset: bigint; time: number }>();

  constructor(client: KafkaClient) {
    this.#client = client;
  }

  async measure(groups: readonly string[], questions: readonly LagQuestion[], now: number): Promise<PartitionLag[]> {
    const view = await this.#client.view([...new Set(questions.flatMap(({ topics }) => topics))]);
    const asked = groups.filter((group) => questions.some(({ groupPrefix }) => group.startsWith(groupPrefix)));
    const readings = readingsOf(questions, view, asked, await committedOffsets(this.#client, asked));
    const ends = await brokerOffsets(
      this.#client,
      view,
      readings.map(({ topic, partition }) => ({ topic, partition, timestamp: LATEST })),
    );
    const behind = readings.filter((each) => (ends.get(partitionKey(each))?.offset ?? 0n) > (each.committed ?? 0n));
    const [confirming, silent] = [true, false].map((has) => behind.filter(({ committed }) => (committed !== undefined) === has));
    const waiting = new Map([...(await this.#sinceConfirmed(view, confirming)), ...(await this.#sinceInstalled(view, silent))]);
    return readings.map((reading) => {
      const { question, topic, group, partition } = reading;
      const time = waiting.get(reading);
      const seconds = time === undefined ? 0 : Math.max(0, (now - time) / 1000);
      return { tenant: question.tenant, plugin: question.plugin, topic, group, partition, seconds };
    });
  }

  /** When the first record was written after the last one that was confirmed. What was deleted unread waits no more. */
  async #sinceConfirmed(view: ClusterView, readings: readonly Reading[]): Promise<Map<Reading, number>> {
    const starts = await brokerOffsets(
      this.#client,
      view,
      readings.map(({ topic, partition }) => ({ topic, partition, timestamp: EARLIEST })),
    );
    const known = new Map<string, { offset: bigint; time: number }>();
    const times = await Promise.all(
      readings.map(async (reading): Promise<[Reading, number][]> => {
        const start = starts.get(partitionKey(reading))?.offset ?? 0n;
        const offset = start > reading.committed! ? start : reading.committed!;
        const time = await this.#timeAt(view, reading, offset);
        if (time === undefined) return [];
        known.set(readingKey(reading), { offset, time });
        return [[reading, time]];
      }),
    );
    this.#known = known;
    return new Map(times.flat());
  }

  async #timeAt(view: ClusterView, reading: Reading, offset: bigint): Promise<number | undefined> {
    const known = this.#known.get(readingKey(reading));
    if (known?.offset === offset) return known.time;
    const server = leaderOf(view, reading);
    return server === undefined ? undefined : recordTime(this.#client, server, { ...reading, offset });
  }

  /** When the first record was written that somebody should have read who was there from the beginning. */
  async #sinceInstalled(view: ClusterView, readings: readonly Reading[]): Promise<Map<Reading, number>> {
    const found = await Promise.all(
      readings.map(({ topic, partition, question }) =>
        brokerOffsets(this.#client, view, [{ topic, partition, timestamp: BigInt(question.since) }]),
      ),
    );
    return new Map(
      readings.flatMap((reading, index): [Reading, number][] => {
        const first = found[index].get(partitionKey(reading));
        return first && first.offset >= 0n ? [[reading, Number(first.timestamp)]] : [];
      }),
    );
  }
}
