import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { PluginDatabases } from './plugin-databases.ts';

/** The entry of the platform's settings that says how to reach PostgreSQL. */
export const DSN_KEY = 'postgres-dsn';

/** The server that the platform's settings name, when they name one. */
export class PlatformDatabase {
  readonly settings: Informer;
  #known: { dsn: string; databases: PluginDatabases } | undefined;

  constructor(settings: Informer) {
    this.settings = settings;
  }

  current(): PluginDatabases | undefined {
    const encoded = this.settings.find(PLATFORM_NAMESPACE, PLATFORM_SETTINGS)?.data?.[DSN_KEY] as string | undefined;
    if (encoded === undefined) return undefined;
    const dsn = Buffer.from(encoded, 'base64').toString().trim();
    if (this.#known?.dsn !== dsn) this.#known = { dsn, databases: new PluginDatabases(checked(dsn)) };
    return this.#known.databases;
  }

  async addresses(): Promise<readonly { cidr: string; port: number }[]> {
    return (await this.current()?.addresses()) ?? [];
  }
}

/** Not a word of it in the message: there is a password in it. */
function checked(dsn: string): string {
  if (/^postgres(ql)?:$/.test(URL.parse(dsn)?.protocol ?? '')) return dsn;
  const place = `${DSN_KEY} of the Secret ${PLATFORM_NAMESPACE}/${PLATFORM_SETTINGS}`;
  throw new Error(`Cannot reach PostgreSQL: ${place} is no address; write postgresql://user:password@host:port/postgres`);
}
