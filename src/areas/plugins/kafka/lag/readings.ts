import type { ClusterView, TopicPartition } from '../kafka-client.ts';
import { NO_GROUP, type LagQuestion } from './partition-lag.ts';

/** A group, or the lack of one, that is expected to read a partition. */
export interface Reading extends TopicPartition {
  question: LagQuestion;
  group: string;
  /** The offset of the next record that it reads; undefined when it never confirmed any. */
  committed: bigint | undefined;
}

export function partitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

export function readingKey({ group, topic, partition }: Pick<Reading, 'group' | 'topic' | 'partition'>): string {
  return `${group} ${topic}/${partition}`;
}

/** Every group of a plugin that confirms anything in a topic is expected to read all of it; if there is none, the plugin is. */
export function readingsOf(
  questions: readonly LagQuestion[],
  { topics }: Pick<ClusterView, 'topics'>,
  groups: readonly string[],
  committed: ReadonlyMap<string, bigint>,
): Reading[] {
  return questions.flatMap((question) => {
    const own = groups.filter((group) => group.startsWith(question.groupPrefix));
    return question.topics.flatMap((topic) => {
      const partitions = Array.from(topics.get(topic) ?? [], (_, partition) => partition);
      const reading = own.filter((group) => partitions.some((partition) => committed.has(readingKey({ group, topic, partition }))));
      return (reading.length > 0 ? reading : [NO_GROUP]).flatMap((group) =>
        partitions.map((partition) => ({
          question,
          topic,
          partition,
          group,
          committed: committed.get(readingKey({ group, topic, partition })),
        })),
      );
    });
  });
}
