import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { tenantry, type } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-cli-'));
const place = (name: string) => join(folder, name);

afterAll(() => rmSync(folder, { recursive: true }));

const SECRET = '/api/v1/namespaces/default/secrets/login';
const aSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'login' },
  stringData: { password: 'open sesame' },
};

describe('the first things one types', () => {
  test('nothing but the name shows what there is', async () => {
    const { code, stdout } = await tenantry();
    expect(code).toBe(0);
    for (const command of ['up', 'kubeconfig', 'status', 'backup', 'restore', 'version', 'completion']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    expect(stdout).toContain('Start here:');
  });

  test.each([
    ['a command that does not exist', ['stats'], "unknown command 'stats'\n(Did you mean status?)"],
    ['an option that does not exist', ['up', '--prot', '1'], "unknown option '--prot'\n(Did you mean --port?)"],
    [
      'a port that is none',
      ['up', '--data', place('x'), '--port', 'http'],
      'Cannot listen on port "http": a port is a number from 0 to 65535',
    ],
    [
      'an address that is none',
      ['up', '--data', place('x'), '--address', '300.1.1.1'],
      'Cannot listen on "300.1.1.1": it is not an IP address',
    ],
    ['a log level that is none', ['up', '--log-level', 'loud'], 'Allowed choices are debug, info, warn, error.'],
    ['an output that is none', ['status', '-o', 'xml'], 'Allowed choices are text, json.'],
    ['a shell that is none', ['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish.'],
    ['a restore of no file', ['restore'], "missing required argument 'file'"],
    ['a restore of a file that is not there', ['restore', place('nosuch')], 'there is no such file; name a backup'],
    ['the kubeconfig of nothing', ['kubeconfig', '--data', place('x')], 'no instance was started there yet; run `tenantry up` first'],
    ['the status of nothing', ['status', '--data', place('x')], 'no instance was started there yet; run `tenantry up` first'],
  ])('%s is refused in one sentence', async (_name, args, sentence) => {
    const { code, stdout, stderr } = await tenantry(...args);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toBe('');
    expect(code).toBe(1);
    expect(existsSync(place('x'))).toBe(false);
  });

  test('version says the version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await tenantry('--version')).stdout).toBe(`${version}\n`);
    expect((await tenantry('version', '--data', place('x'))).stdout).toBe(`Command:  tenantry ${version}\n`);
  });

  test('krt answers too', async () => {
    const { code, stdout } = await type(process.execPath, ['bin/krt', '--help']);
    expect(stdout).toContain('Usage: krt');
    expect(code).toBe(0);
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const script = [
      'source <("$NODE" bin/tenantry completion bash)',
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))',
      '_tenantry_completion; echo "${COMPREPLY[*]}"',
    ].join('\n');
    const { stdout, stderr } = await type('bash', ['-c', script, 'bash', 'tenantry', ...words], { NODE: process.execPath });
    expect(stderr).toBe('');
    return stdout.trim();
  };

  test.each([
    ['commands', ['st'], 'status'],
    ['options', ['kubeconfig', '--'], '--data --path'],
    ['values of an option', ['up', '--log-level', ''], 'debug info warn error'],
    ['values of an argument', ['completion', ''], 'bash zsh fish'],
    ['directories', ['up', '--data', 'sr'], 'src'],
    ['files', ['restore', 'ARCH'], 'ARCHITECTURE.md'],
  ])('of %s works in bash', async (_name, words, expected) => {
    expect(await complete(...words)).toBe(expected);
  });

  test.each(['zsh', 'fish'])('for %s names every command', async (shell) => {
    const { stdout } = await tenantry('completion', shell);
    for (const command of ['up', 'kubeconfig', 'status', 'backup', 'restore', 'version', 'completion']) expect(stdout).toContain(command);
  });
});

