import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { errorText } from '../../../lib/log.ts';
import { PluginDatabases } from './plugin-databases.ts';
import { ServerLog } from './server-log.ts';

/** The entry of the platform's settings that says how to reach PostgreSQL. */
export const DSN_KEY = 'postgres-dsn';

/** A server that answers. */
export interface OpenDatabase {
  /** As its administrator. */
  dsn: string;
  /** How Pods call the machine that it is on. */
  host: string;
}

export interface DatabaseAddress {
  cidr: string;
  port: number;
}

/** A server of the platform's own, started when it is first asked for. */
export interface EmbeddedDatabase {
  open(): Promise<OpenDatabase>;
  stop(): Promise<void>;
}

/** Why there is no database now; it may come. */
export class DatabaseUnavailable extends Error {
  /** A server is named, or could be started; otherwise nothing can be anywhere. */
  readonly isConfigured: boolean;

  constructor(message: string, options: ErrorOptions & { isConfigured?: boolean } = {}) {
    super(message, options);
    this.name = 'DatabaseUnavailable';
    this.isConfigured = options.isConfigured ?? true;
  }
}

const SETTING = `${DSN_KEY} of the Secret ${PLATFORM_NAMESPACE}/${PLATFORM_SETTINGS}`;
const HOW = `put postgresql://user:password@host:port/postgres into ${SETTING}`;

/** The server that the platform's settings name, else the one of its own. */
export class PlatformDatabase {
  readonly settings: Informer;
  readonly #embedded: EmbeddedDatabase | undefined;
  #known: { id: string; databases: PluginDatabases; log: ServerLog; addresses?: readonly DatabaseAddress[] } | undefined;

  constructor(settings: Informer, embedded?: EmbeddedDatabase) {
    this.settings = settings;
    this.#embedded = embedded;
  }

  /** @throws DatabaseUnavailable that says what to do */
  async open(): Promise<PluginDatabases> {
    const encoded = this.settings.find(PLATFORM_NAMESPACE, PLATFORM_SETTINGS)?.data?.[DSN_KEY] as string | undefined;
    if (encoded !== undefined) return this.#with({ dsn: checked(Buffer.from(encoded, 'base64').toString().trim()) });
    if (!this.#embedded) throw new DatabaseUnavailable(`none is configured; ${HOW}`, { isConfigured: false });
    try {
      return this.#with(await this.#embedded.open());
    } catch (error) {
      throw new DatabaseUnavailable(`${errorText(error)}; or ${HOW}`, { cause: error });
    }
  }

  /** Where it answers, as network policies name it. @throws DatabaseUnavailable */
  async addresses(): Promise<readonly DatabaseAddress[]> {
    const databases = await this.open();
    const known = this.#known!;
    try {
      return (known.addresses = await databases.addresses());
    } catch (error) {
      // Nobody is cut off because names cannot be looked up for a moment.
      if (known.addresses) return known.addresses;
      throw new DatabaseUnavailable(`the address of its server is not known: ${errorText(error)}`, { cause: error });
    }
  }

  /** The log of the server that plugins use now; nothing is started for it. */
  serverLog(): ServerLog | undefined {
    return this.#known?.log;
  }

  async stop(): Promise<void> {
    await this.#embedded?.stop();
  }

  #with(server: { dsn: string; host?: string }): PluginDatabases {
    const id = `${server.dsn} ${server.host}`;
    if (this.#known?.id !== id) this.#known = { id, databases: new PluginDatabases(server), log: new ServerLog(server.dsn) };
    return this.#known.databases;
  }
}

/** Not a word of it in the message: there is a password in it. */
function checked(dsn: string): string {
  if (/^postgres(ql)?:$/.test(URL.parse(dsn)?.protocol ?? '')) return dsn;
  throw new DatabaseUnavailable(`${SETTING} is no address; write postgresql://user:password@host:port/postgres`);
}
