import { listOffsetsV7, offsetFetchV8 } from '@platformatic/kafka';
import { leaderOf, tolerating, type ClusterView, type KafkaClient, type TopicPartition } from '../kafka-client.ts';
import { addressText, type ServerAddress } from '../model/broker-settings.ts';
import { partitionKey, readingKey } from './readings.ts';

export const LATEST = -1n;
export const EARLIEST = -2n;
/** What is not yet decided is nothing that a consumer could have read. */
const READ_COMMITTED = 1;
const CONSUMER = -1;
const UNKNOWN_EPOCH = -1;
/** What is not there any more, or has just another leader, is measured the next time. */
const PASSING = [
  'UNKNOWN_TOPIC_OR_PARTITION',
  'NOT_LEADER_OR_FOLLOWER',
  'LEADER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'OFFSET_NOT_AVAILABLE',
];

export interface OffsetQuestion extends TopicPartition {
  /** The first record from this time on, in milliseconds, or LATEST or EARLIEST. */
  timestamp: bigint;
}

export interface FoundOffset {
  /** -1: there is none. */
  offset: bigint;
  timestamp: bigint;
}

/** One request per leader. Answers by `partitionKey`. */
export async function brokerOffsets(
  client: KafkaClient,
  view: ClusterView,
  questions: readonly OffsetQuestion[],
): Promise<Map<string, FoundOffset>> {
  const found = new Map<string, FoundOffset>();
  const distinct = new Map(questions.map((each) => [partitionKey(each), each]));
  await Promise.all(
    perLeader(view, [...distinct.values()]).map(async ({ server, topics }) => {
      const asked = [...topics].map(([name, partitions]) => ({ name, partitions }));
      const answer = await tolerating(PASSING, () => client.askOne(server, listOffsetsV7.api, CONSUMER, READ_COMMITTED, asked));
      for (const { name: topic, partitions } of answer.topics) {
        for (const { partitionIndex: partition, errorCode, offset, timestamp } of partitions) {
          if (errorCode === 0) found.set(partitionKey({ topic, partition }), { offset, timestamp });
        }
      }
    }),
  );
  return found;
}

interface LeaderQuestions {
  server: ServerAddress;
  topics: Map<string, { partitionIndex: number; currentLeaderEpoch: number; timestamp: bigint }[]>;
}

function perLeader(view: ClusterView, questions: readonly OffsetQuestion[]): LeaderQuestions[] {
  const leaders = new Map<string, LeaderQuestions>();
  for (const question of questions) {
    const server = leaderOf(view, question);
    if (!server) continue;
    const own = leaders.get(addressText(server)) ?? { server, topics: new Map() };
    leaders.set(addressText(server), own);
    const partitions = own.topics.get(question.topic) ?? [];
    own.topics.set(question.topic, partitions);
    partitions.push({ partitionIndex: question.partition, currentLeaderEpoch: UNKNOWN_EPOCH, timestamp: question.timestamp });
  }
  return [...leaders.values()];
}

/** What the groups confirmed, by `readingKey`. */
export async function committedOffsets(client: KafkaClient, groups: readonly string[]): Promise<Map<string, bigint>> {
  const committed = new Map<string, bigint>();
  for (const { server, groups: own } of await client.coordinators(groups)) {
    const wanted = own.map((groupId) => ({ groupId, memberEpoch: UNKNOWN_EPOCH, topics: null }));
    const answer = await tolerating(['GROUP_ID_NOT_FOUND'], () => client.askOne(server, offsetFetchV8.api, wanted, false));
    for (const { groupId: group, topics } of answer.groups) {
      for (const { name: topic, partitions } of topics) {
        for (const { partitionIndex: partition, committedOffset } of partitions) {
          if (committedOffset >= 0n) committed.set(readingKey({ group, topic, partition }), committedOffset);
        }
      }
    }
  }
  return committed;
}
