import { STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Connects a client that wants to leave HTTP with a server that shall agree to it: its answer goes back as it is, and after a 101 all
 * bytes do, both ways. Resolves to the code of the answer once it is on its way; rejects with what kept the server from answering.
 */
export function relayUpgrade(outgoing: ClientRequest, client: Duplex, head: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('upgrade', (answer, server, serverHead) => {
      client.write(headText(answer));
      joinSockets(client, server, head, serverHead);
      resolve(101);
    });
    outgoing.on('response', (answer) => {
      client.write(headText(answer));
      answer.on('error', () => client.destroy());
      answer.pipe(client);
      resolve(answer.statusCode ?? 0);
    });
    client.once('close', () => outgoing.destroy());
    outgoing.end();
  });
}

/** Bytes both ways. What one side wrote before it closed still reaches the other. */
export function joinSockets(client: Duplex, server: Duplex, clientHead: Buffer, serverHead: Buffer): void {
  if (serverHead.length > 0) client.write(serverHead);
  if (clientHead.length > 0) server.write(clientHead);
  client.pipe(server);
  server.pipe(client);
  for (const [side, other] of [
    [client, server],
    [server, client],
  ]) {
    side.on('error', () => side.destroy());
    side.once('close', () => closeWhenWritten(other));
  }
}

function closeWhenWritten(socket: Duplex): void {
  if (socket.writableFinished || socket.destroyed) {
    socket.destroy();
    return;
  }
  socket.once('finish', () => socket.destroy());
  socket.end();
}

/** Status line and headers as they came. Framing headers would be wrong: the body is decoded already and ends with the connection. */
function headText(answer: IncomingMessage): string {
  const upgraded = answer.statusCode === 101;
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage || STATUS_CODES[answer.statusCode ?? 0] || ''}\r\n`;
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    const name = answer.rawHeaders[i].toLowerCase();
    if (!upgraded && (name === 'transfer-encoding' || name === 'connection' || name === 'keep-alive')) continue;
    text += `${answer.rawHeaders[i]}: ${answer.rawHeaders[i + 1]}\r\n`;
  }
  return upgraded ? `${text}\r\n` : `${text}Connection: close\r\n\r\n`;
}
