import { createAPI, fetchV12, type API, type Reader } from '@platformatic/kafka';
import type { KafkaClient, TopicPartition } from '../kafka-client.ts';
import type { ServerAddress } from '../model/broker-settings.ts';

export interface RecordPosition extends TopicPartition {
  offset: bigint;
}

interface BatchHead {
  /** Of the batch that the asked record is in. */
  timestamp: number;
  lastOffset: bigint;
  isControl: boolean;
}

const FETCH = 1;
const FETCH_VERSION = 12;
const READ_COMMITTED = 1;
const NO_SESSION = -1;
const UNKNOWN_EPOCH = -1;
/** Up to and with the largest timestamp. */
const BATCH_HEAD_BYTES = 43;
const APPEND_TIME = 1 << 3;
const CONTROL = 1 << 5;
/** Marks of transactions that follow each other without a record between them. */
const MOST_CONTROL_BATCHES = 5;

/**
 * Only the head of the first batch is read: what a plugin packed into it is not unpacked here, so no clever compression can fill our
 * memory. A broker sends at least one batch, however little is asked for.
 */
const fetchHeads: API<Parameters<typeof fetchV12.createRequest>, BatchHead[]> = createAPI(
  FETCH,
  FETCH_VERSION,
  fetchV12.createRequest,
  parseHeads,
);

function parseHeads(_correlation: number, _api: number, _version: number, reader: Reader): BatchHead[] {
  reader.skip(4 + 2 + 4);
  return reader
    .readArray((topics) => {
      topics.readString();
      return topics.readArray(parsePartition).filter((head) => head !== undefined);
    })
    .flat();
}

function parsePartition(reader: Reader): BatchHead | undefined {
  reader.skip(4);
  const error = reader.readInt16();
  reader.skip(3 * 8);
  reader.readArray((aborted) => aborted.skip(16));
  reader.skip(4);
  const size = reader.readUnsignedVarInt() - 1;
  const end = reader.position + Math.max(size, 0);
  const head = error === 0 && size >= BATCH_HEAD_BYTES ? parseBatch(reader) : undefined;
  reader.position = end;
  return head;
}

/** With the broker's own time all records of a batch have the same, the largest; otherwise the first is the oldest. */
function parseBatch(reader: Reader): BatchHead {
  const firstOffset = reader.readInt64();
  reader.skip(4 + 4 + 1 + 4);
  const attributes = reader.readInt16();
  const lastOffset = firstOffset + BigInt(reader.readInt32());
  const [first, largest] = [reader.readInt64(), reader.readInt64()];
  const timestamp = Number((attributes & APPEND_TIME) === 0 ? first : largest);
  return { timestamp, lastOffset, isControl: (attributes & CONTROL) !== 0 };
}

/** When the first record from the offset on was written, in milliseconds; undefined when there is none.
 * One partition per request: a broker that is asked for little sends the first batch of the first partition, and nothing of the others. */
export async function recordTime(
  client: KafkaClient,
  server: ServerAddress,
  { topic, partition, offset }: RecordPosition,
): Promise<number | undefined> {
  let fetchOffset = offset;
  for (let round = 0; round < MOST_CONTROL_BATCHES; round++) {
    const asked = { partition, currentLeaderEpoch: UNKNOWN_EPOCH, fetchOffset, lastFetchedEpoch: UNKNOWN_EPOCH, partitionMaxBytes: 1 };
    const topics = [{ topicId: topic, partitions: [asked] }];
    const [head] = await client.askOne(server, fetchHeads, 0, 0, 1, READ_COMMITTED, 0, NO_SESSION, topics, [], '');
    // A mark at the end of a transaction is nothing that anybody waits to read.
    if (!head?.isControl) return head?.timestamp;
    fetchOffset = head.lastOffset + 1n;
  }
  return undefined;
}
