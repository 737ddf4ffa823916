/** What a registry did wrong, or what kept us from it. The message completes "Cannot pull X: ". */
export class RegistryError extends Error {
  /** Whether the same request may work a moment later. */
  readonly retry: 'no' | 'yes' | 'after-progress';
  readonly retryAfterMs: number | undefined;
  /** What it answered, if it did. */
  readonly status: number | undefined;

  constructor(message: string, options: ErrorOptions & { retry?: RegistryError['retry']; retryAfterMs?: number; status?: number } = {}) {
    super(message, options);
    this.retry = options.retry ?? 'no';
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}

const MAX_SHOWN = 200;

/** An answer that is none of those asked for, in words. */
export function statusError(host: string, status: number, statusText: string, body: string, retryAfter: string | undefined): RegistryError {
  const said = `${host} answered ${status} ${statusText}${registryWords(body)}`;
  if (status === 401 || status === 403) {
    return new RegistryError(
      `unauthorized (${said}); it is private or does not exist: check its name, or give the Pod an imagePullSecret that may read it`,
      { status },
    );
  }
  if (status === 404) return new RegistryError(`not found (${said}); check its name and tag`, { status });
  if (status === 429) {
    const retryAfterMs = waitOf(retryAfter);
    return new RegistryError(`too many requests (${said}); log in with an imagePullSecret or wait`, { retry: 'yes', retryAfterMs, status });
  }
  if (status >= 500)
    return new RegistryError(`the registry has a problem (${said})`, { retry: 'yes', retryAfterMs: waitOf(retryAfter), status });
  return new RegistryError(`the registry refused (${said})`, { status });
}

/** The code of a failed connection, in words and with what to do. */
export function connectionError(host: string, cause: NodeJS.ErrnoException): RegistryError {
  const { code = '', message } = cause;
  if (code === 'ECONNREFUSED') return new RegistryError(`${host} refuses connections (ECONNREFUSED); is the registry running?`, { cause });
  if (code === 'ENOTFOUND')
    return new RegistryError(`the host ${host} is not known (ENOTFOUND); check the name of the registry`, { cause });
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || message.includes('wrong version number')) {
    return new RegistryError(
      `${host} does not speak TLS; if plain HTTP is what you want, say \`insecure: true\` for it in registries.yaml`,
      { cause },
    );
  }
  if (code.startsWith('ERR_TLS_') || /CERT|SELF_SIGNED|ISSUER/.test(code)) {
    return new RegistryError(`the certificate of ${host} is not trusted (${message}); name its authority as \`ca\` in registries.yaml`, {
      cause,
    });
  }
  return new RegistryError(`the connection to ${host} failed (${message})`, { cause, retry: 'yes' });
}

/** `{"errors": [{"code": "NAME_UNKNOWN", "message": "..."}]}`; anything else is not shown, it may be a web page. */
function registryWords(body: string): string {
  try {
    const [first] = (JSON.parse(body) as { errors: { code?: unknown; message?: unknown }[] }).errors;
    const words = [first.code, first.message].filter((word) => typeof word === 'string' && word !== '').join(': ');
    // oxlint-disable-next-line no-control-regex -- what a stranger says goes to terminals
    return words === '' ? '' : `, ${words.slice(0, MAX_SHOWN).replace(/[\x00-\x1f\x7f]/g, ' ')}`;
  } catch {
    return '';
  }
}

function waitOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined || !/^\d{1,9}$/.test(retryAfter.trim())) return undefined;
  return Number(retryAfter) * 1000;
}
