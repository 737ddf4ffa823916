import type { Duplex } from 'node:stream';

/** Joins two connections, each end of one being the end of the other. An end that breaks takes the other along. */
export function splice(a: Duplex, b: Duplex): void {
  const destroy = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', destroy);
    from.on('close', () => {
      // Whoever closed without an end broke off.
      if (!from.readableEnded) destroy();
    });
    from.pipe(to);
  }
}
