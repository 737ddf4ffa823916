import { connect } from 'node:net';
import { dialError, joined, type ProbeOutcome } from './probe-outcome.ts';

/** Whether a connection can be opened. */
export function probeTcp(host: string, port: number, signal: AbortSignal): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (outcome: ProbeOutcome) => {
      signal.removeEventListener('abort', onAbort);
      // A reset instead of a farewell: a socket per probe must not linger for minutes.
      socket.resetAndDestroy();
      resolve(outcome);
    };
    const onAbort = () => end({ result: 'failure', output: `dial tcp ${joined(host, port)}: i/o timeout` });
    socket.once('connect', () => end({ result: 'success', output: '' }));
    socket.once('error', (error) => end({ result: 'failure', output: dialError(joined(host, port), error) }));
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
