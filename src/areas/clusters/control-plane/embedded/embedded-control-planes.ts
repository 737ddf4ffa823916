import type { Clock } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import type { PlaneGroups } from '../process/plane-groups.ts';
import type { PlaneKind } from '../process/plane-kind.ts';
import { ProcessControlPlanes } from '../process/process-control-planes.ts';
import { addEncryptionKeys } from '../process/owner-keys.ts';
import { replaceObjects } from '../process/replace-objects.ts';
import { ensureClusterKeys } from './cluster-keys.ts';

export interface EmbeddedOptions {
  /** The folder of all clusters. */
  root: string;
  /** The program of a control plane. */
  program: string;
  /** Of the product: a process of another version is replaced. */
  productVersion: string;
  /** Where endpoints listen that have no address of their own. */
  address: string;
  /** Of the Service `kubernetes` inside. */
  serviceAddress: string;
  groups?: PlaneGroups;
  maxBackupBytes?: number;
  clock: Clock;
  log: Log;
}

/** Control planes that are instances of our own engine, each a process of its own on this machine. */
export class EmbeddedControlPlanes extends ProcessControlPlanes {
  constructor(options: EmbeddedOptions) {
    super(embeddedKind(options), options);
  }
}

function embeddedKind({ program, productVersion, serviceAddress }: EmbeddedOptions): PlaneKind {
  return {
    provider: 'embedded',
    program,
    files: [],
    loadsAhead: true,
    needs: { memoryBytes: 1024 ** 3, leastMemoryBytes: 192 * 1024 ** 2, pids: 256 },
    authorities: { ca: 'tenantry-ca', 'front-proxy-ca': 'tenantry-front-proxy-ca' },
    ensureKeys: (wanted, { id, folders, address }, clock, leavesSince) =>
      ensureClusterKeys(folders.pki(id), wanted, { address, serviceAddress }, clock, leavesSince),
    go: (_wanted, { record, address }) => ({ address, port: record.port, productVersion }),
    restore: ({ id }, { folders, record: { user } }, source, signal) => {
      const keepKeys = async (encryptionKeys: string) => {
        await addEncryptionKeys(folders.pki(id), encryptionKeys);
        await folders.shareKeys(id, user);
      };
      return replaceObjects({ program, user, folder: folders.data(id), logPath: folders.log(id) }, source, keepKeys, signal);
    },
  };
}
