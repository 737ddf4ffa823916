import { randomInt, randomUUID } from 'node:crypto';
import type { Random } from './backoff.ts';

/** Letters and digits that form no words and are not mistaken for each other: the alphabet of Kubernetes' generated names. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const GENERATED_SUFFIX_LENGTH = 5;
const MAX_NAME_LENGTH = 63;

export function newUid(): string {
  return randomUUID();
}

export function randomSuffix(length: number, random?: Random): string {
  let suffix = '';
  for (let i = 0; i < length; i++) {
    const index = random ? Math.floor(random() * SUFFIX_ALPHABET.length) : randomInt(SUFFIX_ALPHABET.length);
    suffix += SUFFIX_ALPHABET[index];
  }
  return suffix;
}

/** A name from metadata.generateName, cut as Kubernetes cuts it so that the whole stays a DNS label. */
export function generateName(base: string, random?: Random): string {
  return base.slice(0, MAX_NAME_LENGTH - GENERATED_SUFFIX_LENGTH) + randomSuffix(GENERATED_SUFFIX_LENGTH, random);
}
