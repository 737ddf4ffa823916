import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import { CORE } from './authentication/token-authenticator.ts';
import type { TokenIssuer } from './token-issuer.ts';

const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
const NAMESPACES = { group: '', resource: 'namespaces' };

export interface TokenSecretOptions {
  writer: ObjectWriter;
  issuer: Pick<TokenIssuer, 'issueLegacy'>;
  /** PEM of the authority that clients verify this server by. */
  rootCa: string;
  onError(error: unknown): void;
}

/**
 * Fills Secrets of type kubernetes.io/service-account-token, and removes them with their account. Part of the server because
 * the signing key does not leave it.
 */
export class TokenSecrets {
  readonly #options: TokenSecretOptions;
  readonly #stops: (() => void)[] = [];
  #stopped = false;

  constructor(options: TokenSecretOptions) {
    this.#options = options;
  }

  start(): void {
    const { writer } = this.#options;
    this.#stops.push(
      writer.onChange(CORE.secrets, ({ type, object }) => {
        if (type !== 'DELETED' && object.type === TYPE) this.#run(this.#sync(object));
      }),
      writer.onChange(CORE.serviceAccounts, ({ type, object }) => {
        if (type === 'DELETED') this.#run(this.#removeOf(object));
      }),
    );
    this.#run(this.#catchUp());
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops) stop();
  }

  /** What was asked for before a crash and not answered. One namespace per turn of the event loop: there may be many Secrets. */
  async #catchUp(): Promise<void> {
    for (const { metadata } of this.#options.writer.list(NAMESPACES)) {
      await new Promise((resolve) => void setImmediate(resolve));
      if (this.#stopped) return;
      for (const secret of this.#options.writer.list(CORE.secrets, metadata.name)) if (secret.type === TYPE) await this.#sync(secret);
    }
  }

  async #sync(secret: KubeObject): Promise<void> {
    const { writer, issuer } = this.#options;
    const { namespace = '', name = '' } = secret.metadata;
    const account = this.#accountOf(secret);
    if (!account) return this.#remove(secret);
    if (!this.#lacks(secret)) return;
    await ignoringAbsence(
      writer.update(CORE.secrets, namespace, name, (draft) => {
        if (draft.metadata.uid !== secret.metadata.uid || !this.#lacks(draft)) return false;
        const data = (draft.data ??= {});
        data['ca.crt'] = base64(this.#options.rootCa);
        data.namespace ||= base64(namespace);
        data.token ||= base64(issuer.issueLegacy(account, name));
        draft.metadata.annotations = { ...draft.metadata.annotations, [ACCOUNT_UID]: account.metadata.uid! };
        return true;
      }),
    );
  }

  /** The account that the Secret names, unless it is another one of the same name by now. */
  #accountOf({ metadata }: KubeObject): KubeObject | undefined {
    const { [ACCOUNT_NAME]: name = '', [ACCOUNT_UID]: uid } = metadata.annotations ?? {};
    const account = this.#options.writer.get(CORE.serviceAccounts, metadata.namespace!, name);
    return account && (!uid || uid === account.metadata.uid) ? account : undefined;
  }

  #lacks({ data }: KubeObject): boolean {
    return !data?.token || !data.namespace || data['ca.crt'] !== base64(this.#options.rootCa);
  }

  async #removeOf(account: KubeObject): Promise<void> {
    const { namespace = '', name, uid } = account.metadata;
    for (const secret of this.#options.writer.list(CORE.secrets, namespace)) {
      const annotations = secret.metadata.annotations ?? {};
      const isIts = secret.type === TYPE && annotations[ACCOUNT_NAME] === name && annotations[ACCOUNT_UID] === uid;
      if (isIts) await this.#remove(secret);
    }
  }

  #remove({ metadata }: KubeObject): Promise<void> {
    return ignoringAbsence(this.#options.writer.delete(CORE.secrets, metadata.namespace!, metadata.name!));
  }

  #run(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#stopped) this.#options.onError(error);
    });
  }
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

async function ignoringAbsence(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
