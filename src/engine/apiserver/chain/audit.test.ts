import { mkdtempSync, readFileSync, rmdirSync, rmSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FileAuditLog, type AuditRecord } from './audit.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-audit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const entry = (verb: string, code = 200): AuditRecord => ({
  auditID: 'a1',
  info: { isResource: true, verb, group: '', version: 'v1', resource: 'secrets', namespace: 'n', name: 's', subresource: '' } as never,
  requestURI: '/api/v1/namespaces/n/secrets/s',
  user: { name: 'anna', groups: ['devs'] },
  sourceIPs: ['127.0.0.1'],
  received: new Date(0),
  completed: new Date(1),
  code,
  annotations: {},
});

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('FileAuditLog', () => {
  test('keeps writes and refusals, and leaves out reads', async () => {
    const path = join(folder, 'kept.log');
    const log = new FileAuditLog(path);
    log.record(entry('get'));
    log.record(entry('patch'));
    log.record(entry('get', 403));
    await log.close();
    expect(linesOf(path).map(({ verb, responseStatus }) => [verb, responseStatus.code])).toEqual([
      ['patch', 200],
      ['get', 403],
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('goes on after an outage, and says how much is missing', async () => {
    const path = join(folder, 'outage.log');
    // A directory in its place is what a full disk is: a write that fails until somebody helps.
    mkdirSync(path);
    const errors: unknown[] = [];
    const log = new FileAuditLog(path, (error) => errors.push(error));
    log.record(entry('create'));
    log.record(entry('update'));
    await log.close();
    log.record(entry('update'));
    await log.close();
    expect(errors).toHaveLength(1);
    rmdirSync(path);
    log.record(entry('delete'));
    await log.close();
    expect(linesOf(path)).toMatchObject([{ verb: 'delete', annotations: { 'tenantry.dev/dropped-before': '3' } }]);
  });
});
