import { parentPort, workerData } from 'node:worker_threads';
import type { BrokerAnswer, BrokerCall } from '../areas/plugins/kafka/broker-thread.ts';
import { KafkaBroker } from '../areas/plugins/kafka/kafka-broker.ts';
import type { BrokerSettings } from '../areas/plugins/kafka/model/broker-settings.ts';
import { realClock } from '../lib/clock.ts';

/** The thread that talks to Kafka for the plugins; see broker-thread.ts. */
const broker = new KafkaBroker(workerData as BrokerSettings, realClock);

async function answer({ id, method, args }: BrokerCall): Promise<BrokerAnswer> {
  try {
    const call = broker[method] as (...args: unknown[]) => Promise<unknown>;
    return { id, value: await call.apply(broker, args) };
  } catch (error) {
    return { id, problem: (error as Error).message };
  }
}

parentPort!.on('message', (call: BrokerCall) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void answer(call).then((answered) => parentPort!.postMessage(answered));
});
