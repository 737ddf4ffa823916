import type { Duplex, Writable } from 'node:stream';
import type { PodAccess, PodTarget } from './pod-access.ts';

/**
 * Carries one connection to a port of a Pod. Resolves when both directions are over; what went wrong is written to `errors` in the
 * kubelet's words and thrown.
 */
export async function forwardPort(
  access: Pick<PodAccess, 'dial'>,
  target: PodTarget,
  port: number,
  data: Duplex,
  errors: Writable,
): Promise<void> {
  try {
    const remote = await access.dial(target, port);
    await splice(data, remote);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const text = `error forwarding port ${port} to pod ${target.name}, uid ${target.uid ?? ''}: ${message}`;
    if (!errors.destroyed && !errors.writableEnded) await new Promise<void>((resolve) => void errors.write(text, () => resolve()));
    throw error;
  }
}

/** Bytes both ways; each direction ends on its own. Rejects when the far side breaks, resolves when the near one does. */
export function splice(near: Duplex, far: Duplex): Promise<void> {
  if (near.destroyed) {
    far.destroy();
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    let open = 2;
    const ended = (): void => {
      if (--open === 0) resolve();
    };
    near.pipe(far);
    far.pipe(near);
    near.once('end', ended);
    far.once('end', ended);
    near.on('error', () => far.destroy());
    near.once('close', () => {
      far.destroy();
      resolve();
    });
    far.on('error', (error) => reject(error));
    far.once('close', () => {
      near.end();
      resolve();
    });
  });
}
