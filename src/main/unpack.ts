import { parentPort } from 'node:worker_threads';
import { unpackLayer, type UnpackJob } from '../engine/node/images/unpack/unpack-layer.ts';
import type { UnpackAnswer } from '../engine/node/images/unpack/unpack-thread.ts';
import { takeUsualTurns } from './processor-priority.ts';

takeUsualTurns();

/** The thread that unpacks layers; see unpack-thread.ts. */
async function answer(job: UnpackJob): Promise<UnpackAnswer> {
  try {
    return { unpacked: await unpackLayer(job) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

parentPort!.on('message', (job: UnpackJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void answer(job).then((result) => parentPort!.postMessage(result));
});
