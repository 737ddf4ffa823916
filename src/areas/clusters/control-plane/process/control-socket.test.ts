import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { CONTROL_SOCKET, watchControl } from './control-socket.ts';

const HELLO = `${JSON.stringify({ type: 'hello', pid: 7, edition: 'a' })}\n`;
let server: Server | undefined;
let folder = '';

/** A process that says this to whoever follows it. */
async function saying(say: (response: ServerResponse) => void): Promise<string> {
  folder = mkdtempSync(join(tmpdir(), 'control-'));
  server = createServer((_request, response) => say(response.writeHead(200))).listen(join(folder, CONTROL_SOCKET));
  await new Promise((resolve) => server!.once('listening', resolve));
  return folder;
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

it.each<[string, string]>([
  ['no JSON', 'oh no\n'],
  ['no event', 'null\n'],
  ['an event that there is not', '{"type":"x1"}\n'],
  ['a line without an end', 'x'.repeat(100_000)],
])('a process that says %s, is taken for one that ended', async (_what, words) => {
  const events: string[] = [];
  const ended = new Promise<void>((resolve) => {
    void saying((response) => void response.write(HELLO, () => response.write(words))).then((at) =>
      watchControl(at, { onEvent: ({ type }) => events.push(type), onEnd: resolve }, 5000),
    );
  });
  await ended;
  expect(events).toEqual([]);
});

it('a process that answers and does not say who it is, is waited for no longer than that', async () => {
  const at = await saying((response) => response.flushHeaders());
  await expect(watchControl(at, { onEvent: () => {}, onEnd: () => {} }, 50)).rejects.toThrow('before it said who it is');
});
