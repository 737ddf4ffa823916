import { closeSync, openSync } from 'node:fs';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';

/** What a control plane's process tells on its control socket. */
export type ControlEvent =
  | { type: 'hello'; pid: number; edition: string }
  /** Writes fail, or work again. */
  | { type: 'disk'; full: boolean }
  /** It has reached its limit, or no longer. */
  | { type: 'store'; full: boolean }
  /** Some of it does not work, or all of it does again. `others`: replicas of it go on. */
  | { type: 'programs'; message?: string; others?: boolean }
  /** How many of several API servers are ready. */
  | { type: 'replicas'; ready: number };

/** Each is kept, so there are no others. */
const EVENT_TYPES: ReadonlySet<unknown> = new Set<ControlEvent['type']>(['hello', 'disk', 'store', 'programs', 'replicas']);

export const CONTROL_SOCKET = 'control.sock';
/** The kernel takes 107 bytes. */
const MAX_PATH_BYTES = 107;
const MAX_EVENT_LENGTH = 64 * 1024;
const SILENCE_MS = 60_000;

export interface ControlWatch {
  hello: Extract<ControlEvent, { type: 'hello' }>;
  close(): void;
}

/** Follows a process for as long as it lives: `onEnd` is called once, when it is gone. */
export async function watchControl(
  folder: string,
  handlers: { onEvent(event: ControlEvent): void; onEnd(): void },
  timeoutMs: number,
): Promise<ControlWatch> {
  const { sent, response } = await ask(folder, 'GET', '/watch', timeoutMs);
  let closed = false;
  const close = () => {
    closed = true;
    sent.destroy();
  };
  return new Promise((resolve, reject) => {
    let text = '';
    const patience = setTimeout(() => sent.destroy(), timeoutMs);
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const event = eventIn(text.slice(0, end));
        text = text.slice(end + 1);
        if (event === undefined) return void sent.destroy();
        if (event.type === 'hello') {
          clearTimeout(patience);
          resolve({ hello: event, close });
        } else handlers.onEvent(event);
      }
      if (text.length > MAX_EVENT_LENGTH) sent.destroy();
    });
    response.on('error', () => {});
    response.once('close', () => {
      clearTimeout(patience);
      reject(new Error('the process ended before it said who it is'));
      if (!closed) handlers.onEnd();
    });
  });
}

/** Undefined for what is none: the process may be in the hands of somebody who broke into it, and must not end ours. */
function eventIn(line: string): ControlEvent | undefined {
  try {
    const event = JSON.parse(line) as ControlEvent | null;
    return EVENT_TYPES.has(event?.type) ? event! : undefined;
  } catch {
    return undefined;
  }
}

/** Asks for something and gives the body. A body that is cut off ends with an error. */
export async function askControl(folder: string, method: string, path: string, timeoutMs: number): Promise<IncomingMessage> {
  const { response } = await ask(folder, method, path, timeoutMs);
  // One that stops in the middle would be waited for by whoever wants the cluster to sleep, or to go.
  response.setTimeout(SILENCE_MS, () => response.destroy(new Error(`nothing came for ${SILENCE_MS / 1000} s`)));
  if (response.statusCode === 200) return response;
  response.resume();
  throw new Error(`the process answered ${response.statusCode}`);
}

function ask(folder: string, method: string, path: string, timeoutMs: number): Promise<{ sent: ClientRequest; response: IncomingMessage }> {
  const { socketPath, release } = shortPath(folder);
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, agent: false });
    const patience = setTimeout(() => sent.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    sent.once('error', reject);
    sent.once('response', (response) => {
      clearTimeout(patience);
      // From here on the response tells.
      sent.on('error', () => {});
      resolve({ sent, response });
    });
    sent.once('close', release);
    sent.end();
  });
}

/** A path that the kernel takes, also to a deep folder. */
function shortPath(folder: string): { socketPath: string; release(): void } {
  const path = join(folder, CONTROL_SOCKET);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { socketPath: path, release() {} };
  const fd = openSync(folder, 'r');
  let open = true;
  return {
    socketPath: `/proc/self/fd/${fd}/${CONTROL_SOCKET}`,
    release() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}
