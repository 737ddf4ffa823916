import { describe, expect, it } from 'vitest';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';

const JANE = { name: 'jane', uid: 'u1', groups: ['dev', 'ops'], extra: { 'example.com/id': ['a', 'b'] } };

describe('requestHeaders', () => {
  it('carry who the user is', () => {
    expect(requestHeaders({}, JANE, {})).toEqual({
      'X-Remote-User': 'jane',
      'X-Remote-Uid': 'u1',
      'X-Remote-Group': ['dev', 'ops'],
      'X-Remote-Extra-example.com%2Fid': ['a', 'b'],
      'x-forwarded-proto': 'https',
    });
  });

  it.each([
    ['credentials', { authorization: 'Bearer x' }],
    ['claimed identities', { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-remote-extra-a': 'b', 'x-remote-uid': '0' }],
    ['impersonation', { 'impersonate-user': 'root', 'impersonate-extra-a': 'b' }],
    [
      'what is about the connection',
      { connection: 'keep-alive, X-Secret', 'x-secret': '1', 'transfer-encoding': 'chunked', te: 'trailers' },
    ],
    ['pseudo headers of HTTP/2', { ':path': '/', ':authority': 'a' }],
  ])('leave out %s', (_name, incoming) => {
    const names = Object.keys(requestHeaders(incoming, { name: 'jane', groups: [] }, {})).sort();
    expect(names).toEqual(['X-Remote-User', 'x-forwarded-proto']);
  });

  it('keep the protocols of a WebSocket, without the token that browsers put among them', () => {
    const offered = 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io,x';
    const headers = requestHeaders({ 'sec-websocket-protocol': offered }, { name: 'jane', groups: [] }, {});
    expect(headers['sec-websocket-protocol']).toBe('v5.channel.k8s.io, x');
  });

  it('keep the rest and say where the request came from', () => {
    const headers = requestHeaders(
      { accept: 'application/json', 'x-forwarded-for': '10.0.0.1' },
      { name: 'jane', groups: [] },
      { address: '10.0.0.2', host: 'api:6443', uri: '/apis/a/v1' },
    );
    expect(headers).toMatchObject({
      accept: 'application/json',
      'x-forwarded-for': '10.0.0.1, 10.0.0.2',
      'x-forwarded-host': 'api:6443',
      'x-forwarded-uri': '/apis/a/v1',
    });
  });
});

describe('responseHeaders', () => {
  it('drop what is about the connection', () => {
    expect(responseHeaders({ 'content-type': 'a/b', connection: 'close', 'transfer-encoding': 'chunked' })).toEqual({
      'content-type': 'a/b',
    });
  });
});
