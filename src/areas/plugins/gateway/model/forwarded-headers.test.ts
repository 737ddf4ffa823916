import { describe, expect, test } from 'vitest';
import { idFrom, requestHeaders, responseHeaders, valueOf, type CallFacts } from './forwarded-headers.ts';

const call: CallFacts = {
  tenant: 'school',
  caller: 'plugin:acme.hello',
  correlationId: 'c',
  requestId: 'r',
  clientAddress: '192.0.2.1',
  prefix: '/school/hello',
  protocol: 'http',
};
const names = (raw: readonly string[]) => raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());

describe('requestHeaders', () => {
  test.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Authorization',
    'Cookie',
    'Forwarded',
    'X-Real-IP',
    'X-User-Roles',
    'X-Adapstory-User-Id',
    'X-PDLC-Run-Id',
    'X_User_Roles',
    'Mine',
  ])('leave out %s', (name) => {
    const raw = ['Connection', 'close, mine', name, 'x', 'Accept', '*/*'];
    const kept = requestHeaders(raw, call);
    expect(names(kept).filter((each) => each.replaceAll('_', '-') === name.toLowerCase().replaceAll('_', '-'))).toEqual([]);
    expect(valueOf(kept, 'accept')).toBe('*/*');
  });
  test.each(['X-Tenant-Id', 'x-tenant-id', 'X_Tenant_Id'])('replace a forged %s', (name) => {
    const kept = requestHeaders([name, 'rival', name, 'other'], call);
    expect(names(kept).filter((each) => each.replaceAll('_', '-') === 'x-tenant-id')).toHaveLength(1);
    expect(valueOf(kept, 'x-tenant-id')).toBe('school');
  });
  test('write the names of users so that they fit', () => {
    expect(valueOf(requestHeaders([], { ...call, caller: 'Zoë\r\nX: y' }), 'x-user-id')).toBe('Zo%C3%AB%0D%0AX%3A%20y');
  });
  test('keep order, letters and repetitions', () => {
    expect(requestHeaders(['ACCEPT', 'a', 'accept', 'b'], call).slice(0, 4)).toEqual(['ACCEPT', 'a', 'accept', 'b']);
  });
  test('say again how long a body is, whatever Connection says', () => {
    const kept = requestHeaders(['Connection', 'content-length, host', 'Content-Length', '3', 'Host', 'h'], call);
    expect(valueOf(kept, 'content-length')).toBe('3');
    expect(valueOf(kept, 'host')).toBe('h');
    expect(valueOf(requestHeaders(['Transfer-Encoding', 'chunked'], call), 'transfer-encoding')).toBe('chunked');
  });
});

test('responseHeaders leave out cookies and what is between neighbours', () => {
  const kept = responseHeaders(
    ['Set-Cookie', 'a=b', 'Connection', 'x-own', 'X-Own', '1', 'Transfer-Encoding', 'chunked', 'ETag', '"1"'],
    call,
  );
  expect(names(kept)).toEqual(['etag', 'x-correlation-id', 'x-response-id']);
});

test.each([
  ['of version 4', '9B2FBD1E-1F9A-4C3B-9F1E-0C2B7D0F5A11', '9b2fbd1e-1f9a-4c3b-9f1e-0c2b7d0f5a11'],
  ['of version 7', '01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d-ac96-774b-bcce-b302099a8057'],
  ['of another version', '9b2fbd1e-1f9a-1c3b-9f1e-0c2b7d0f5a11', undefined],
  ['that is none', 'x\n', undefined],
  ['that is not there', undefined, undefined],
])('idFrom an id %s', (_, said, expected) => {
  const id = idFrom(said, 1_700_000_000_000);
  if (expected !== undefined) expect(id).toBe(expected);
  else expect(id).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab]/);
});
