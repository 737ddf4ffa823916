import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { issueCertificate } from '../../../../lib/pki/certificate.ts';
import { authorityTemplate, crossFileOf, LEAF_LIFETIME_MS, newAuthority } from '../../../../lib/pki/ensure-pki.ts';
import { generateKeys } from '../../../../lib/pki/key-files.ts';
import { readIfPresent, replaceFile, syncDirectoryOf } from '../../../../lib/pki/private-file.ts';
import type { CertificatePair } from '../control-planes.ts';
import {
  NO_WISH,
  rotationStep,
  trustedUntil,
  type RotationReason,
  type RotationState,
  type RotationStep,
  type RotationWish,
} from './model/rotation-step.ts';

/** Those that are trusted and sign nothing any more: their keys are gone. */
interface Former {
  edition: number;
  until: number;
  certificates: Record<string, string>;
  serviceAccountPublicPem: string;
}

/** All of it is one file, so that each step of a rotation is one write. */
interface Written {
  edition: number;
  /** When these began to sign, and why. */
  since?: number;
  reason?: RotationReason;
  done: RotationWish;
  /** Leaves from before are made anew. */
  leavesSince?: number;
  /** When some were trusted for the last time. */
  forgotten?: number;
  signing: Record<string, CertificatePair>;
  serviceAccountKeyPem: string;
  /** Their certificates by those before them, the newest first. */
  cross: { by: number; certificates: Record<string, string> }[];
  formers: Former[];
}

export interface AuthorityPlaces {
  /** The file of the rotation: the platform's alone. */
  state: string;
  /** The folder of the keys that programs use. */
  keys: string;
  /** Names of the authorities' files, with the common names of the certificates. */
  authorities: Readonly<Record<string, string>>;
}

/** What became of the authorities of a control plane. */
export interface AuthorityNews {
  edition: number;
  reason?: RotationReason;
  /** When the last of those that sign begins and the first ends, and until when former ones are trusted, in milliseconds. */
  begins: number;
  ends: number;
  formersUntil?: number;
  /** The oldest edition that is trusted, and since when no older one is. */
  oldestTrusted: number;
  forgotten?: number;
  /** Those that sign were made as the last of before were forgotten: nobody can have certificates of both. */
  isCleanCut: boolean;
}

const SERVICE_ACCOUNTS = 'sa';
/** All of them are in every kubeconfig and every handshake; with another one the oldest goes. */
const MOST_FORMERS = 4;

/**
 * The authorities of one control plane, and the key of its service accounts. New ones sign from the moment on when they are made; those before them stay
 * trusted, and sign the new ones, so that who knows only them is not cut off. What is in the file is what counts: the files that programs read follow it.
 */
export class PlaneAuthorities {
  readonly #places: AuthorityPlaces;
  #written: Written;
  /** Of what is written: it is asked for with every change of the cluster. */
  #news: AuthorityNews | undefined;

  private constructor(places: AuthorityPlaces, written: Written) {
    this.#places = places;
    this.#written = written;
  }

  /** Undefined while there are none. @param born what was asked for when they were made, if that was just now */
  static async open(places: AuthorityPlaces, born: RotationWish = NO_WISH): Promise<PlaneAuthorities | undefined> {
    const text = await readIfPresent(places.state);
    if (text !== undefined) return new PlaneAuthorities(places, parse(text, places.state));
    const signing: Record<string, CertificatePair> = {};
    for (const name of Object.keys(places.authorities)) {
      const [certificatePem, keyPem] = await Promise.all([
        readIfPresent(join(places.keys, `${name}.crt`)),
        readIfPresent(join(places.keys, `${name}.key`)),
      ]);
      if (certificatePem === undefined || keyPem === undefined) return undefined;
      signing[name] = { certificatePem, keyPem };
    }
    const serviceAccountKeyPem = await readIfPresent(join(places.keys, `${SERVICE_ACCOUNTS}.key`));
    if (serviceAccountKeyPem === undefined) return undefined;
    const authorities = new PlaneAuthorities(places, { edition: 1, done: born, signing, serviceAccountKeyPem, cross: [], formers: [] });
    // So that it is not taken for a request later.
    if (Object.values(born).some((count) => count > 0)) await authorities.#write(authorities.#written);
    return authorities;
  }

  /** What a process must be started again for; undefined: as at first. */
  get trust(): string | undefined {
    const { edition, formers } = this.#written;
    return edition === 1 ? undefined : [edition, ...formers.map((former) => former.edition)].join(',');
  }

  get leavesSince(): number | undefined {
    return this.#written.leavesSince;
  }

