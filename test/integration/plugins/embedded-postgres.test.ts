import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { EmbeddedServer, type ServerSecret } from '../../../src/areas/plugins/database/embedded/embedded-server.ts';
import { isAlive } from '../../../src/areas/plugins/database/embedded/server-process.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';

const data = mkdtempSync(join(tmpdir(), 'tenantry-embedded-postgres-'));
const folder = join(data, 'postgres');
chmodSync(data, 0o711);
let kept: ServerSecret | undefined;
let passwords = 0;
const servers: EmbeddedServer[] = [];

function aServer(): EmbeddedServer {
  const server = new EmbeddedServer({
    folder,
    clock: realClock,
    log: silentLog,
    secret: { read: () => Promise.resolve(kept), write: (secret) => Promise.resolve(void (kept = secret)) },
    podAddress: () => Promise.resolve('127.0.0.1'),
    newPassword: () => `password-${++passwords}`,
  });
  servers.push(server);
  return server;
}

const pidOf = (): number => Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);

async function ask(dsn: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: dsn });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/** Dead, without a chance to put anything in order. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false);
}

describe('a PostgreSQL of our own', { timeout: 120_000 }, () => {
  afterAll(async () => {
    for (const server of servers) await server.stop();
    rmSync(data, { recursive: true, force: true });
  }, 60_000);

  it('starts in its folder, on loopback, as nobody who may do anything else', async () => {
    const { dsn, host } = await aServer().open();
    expect(host).toBe('127.0.0.1');
    await ask(dsn, 'CREATE TABLE kept (n int)');
    await ask(dsn, 'INSERT INTO kept VALUES (1)');
    expect(statSync(join(folder, 'data')).mode & 0o077).toBe(0);
    expect(statSync(`/proc/${pidOf()}`).uid).not.toBe(0);
    expect(existsSync(join(folder, 'password'))).toBe(false);
    await expect(ask(dsn.replace('password-1', 'wrong'), 'SELECT 1')).rejects.toThrow('password authentication failed');
  });

  it('is taken over as it is by the next process, its connections included', async () => {
    const { dsn } = await servers[0].open();
    const pid = pidOf();
    const client = new Client({ connectionString: dsn });
    await client.connect();
    expect((await aServer().open()).dsn).toBe(dsn);
    expect(pidOf()).toBe(pid);
    expect((await client.query('SELECT n FROM kept')).rows).toEqual([{ n: 1 }]);
    await client.end();
  });

  it('is started again when it ends, and has lost nothing', async () => {
    const { dsn } = await servers[1].open();
    const pid = pidOf();
    await kill(pid);
    await expect.poll(() => ask(dsn, 'SELECT n FROM kept').catch(() => undefined), { timeout: 60_000 }).toEqual([{ n: 1 }]);
    expect(pidOf()).not.toBe(pid);
  });

  it('is stopped with its process, and starts over a file that some other process is named in', async () => {
    await servers[1].stop();
    await servers[0].stop();
    expect(existsSync(join(folder, 'data/postmaster.pid'))).toBe(false);
    const lines = [process.pid, join(folder, 'data'), 1, kept!.port, '', '127.0.0.1', '', 'ready   ', ''];
    writeFileSync(join(folder, 'data/postmaster.pid'), lines.join('\n'));
    const { dsn } = await aServer().open();
    expect(await ask(dsn, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  it('takes the password that is kept, whatever it had', async () => {
    await servers[2].stop();
    kept = undefined;
    const { dsn } = await aServer().open();
    expect(dsn).toContain('password-2');
    expect(await ask(dsn, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });
});
