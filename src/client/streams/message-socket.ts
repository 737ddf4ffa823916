import type { WebSocket } from 'ws';
import type { MessageSocket } from '../../lib/channels/channel-connection.ts';

/** A WebSocket of the `ws` package, as channels need it. */
export function messageSocket(webSocket: WebSocket): MessageSocket {
  return {
    send: (message, done) => webSocket.send(message, { binary: typeof message !== 'string' }, done),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    close: (code, reason) => webSocket.close(code, reason),
    onMessage: (listener) => void webSocket.on('message', (data) => listener(data as Buffer)),
    onClose: (listener) => {
      // What breaks the connection also closes it.
      webSocket.on('error', () => {});
      webSocket.on('close', (code, reason) => listener(code, reason.toString()));
    },
  };
}
