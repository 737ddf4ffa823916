import type { WebSocket } from 'ws';
import { messageSocket } from '../../../client/streams/message-socket.ts';
import { ChannelConnection } from '../../../lib/channels/channel-connection.ts';
import { CHANNEL, V1, V1_BASE64, V4, V4_BASE64, V5 } from '../../../lib/channels/remote-command.ts';
import type { CommandOptions } from './command-options.ts';
import type { CommandConnection } from './command-session.ts';
import { statusText } from './spdy-command.ts';

export const WEBSOCKET_COMMAND_PROTOCOLS = [V5, V4, V4_BASE64, V1, V1_BASE64, ''];

/** The streams of an exec or attach over a WebSocket. */
export function openWebSocketCommand(webSocket: WebSocket, protocol: string, options: CommandOptions): CommandConnection {
  const connection = new ChannelConnection(messageSocket(webSocket), {
    encoding: protocol === V4_BASE64 || protocol === V1_BASE64 ? 'base64' : 'binary',
    closeSignal: protocol === V5 ? 'receive' : 'none',
  });
  const errors = connection.writable(CHANNEL.error);
  connection.greet(options.stdout ? CHANNEL.stdout : options.stderr ? CHANNEL.stderr : CHANNEL.error);
  return {
    stdin: options.stdin ? connection.readable(CHANNEL.stdin) : undefined,
    stdout: options.stdout ? connection.writable(CHANNEL.stdout) : undefined,
    stderr: options.stderr ? connection.writable(CHANNEL.stderr) : undefined,
    resize: connection.readable(CHANNEL.resize),
    closed: connection.closed,
    finish(status) {
      // Messages are sent in order: the status comes after all output.
      errors.on('error', () => {});
      const text = statusText(status, protocol);
      if (text === '') connection.close();
      else errors.end(text, () => connection.close());
    },
  };
}
