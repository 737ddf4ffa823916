/** What is used of a call that streams its answers. */
interface StreamedCall {
  readonly cancelled: boolean;
  write(message: object): boolean;
  on(event: 'drain' | 'cancelled', listener: () => void): unknown;
}

/**
 * Writes to a caller who may be slower than a program: what is written for him meanwhile would fill our memory.
 * @returns for each message undefined, or when there is room for the next
 */
export function pacedCall(call: StreamedCall): (message: object) => Promise<void> | undefined {
  let room: Promise<void> | undefined;
  let tell: (() => void) | undefined;
  const goOn = () => {
    tell?.();
    room = undefined;
  };
  call.on('drain', goOn);
  call.on('cancelled', goOn);
  return (message) => {
    if (call.write(message) || call.cancelled) return undefined;
    return (room ??= new Promise((resolve) => (tell = resolve)));
  };
}
