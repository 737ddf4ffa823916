import { PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { LogPosition, ServerLog } from '../database/server-log.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';
import type { AttemptSource, Report } from './attempt-source.ts';
import { databaseAttempt, isRefusal, type DatabaseOwners, type DatabaseRefusal } from './model/database-attempt.ts';

/** Where it is kept how far the log was read. */
const POSITION = 'plugin-audit';
const KEY = 'postgres-log';
/** Nothing announces a line of a log. */
const EVERY_MS = 3_000;
/** Of one round: under a flood the rest is read in the next ones, or is too old by then. */
const MAX_PARTS = 32;

export interface DatabaseSourceOptions {
  client: Client;
  clock: Clock;
  log: Log;
  owners: DatabaseOwners;
  report: Report;
  /** What was reported is kept. */
  flush(): Promise<void>;
  /** Of the server that plugins use now; undefined while none is used. */
  serverLog(): ServerLog | undefined;
}

/** What PostgreSQL refused plugins, out of its log. */
export class DatabaseSource implements AttemptSource {
  readonly #options: DatabaseSourceOptions;
  #timer: Timer | undefined;
  #round: Promise<void> | undefined;
  #position: LogPosition | undefined;
  #isRead = false;
  #isSilent = false;
  #stopped = false;
  #current: ServerLog | undefined;

  constructor(options: DatabaseSourceOptions) {
    this.#options = options;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#round;
    await this.#current?.close();
  }

  /** Reads what is new. */
  async read(): Promise<void> {
    const server = this.#options.serverLog();
    if (!server) return;
    if (this.#current !== server) await this.#current?.close();
    this.#current = server;
    if (!this.#isRead) this.#position = await this.#readPosition();
    this.#isRead = true;
    let found = 0;
    for (let parts = 0; parts < MAX_PARTS; parts++) {
      const part = await server.read(this.#position);
      if (!part) return this.#saySilent();
      found += this.#reportAll(part.lines);
      this.#position = part.position;
      if (!part.hasMore) break;
    }
    if (found === 0) return;
    // What is said to be read is kept: a crash in between has it counted twice, never lost.
    await this.#options.flush();
    await this.#keepPosition();
  }

  #reportAll(lines: readonly string[]): number {
    const { owners, report } = this.#options;
    let found = 0;
    for (const line of lines) {
      if (!isRefusal(line)) continue;
      const attempt = databaseAttempt(JSON.parse(line) as DatabaseRefusal, owners);
      if (attempt) report(attempt);
      if (attempt) found++;
    }
    return found;
  }

  #saySilent(): void {
    if (this.#isSilent) return;
    this.#isSilent = true;
    this.#options.log.warn(
      'PostgreSQL does not show what it refuses plugins; set logging_collector = on and log_destination = jsonlog, and let the administrator of the DSN be a superuser',
    );
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.setTimer(EVERY_MS, () => {
      this.#round = this.read()
        .catch((error: unknown) => this.#options.log.debug('cannot read the log of PostgreSQL', { error }))
        .finally(() => this.#schedule());
    });
  }

  async #readPosition(): Promise<LogPosition | undefined> {
    try {
      const found = await this.#options.client.resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE).get(POSITION);
      const [, offset, file] = /^(\d+) (.+)$/.exec(String(found.data?.[KEY])) ?? [];
      return file === undefined ? undefined : { file, offset: Number(offset) };
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async #keepPosition(): Promise<void> {
    const { file, offset } = this.#position!;
    const object = { metadata: { name: POSITION, namespace: PLATFORM_NAMESPACE }, data: { [KEY]: `${offset} ${file}` } };
    await this.#options.client.resource(ConfigMap, PLATFORM_NAMESPACE).apply(object, { fieldManager: FIELD_MANAGER, force: true });
  }
}
