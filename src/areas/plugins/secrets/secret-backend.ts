import type { Outcome } from '../../../runtime/steps/outcome.ts';
import type { Target } from '../installation/model/target.ts';

/** Where the secrets of plugins are kept, by path. */
export interface SecretBackend {
  /** Brings what these versions of one plugin need within reach of `read`. @returns why it cannot be done now */
  fetch(targets: readonly Target[]): Promise<Outcome | undefined>;
  /** The properties at a path, in base64. */
  read(path: string): Readonly<Record<string, string>> | undefined;
  /** Why nothing is at a path, where more is known, and how an administrator puts it there. */
  howToPut(path: string): string;
  /** All below a path are gone, as far as the platform has them. */
  removeBelow(prefix: string): Promise<void>;
}
