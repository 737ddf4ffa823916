import { expect, test } from 'vitest';
import { isWebSocketRequest, type SwitchRequest } from './protocol-switch.ts';

const asked = (headers: SwitchRequest['headers'], method = 'GET'): SwitchRequest => ({
  method,
  headers: { connection: 'keep-alive, Upgrade', upgrade: 'websocket', ...headers },
});

test.each<[string, SwitchRequest, boolean]>([
  ['a WebSocket', asked({}), true],
  ['a WebSocket in capitals', asked({ upgrade: 'WebSocket' }), true],
  ['a WebSocket with an empty body', asked({ 'content-length': '0' }), true],
  ['h2c', asked({ upgrade: 'h2c' }), false],
  ['a WebSocket or h2c', asked({ upgrade: 'websocket, h2c' }), false],
  ['what Connection does not name', asked({ connection: 'keep-alive' }), false],
  ['what Connection names only in part', asked({ connection: 'upgrade-insecure' }), false],
  ['a WebSocket by POST', asked({}, 'POST'), false],
  ['a WebSocket with a body', asked({ 'content-length': '5' }), false],
  ['a WebSocket with a body of unknown length', asked({ 'transfer-encoding': 'chunked' }), false],
  ['nothing', { method: 'GET', headers: {} }, false],
])('isWebSocketRequest of %s', (_, request, expected) => expect(isWebSocketRequest(request)).toBe(expected));
