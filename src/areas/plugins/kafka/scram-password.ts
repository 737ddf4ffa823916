import { pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { iterationsFor } from './model/broker-difference.ts';

const derive = promisify(pbkdf2);
const KEY_BYTES = 64;
const SALT_BYTES = 32;

/** What a broker is given of a password, as SCRAM-SHA-512 has it: never the password. */
export async function saltedPassword(password: string): Promise<{ iterations: number; salt: Buffer; saltedPassword: Buffer }> {
  const iterations = iterationsFor(password);
  const salt = randomBytes(SALT_BYTES);
  return { iterations, salt, saltedPassword: await derive(password, salt, iterations, KEY_BYTES, 'sha512') };
}
