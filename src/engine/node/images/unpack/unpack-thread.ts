import { Worker } from 'node:worker_threads';
import { LayerError } from './layer-writer.ts';
import type { UnpackedLayer, UnpackJob } from './unpack-layer.ts';
import { builtProgram } from '../../../../lib/built-program.ts';

/** Unpacks away from the event loop, one layer after the other. */
export interface Unpacker {
  /** @throws LayerError */
  unpack(job: UnpackJob): Promise<UnpackedLayer>;
  /** Ends what is under way, at once. */
  close(): Promise<void>;
}

export type UnpackAnswer = { unpacked: UnpackedLayer } | { problem: string };

/** Starts nothing before the first layer. */
export function createUnpacker(): Unpacker {
  const place = builtProgram('unpack.js');
  return place === undefined ? inThisThread() : inThreadOfItsOwn(place);
}

function inThreadOfItsOwn(place: string): Unpacker {
  let worker: Worker | undefined;
  return {
    unpack(job) {
      // Layers come from strangers: a parser that loses its way must not take the agent's memory along.
      worker ??= new Worker(place, { resourceLimits: { maxOldGenerationSizeMb: 256 }, execArgv: [], env: {} });
      return askWorker(worker, job);
    },
    async close() {
      await worker?.terminate();
    },
  };
}

function askWorker(worker: Worker, job: UnpackJob): Promise<UnpackedLayer> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: UnpackAnswer) => {
      settle();
      if ('unpacked' in answer) resolve(answer.unpacked);
      else reject(new LayerError(answer.problem));
    };
    const onError = (error: Error) => {
      settle();
      reject(new LayerError(`the thread that unpacks it failed (${error.message})`, { cause: error }));
    };
    const onExit = () => {
      settle();
      reject(new LayerError('it was given up'));
    };
    const settle = () => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(job);
  });
}

/** From sources there is no program that a thread could load; tests run like that. */
function inThisThread(): Unpacker {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async unpack(job) {
      const { unpackLayer } = await import('./unpack-layer.ts');
      const work = unpackLayer(job);
      last = work.catch(() => {});
      return work;
    },
    async close() {
      await last;
    },
  };
}