describe('an instance', () => {
  const data = place('instance');
  let engine: SpawnedEngine;
  beforeAll(async () => {
    engine = await spawnEngine(data);
    expect((await engine.target.request('POST', '/api/v1/namespaces/default/secrets', aSecret)).status).toBe(201);
  });
  afterAll(() => engine.stop());

  test('keeps its keys and its kubeconfig to its owner', async () => {
    // Lines of the audit log are gathered for a moment before they are written.
    await vi.waitUntil(() => existsSync(join(data, 'audit.log')), { timeout: 30_000 });
    const secret = [
      'kubeconfig',
      'audit.log',
      ...readdirSync(join(data, 'pki'))
        .filter((name) => name.endsWith('.key'))
        .map((name) => `pki/${name}`),
    ];
    expect(secret.length).toBeGreaterThan(6);
    for (const name of secret) expect([name, statSync(join(data, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(statSync(data).mode & 0o777).toBe(0o700);
  });

  test('writes Secrets to disk encrypted', () => {
    for (const name of readdirSync(join(data, 'store'))) {
      const bytes = readFileSync(join(data, 'store', name)).toString('latin1');
      for (const clear of ['open sesame', Buffer.from('open sesame').toString('base64')]) expect(bytes.includes(clear)).toBe(false);
    }
  });

  test('gives its kubeconfig', async () => {
    expect((await tenantry('kubeconfig', '--data', data, '--path')).stdout).toBe(`${join(data, 'kubeconfig')}\n`);
    expect((await tenantry('kubeconfig', '--data', data)).stdout).toContain(engine.target.url);
  });

  test('says how it is', async () => {
    const { code, stdout } = await tenantry('status', '--data', data);
    expect(stdout).toMatch(/^Ready: +yes$/m);
    expect(stdout).toContain(engine.target.url);
    expect(code).toBe(0);
    const json = JSON.parse((await tenantry('status', '--data', data, '-o', 'json')).stdout);
    expect(json).toMatchObject({ ready: true, server: engine.target.url, objects: { namespaces: 4 } });
    expect((await tenantry('version', '--data', data)).stdout).toContain(`Kubernetes API v1.35`);
  });

  test('holds its directory: a second up says who does', async () => {
    const { code, stderr } = await tenantry('up', '--data', data, '--port', '0');
    expect(stderr).toContain(`process ${engine.pid} holds it`);
    expect(stderr).toContain(`(it serves ${engine.target.url})`);
    expect(code).toBe(1);
  });

  test('does not take a port that is taken', async () => {
    const port = new URL(engine.target.url).port;
    const { code, stderr } = await tenantry('up', '--data', place('second'), '--port', port);
    expect(stderr).toBe(`tenantry: Cannot listen on 127.0.0.1:${port}: another program does; choose another --port, or 0 for a free one\n`);
    expect(code).toBe(1);
  });

  test('cannot be backed up to where there is no room for it', async () => {
    const { code, stderr } = await tenantry('backup', join(folder, 'nosuch', 'a.backup'), '--data', data);
    expect(stderr).toContain('Cannot write the backup');
    expect(code).toBe(1);
  });
});

describe('stopping', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('by %s takes no time, ends watches and keeps the data', async (signal) => {
    const data = place(signal);
    const engine = await spawnEngine(data);
    await engine.target.request('POST', '/api/v1/namespaces/default/secrets', aSecret);
    const watches = await Promise.all(Array.from({ length: 20 }, () => engine.target.watch('/api/v1/secrets?watch=true')));
    expect(watches.every(({ status }) => status === 200)).toBe(true);
    const before = Date.now();
    expect(await engine.stop(signal)).toBe(0);
    expect(Date.now() - before).toBeLessThan(3000);

    const stopped = await tenantry('status', '--data', data);
    expect(stopped.stderr).toMatch(/Cannot reach .*ECONNREFUSED/);
    expect(stopped.code).toBe(1);

    const again = await spawnEngine(data);
    expect((await again.target.request('GET', SECRET)).body.data.password).toBe(Buffer.from('open sesame').toString('base64'));
    expect(await again.stop()).toBe(0);
  });

  test('right behind the greeting loses no write and says nothing of it', async () => {
    const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', place('brief'), '--port', '0', '--node', 'none']);
    const said = text(child.stderr);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await said).toBe('');
  });
});

describe('up without a reader', () => {
  test('goes on when both its outputs are closed', async () => {
    const data = place('unread');
    const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0', '--node', 'none', '--log-level', 'debug']);
    const ended = once(child, 'exit');
    child.stdout.destroy();
    child.stderr.destroy();
    try {
      // A start that takes its time, and requests that are told in the log.
      await vi.waitUntil(async () => (await tenantry('status', '--data', data)).code === 0, { timeout: 15_000, interval: 100 });
      expect((await tenantry('status', '--data', data)).code).toBe(0);
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });
});

describe('backup and restore', () => {
  test('bring back objects, Secrets and every certificate that was given out', async () => {
    const [data, file, restored] = [place('origin'), place('monday.backup'), place('restored')];
    const engine = await spawnEngine(data);
    await engine.target.request('POST', '/api/v1/namespaces/default/secrets', aSecret);
    const { uid } = (await engine.target.request('GET', SECRET)).body.metadata;
    const made = await tenantry('backup', file, '--data', data);
    expect(made.stdout).toContain(`Wrote ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFileSync(join(data, 'pki', name), 'utf8'));
    await engine.kill();
    rmSync(data, { recursive: true });

    expect((await tenantry('restore', file, '--data', restored)).stdout).toMatch(/^Restored \d+ objects/);
    const again = await spawnEngine(restored);
    for (const [name, old] of [
      ['ca.crt', ca],
      ['admin.crt', cert],
      ['admin.key', key],
    ]) {
      expect(readFileSync(join(restored, 'pki', name), 'utf8')).toBe(old);
    }
    expect((await again.target.request('GET', SECRET)).body).toMatchObject({
      metadata: { uid },
      data: { password: Buffer.from('open sesame').toString('base64') },
    });
    expect(await again.stop()).toBe(0);

    const twice = await tenantry('restore', file, '--data', restored);
    expect(twice.stderr).toContain('it is not empty');
    expect(twice.code).toBe(1);
  });

  test.each([
    ['no backup', Buffer.from('a'.repeat(500)), 'was not made by `tenantry backup`'],
    ['the beginning of one', Buffer.from('tenantry-backup-1\n00000fff{'), 'it is no complete backup'],
  ])('refuse %s', async (_name, content, sentence) => {
    const file = place('broken.backup');
    writeFileSync(file, content);
    const { code, stderr } = await tenantry('restore', file, '--data', place('never'));
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
  });
});

describe('a data directory that is not as it was', () => {
  const origin = place('whole');
  beforeAll(async () => {
    const engine = await spawnEngine(origin);
    await engine.target.request('POST', '/api/v1/namespaces/default/secrets', aSecret);
    await engine.stop();
  });
  const spoilt = async (name: string, spoil: (data: string) => void) => {
    const data = place(name);
    await type('cp', ['-r', origin, data]);
    spoil(data);
    return { data, ...(await tenantry('up', '--data', data, '--port', '0')) };
  };
  const segment = (data: string) =>
    join(
      data,
      'store',
      readdirSync(join(data, 'store')).find((name) => name.startsWith('segment-'))!,
    );

  test('is refused when the store is damaged', async () => {
    const { code, stderr } = await spoilt('damaged', (data) => {
      const bytes = readFileSync(segment(data));
      bytes.fill(0xff, 20_000, 20_050);
      writeFileSync(segment(data), bytes);
    });
    expect(stderr).toMatch(/is damaged at byte \d+ and committed writes follow; restore a backup into an empty directory/);
    expect(code).toBe(1);
  });

  test('is refused when a newer release wrote it', async () => {
    const { code, stderr } = await spoilt('newer', (data) => {
      writeFileSync(join(data, 'store', 'format.json'), '{"kind":"tenantry-store","version":99}');
    });
    expect(stderr).toContain('its format 99 is newer than');
    expect(code).toBe(1);
  });

  test('says where the encryption key belongs when it is gone, and starts when it is back', async () => {
    const { data, code, stderr } = await spoilt('keyless', (directory) => rmSync(join(directory, 'pki', 'encryption.key')));
    expect(stderr).toContain(join(data, 'pki', 'encryption.key'));
    expect(code).toBe(1);
    copyFileSync(join(origin, 'pki', 'encryption.key'), join(data, 'pki', 'encryption.key'));
    const engine = await spawnEngine(data);
    expect((await engine.target.request('GET', SECRET)).status).toBe(200);
    await engine.stop();
  });

  test('takes a new encryption key on top and reads what the old one sealed', async () => {
    const data = place('rotated');
    await type('cp', ['-r', origin, data]);
    const keys = join(data, 'pki', 'encryption.key');
    writeFileSync(keys, `0badcafe ${Buffer.alloc(32, 7).toString('base64')}\n${readFileSync(keys, 'utf8')}`);
    const engine = await spawnEngine(data);
    expect((await engine.target.request('GET', SECRET)).status).toBe(200);
    await engine.stop();
  });

  test('is refused when the certificate authority is damaged', async () => {
    const { code, stderr } = await spoilt('unsigned', (data) => writeFileSync(join(data, 'pki', 'ca.crt'), 'junk'));
    expect(stderr).toContain('it or the key beside it is damaged; restore both files from one backup');
    expect(code).toBe(1);
  });

  test('is refused when it is a file', async () => {
    const file = place('a-file');
    writeFileSync(file, '');
    const { code, stderr } = await tenantry('up', '--data', file, '--port', '0');
    expect(stderr).toBe(`tenantry: Cannot use the data directory "${file}": it is a file; choose another one with --data\n`);
    expect(code).toBe(1);
  });
});

describe('without --port', () => {
  test('takes another one when the usual is taken, and says so', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => {
      blocker.once('error', () => resolve()); // Something else has the usual port: as good.
      blocker.listen(6443, '127.0.0.1', resolve);
    });
    try {
      const { code, stdout } = await type('timeout', [
        '-s',
        'INT',
        '5',
        process.execPath,
        'bin/tenantry',
        'up',
        '--data',
        place('elsewhere'),
      ]);
      expect(stdout).toContain('(port 6443 is taken by another program');
      expect(stdout).not.toContain('https://127.0.0.1:6443');
      expect(code).toBe(124);
    } finally {
      blocker.close();
    }
  });
});