  get news(): AuthorityNews {
    return (this.#news ??= this.#tell());
  }

  #tell(): AuthorityNews {
    const { edition, since, reason, signing, formers, forgotten } = this.#written;
    const isCleanCut = formers.length === 0 && forgotten !== undefined && forgotten === since;
    const formersUntil = formers.length === 0 ? undefined : Math.max(...formers.map(({ until }) => until));
    const oldestTrusted = Math.min(edition, ...formers.map((former) => former.edition));
    const begins = Math.max(
      ...Object.values(signing).map(({ certificatePem }) => Date.parse(new X509Certificate(certificatePem).validFrom)),
    );
    return { edition, reason, begins, ends: this.#state.ends, formersUntil, oldestTrusted, forgotten, isCleanCut };
  }

  /** Does what is to be done, and tells when to look again by the clock. */
  async advance(wish: RotationWish, now: number): Promise<number> {
    for (;;) {
      const step = rotationStep(this.#state, wish, now);
      if (step.do === 'nothing') return step.until;
      await this.#write(this.#after(step, wish, now));
    }
  }

  /** Makes the files that programs read what is written down. */
  async apply(): Promise<void> {
    const { keys } = this.#places;
    const { edition, signing, serviceAccountKeyPem, cross, formers } = this.#written;
    if (edition === 1) return;
    for (const [name, { certificatePem, keyPem }] of Object.entries(signing)) {
      await keep(join(keys, `${name}.key`), keyPem, 0o600);
      await keep(join(keys, `${name}.crt`), [certificatePem, ...formers.map(({ certificates }) => certificates[name])].join(''), 0o644);
      const crossPem = cross.map(({ certificates }) => certificates[name]).join('');
      if (crossPem === '') await rm(join(keys, crossFileOf(name)), { force: true });
      else await keep(join(keys, crossFileOf(name)), crossPem, 0o644);
    }
    await keep(join(keys, `${SERVICE_ACCOUNTS}.key`), serviceAccountKeyPem, 0o600);
    const publicPems = [publicPem(serviceAccountKeyPem), ...formers.map(({ serviceAccountPublicPem }) => serviceAccountPublicPem)];
    await keep(join(keys, `${SERVICE_ACCOUNTS}.pub`), publicPems.join(''), 0o644);
  }

  get #state(): RotationState {
    const { edition, signing, formers, done } = this.#written;
    const ends = Math.min(...Object.values(signing).map(({ certificatePem }) => endOf(certificatePem)));
    return { edition, ends, formers, done };
  }

  #after(step: Exclude<RotationStep, { do: 'nothing' }>, wish: RotationWish, now: number): Written {
    const before = this.#written;
    switch (step.do) {
      case 'rotate':
        return this.#rotated(step.reason, wish, now);
      case 'forget':
        return {
          ...before,
          ...(step.editions.length === 0 ? {} : { forgotten: now }),
          formers: before.formers.filter(({ edition }) => !step.editions.includes(edition)),
          cross: before.cross.filter(({ by }) => !step.editions.includes(by)),
          done: { ...before.done, revoke: Math.max(wish.revoke, before.done.revoke) },
        };
      case 'reissue':
        return { ...before, leavesSince: now, done: { ...before.done, certificates: wish.certificates } };
    }
  }

  #rotated(reason: RotationReason, wish: RotationWish, now: number): Written {
    const before = this.#written;
    const edition = before.edition + 1;
    const until = trustedUntil(this.#state.ends, LEAF_LIFETIME_MS, now);
    const signing: Record<string, CertificatePair> = {};
    const byFormer: Record<string, string> = {};
    for (const [name, { certificatePem, keyPem }] of Object.entries(before.signing)) {
      const { privateKey } = generateKeys();
      // Another name than before: who builds a chain by names alone must not take one for the other.
      const commonName = `${this.#places.authorities[name]}-${edition}`;
      signing[name] = {
        certificatePem: newAuthority(commonName, privateKey, now),
        keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      };
      const former = { certificate: new X509Certificate(certificatePem), key: createPrivateKey(keyPem) };
      byFormer[name] = issueCertificate(authorityTemplate(commonName, privateKey, now, until), former);
    }
    const former: Former = {
      edition: before.edition,
      until,
      certificates: Object.fromEntries(
        Object.entries(before.signing).map(([name, { certificatePem }]) => [name, new X509Certificate(certificatePem).toString()]),
      ),
      serviceAccountPublicPem: publicPem(before.serviceAccountKeyPem),
    };
    const formers = [former, ...before.formers].slice(0, MOST_FORMERS);
    const cross = [{ by: before.edition, certificates: byFormer }, ...before.cross].slice(0, formers.length);
    return {
      ...before,
      ...(formers.length > before.formers.length ? {} : { forgotten: now }),
      edition,
      since: now,
      reason,
      done: { ...before.done, authorities: Math.max(wish.authorities, before.done.authorities) },
      signing,
      serviceAccountKeyPem: generateKeys().privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      // Nobody believes one that has ended.
      cross: reason === 'Expired' ? [] : cross,
      formers,
    };
  }

  async #write(written: Written): Promise<void> {
    await replaceFile(this.#places.state, `${JSON.stringify(written)}\n`, 0o600);
    await syncDirectoryOf(this.#places.state);
    this.#written = written;
    this.#news = undefined;
  }
}

function parse(text: string, path: string): Written {
  try {
    return JSON.parse(text) as Written;
  } catch (cause) {
    throw new Error(`Cannot use the authorities in "${path}": the file is damaged; restore it from a backup`, { cause });
  }
}

function endOf(certificatePem: string): number {
  return Date.parse(new X509Certificate(certificatePem).validTo);
}

function publicPem(keyPem: string): string {
  return createPublicKey(keyPem).export({ type: 'spki', format: 'pem' }) as string;
}

async function keep(path: string, text: string, mode: number): Promise<void> {
  if ((await readIfPresent(path)) !== text) await replaceFile(path, text, mode);
}
