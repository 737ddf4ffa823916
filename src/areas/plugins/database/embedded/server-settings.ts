/** The one role that is not a plugin's. */
export const SUPERUSER = 'tenantry';

export const LOOPBACK = '127.0.0.1';

/** As its superuser, on the same machine. */
export function embeddedDsn({ password, port }: { password: string; port: number }): string {
  return `postgresql://${SUPERUSER}:${password}@${LOOPBACK}:${port}/postgres`;
}

export interface ServerPlace {
  port: number;
  /** Addresses to listen on. */
  addresses: readonly string[];
}

/** How the server runs: small, on these addresses only, with a log that a program reads. */
export function serverFlags({ port, addresses }: ServerPlace): string[] {
  const settings: Record<string, string | number> = {
    port,
    listen_addresses: addresses.join(','),
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '32MB',
    // Small and many databases: a worker each now and then is enough.
    autovacuum_naptime: '5min',
    max_wal_size: '256MB',
    password_encryption: 'scram-sha-256',
    // Refusals are read from here; statements and the values in them are nobody's business.
    logging_collector: 'on',
    log_destination: 'jsonlog',
    log_directory: 'log',
    log_filename: 'postgres-%Y%m%d-%H%M%S',
    log_rotation_size: '8MB',
    log_rotation_age: '1d',
    log_min_messages: 'error',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_timezone: 'UTC',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Who may come from where. The superuser comes from this machine only, and everybody with a password. */
export const ACCESS_RULES = [
  `host all ${SUPERUSER} ${LOOPBACK}/32 scram-sha-256`,
  `host all ${SUPERUSER} all reject`,
  'host all all all scram-sha-256',
  '',
].join('\n');
