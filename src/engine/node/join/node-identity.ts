import type { Client } from '../../../client/client.ts';
import type { KeyPair } from '../../../client/config/credentials.ts';
import { isStatusError } from '../../../kube/status.ts';
import { isTransportError } from '../../../client/transport-error.ts';
import { Backoff, type Random } from '../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { errorText, type Log } from '../../../lib/log.ts';
import { longLivedController, sleep } from '../../../lib/abort.ts';
import { NODE_CLIENT, NODE_SERVER } from '../../../lib/pki/ensure-node-certificates.ts';
import { generateKeys, KeyFiles } from '../../../lib/pki/key-files.ts';
import { isOfFirst } from './node-trust.ts';
import { objectionTo, renewalTime, type HeldPair, type Wanted } from './renewal.ts';
import { KUBELET_CLIENT_SIGNER, KUBELET_SERVING_SIGNER, requestCertificate, type CertificateWish } from './request-certificate.ts';

export interface NodeIdentityOptions {
  /** Where its keys are kept. */
  directory: string;
  name: string;
  addresses: readonly string[];
  /** Whom it takes for its cluster; the first one signs. */
  authorities(): string;
  /** As who has the token; undefined: there is none, and a certificate has to be there. */
  bootstrapClient: (() => Client) | undefined;
  /** As the node, with whatever `client()` gives. */
  nodeClient(): Client;
  clock: Clock;
  random: Random;
  log: Log;
}

const RETRY = { initialMs: 100, maxMs: 5000, jitter: 0.2 };
const RENEW_AGAIN_MS = 30_000;
/** A timer of Node's cannot wait for longer. */
const LONGEST_WAIT_MS = 24 * 3600 * 1000;

/**
 * Who a node is to its cluster: a key that never leaves it, with a certificate that the cluster gave it for a token; and the certificate of its own
 * server. Both are kept over restarts and renewed before they end.
 */
export class NodeIdentity {
  readonly #options: NodeIdentityOptions;
  readonly #files: KeyFiles;
  readonly #stopping = longLivedController();
  #client: Promise<HeldPair> | undefined;
  #serving: Promise<HeldPair> | undefined;
  #onServing: ((pair: HeldPair) => void) | undefined;
  readonly #timers = new Map<string, Timer>();

  constructor(options: NodeIdentityOptions) {
    this.#options = options;
    this.#files = new KeyFiles(options.directory);
  }

  /** What it shows to the API server. @throws Error when it may not join */
  async client(): Promise<KeyPair> {
    const { certificatePem: cert, keyPem: key } = await (this.#client ??= this.#ensureClient());
    return { cert, key };
  }

  /** What its own server shows. */
  serving(): Promise<HeldPair> {
    return (this.#serving ??= this.#ensureServing());
  }

  /** Told when the certificate of its server was renewed. */
  onServing(listener: (pair: HeldPair) => void): void {
    this.#onServing = listener;
  }

  /** What was not signed by the authority that signs now is made anew, without waiting for its end. */
  async authoritiesChanged(): Promise<void> {
    const [client, serving] = await Promise.all([this.#client, this.#serving]);
    const isOld = (pair: HeldPair | undefined) => pair !== undefined && !isOfFirst(pair.certificatePem, this.#options.authorities());
    for (const file of [...(isOld(client) ? [NODE_CLIENT] : []), ...(isOld(serving) ? [NODE_SERVER] : [])]) {
      this.#timers.get(file)?.cancel();
      this.#renew(file);
    }
  }

  stop(): void {
    this.#stopping.abort();
    for (const timer of this.#timers.values()) timer.cancel();
  }

  async #ensureClient(): Promise<HeldPair> {
    const { bootstrapClient, name, clock } = this.#options;
    const held = await this.#files.read(NODE_CLIENT);
    const objection = objectionTo(held, { ...this.#wanted, addresses: [] }, clock.now());
    if (objection === undefined) return this.#followed(NODE_CLIENT, held as HeldPair);
    if (bootstrapClient === undefined) {
      throw new Error(`Cannot join as node "${name}": its certificate is of no use, ${objection}; give it a token (--token)`);
    }
    const client = bootstrapClient();
    try {
      return await this.#untilReached(() => this.#request(NODE_CLIENT, client));
    } catch (error) {
      if (!isStatusError(error, 'Unauthorized')) throw error;
      throw new Error(`Cannot join as node "${name}": the token is not valid, or no longer; ask for a new one`, { cause: error });
    } finally {
      await client.close();
    }
  }

  async #ensureServing(): Promise<HeldPair> {
    const held = await this.#files.read(NODE_SERVER);
    if (objectionTo(held, this.#wanted, this.#options.clock.now()) === undefined) return this.#followed(NODE_SERVER, held as HeldPair);
    await this.client();
    return this.#untilReached(() => this.#request(NODE_SERVER, this.#options.nodeClient()));
  }

  /** A machine may be up before its network is, or before its control plane. */
  async #untilReached<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, log, random } = this.#options;
    const backoff = new Backoff({ ...RETRY, random });
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!isTransportError(error) && !(isStatusError(error) && error.code >= 500)) throw error;
        log.info('the cluster cannot be asked for a certificate just now, will try again', { error: errorText(error) });
      }
      await sleep(clock, backoff.next(), this.#stopping.signal);
    }
  }

  get #wanted(): Wanted {
    const { name, addresses, authorities } = this.#options;
    return { name, addresses, authorityPem: authorities() };
  }

  async #request(file: string, client: Client): Promise<HeldPair> {
    const { name, addresses, log } = this.#options;
    const signerName: CertificateWish['signerName'] = file === NODE_CLIENT ? KUBELET_CLIENT_SIGNER : KUBELET_SERVING_SIGNER;
    const keys = generateKeys();
    const certificatePem = await requestCertificate(client, { signerName, name, addresses }, keys, {
      signal: this.#stopping.signal,
      waits: (request) => log.info('waiting for a certificate to be approved', { request, signerName }),
    });
    const objection = objectionTo(
      { certificatePem, keyPem: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string },
      { ...this.#wanted, addresses: file === NODE_CLIENT ? [] : addresses },
      this.#options.clock.now(),
    );
    if (objection !== undefined) throw new Error(`Cannot use the certificate that the cluster gave to node "${name}": ${objection}`);
    const pair = await this.#files.writePair(file, certificatePem, keys.privateKey);
    await this.#files.flush();
    return this.#followed(file, pair);
  }

  #followed(file: string, pair: HeldPair): HeldPair {
    const { clock, random } = this.#options;
    const due = renewalTime(pair.certificatePem, random);
    const wait = (): void => {
      const left = due - clock.now();
      const timer = clock.setTimer(Math.min(Math.max(left, 0), LONGEST_WAIT_MS), () => (clock.now() < due ? wait() : this.#renew(file)));
      this.#timers.set(file, timer);
    };
    wait();
    return pair;
  }

  #renew(file: string): void {
    this.#request(file, this.#options.nodeClient()).then(
      (pair) => {
        if (file === NODE_CLIENT) this.#client = Promise.resolve(pair);
        else {
          this.#serving = Promise.resolve(pair);
          this.#onServing?.(pair);
        }
        this.#options.log.info('a certificate of the node was renewed', { file });
      },
      (error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#options.log.warn('a certificate of the node cannot be renewed, will try again', { file, error: errorText(error) });
        this.#timers.set(
          file,
          this.#options.clock.setTimer(RENEW_AGAIN_MS, () => this.#renew(file)),
        );
      },
    );
  }
}
