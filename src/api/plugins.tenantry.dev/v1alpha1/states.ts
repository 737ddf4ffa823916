/** The states of a version, and what may follow what. A table, so that nothing else decides. */
export const VERSION_STATES = ['DRAFT', 'SIGNED', 'VERIFIED', 'REVOKED'] as const;
export type VersionState = (typeof VERSION_STATES)[number];

export const VERSION_TRANSITIONS: Record<VersionState, readonly VersionState[]> = {
  DRAFT: ['SIGNED'],
  SIGNED: ['VERIFIED', 'DRAFT'],
  VERIFIED: ['REVOKED'],
  // A key that comes back, or a new signature by a good one.
  REVOKED: ['VERIFIED'],
};

export const INSTALLATION_STATES = ['INSTALLING', 'ACTIVE', 'UPGRADING', 'FAILED', 'ROLLED_BACK', 'SUSPENDED', 'UNINSTALLING'] as const;
export type InstallationState = (typeof INSTALLATION_STATES)[number];

export const INSTALLATION_TRANSITIONS: Record<InstallationState, readonly InstallationState[]> = {
  INSTALLING: ['ACTIVE', 'FAILED', 'SUSPENDED', 'UNINSTALLING'],
  ACTIVE: ['UPGRADING', 'SUSPENDED', 'FAILED', 'ROLLED_BACK', 'UNINSTALLING'],
  UPGRADING: ['ACTIVE', 'ROLLED_BACK', 'SUSPENDED', 'FAILED', 'UNINSTALLING'],
  // Not the end: a new signature, a new version or a repaired backend leads out of it.
  FAILED: ['INSTALLING', 'UPGRADING', 'ROLLED_BACK', 'SUSPENDED', 'UNINSTALLING'],
  /** The old version is at work again; the next upgrade starts from here. */
  ROLLED_BACK: ['UPGRADING', 'ACTIVE', 'SUSPENDED', 'FAILED', 'UNINSTALLING'],
  SUSPENDED: ['ACTIVE', 'INSTALLING', 'UPGRADING', 'ROLLED_BACK', 'FAILED', 'UNINSTALLING'],
  UNINSTALLING: [],
};

export function mayFollow<S extends string>(table: Record<S, readonly S[]>, from: S | undefined, to: S): boolean {
  return from === undefined || from === to || table[from].includes(to);
}
