import { byteLength } from './go-text.ts';
import { maxLengthError, rangeError } from './names.ts';

/** Numbers and names of ports, and the ids of users and groups: messages of what is wrong, none if it is right. */

export function isPortNumber(port: number): string[] {
  return isInRange(port, 1, 65535);
}

export function isInRange(value: number, low: number, high: number): string[] {
  return value >= low && value <= high ? [] : [rangeError(low, high)];
}

/** For runAsUser, runAsGroup, fsGroup. */
export function isUserOrGroupId(id: number): string[] {
  return isInRange(id, 0, 2147483647);
}

/** An IANA service name: what a Pod's port or a probe may be called. */
export function isPortName(name: string): string[] {
  const messages: string[] = [];
  if (byteLength(name) > 15) messages.push(maxLengthError(15));
  if (!/^[-a-z0-9]+$/.test(name)) messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) messages.push('must contain at least one letter (a-z)');
  if (name.includes('--')) messages.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) messages.push('must not begin or end with a hyphen');
  return messages;
}
