import { createHash, X509Certificate } from 'node:crypto';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { errorText, type Log } from '../../../lib/log.ts';
import { isIssuedBy } from '../../../lib/pki/issued-by.ts';
import { readIfPresent, replaceFile } from '../../../lib/pki/private-file.ts';
import { repeatedly } from '../../../lib/repeatedly.ts';
import { authoritiesIn } from './renewal.ts';

export interface NodeTrustOptions {
  /** Where it is kept over restarts. */
  path: string;
  /** What the node was told when it was made to join. */
  given: string;
  client(): Client;
  clock: Clock;
  log: Log;
}

const NAMESPACE = 'kube-system';
const NAME = 'kube-root-ca.crt';
/** Former authorities are trusted, and vouch for new ones, for long: nothing has to be quick. */
const LOOK_MS = 5 * 60_000;

/**
 * Whom a node takes for its cluster. It begins with what it was told, and follows what the cluster says of itself, to those who know it already, as far as
 * those who are known vouch for it. The first authority is the one that signs.
 */
export class NodeTrust {
  readonly #options: NodeTrustOptions;
  #pem: string;
  #timer: Timer | undefined;
  readonly #listeners = new Set<() => void>();

  private constructor(options: NodeTrustOptions, pem: string) {
    this.#options = options;
    this.#pem = pem;
  }

  static async open(options: NodeTrustOptions): Promise<NodeTrust> {
    return new NodeTrust(options, keptFor(options.given, await readIfPresent(options.path)) ?? options.given);
  }

  get pem(): string {
    return this.#pem;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  start(): void {
    this.#timer = repeatedly(this.#options.clock, LOOK_MS, () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Asks the cluster. */
  async look(): Promise<void> {
    const { client, path, given, log } = this.#options;
    try {
      const pem = (await client().resource(ConfigMap, NAMESPACE).get(NAME)).data?.['ca.crt'];
      if (pem === undefined || pem === this.#pem) return;
      if (!isVouchedFor(pem, this.#pem)) {
        log.warn('the cluster names authorities that none of the known ones vouches for, stays with those', {
          object: `${NAMESPACE}/${NAME}`,
        });
        return;
      }
      await replaceFile(path, `${JSON.stringify({ given: digestOf(given), pem })}\n`, 0o600);
      this.#pem = pem;
    } catch (error) {
      // Nodes of other clusters may not read it; they are told by whoever has them join.
      if (!isStatusError(error, 'Forbidden') && !isStatusError(error, 'NotFound'))
        log.info('the authorities of the cluster cannot be asked for just now, will try again', { error: errorText(error) });
      return;
    }
    log.info('the cluster has other authorities', { authorities: authoritiesIn(this.#pem).map(({ subject }) => subject) });
    for (const listener of this.#listeners) listener();
  }
}

/** What was kept counts for as long as the node was told nothing else: who has it join again may have revoked it. */
function keptFor(given: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const kept = JSON.parse(text) as { given: string; pem: string };
    return kept.given === digestOf(given) && isBundle(kept.pem) ? kept.pem : undefined;
  } catch {
    return undefined;
  }
}

function isBundle(pem: string): boolean {
  try {
    return authoritiesIn(pem).length > 0;
  } catch {
    return false;
  }
}

/**
 * Whether one of these authorities is known, or signed by one that is. Who may write into the cluster may write nonsense; a node that took it would believe
 * nobody any more, and could not be told better.
 */
function isVouchedFor(pem: string, knownPem: string): boolean {
  try {
    const known = authoritiesIn(knownPem);
    return authoritiesIn(pem).some((authority) =>
      known.some((one) => one.fingerprint256 === authority.fingerprint256 || (authority.ca && isIssuedBy(authority, one))),
    );
  } catch {
    return false;
  }
}

function digestOf(pem: string): string {
  return createHash('sha256').update(pem).digest('hex');
}

/** Whether it was signed by the authority that signs now. */
export function isOfFirst(certificatePem: string, authorityPem: string): boolean {
  const certificate = new X509Certificate(certificatePem);
  const [first] = authoritiesIn(authorityPem);
  return isIssuedBy(certificate, first);
}
