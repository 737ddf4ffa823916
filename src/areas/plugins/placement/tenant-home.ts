import type { Client } from '../../../client/client.ts';

/** The cluster that a tenant lives in, while it answers. */
export interface TenantHome {
  cluster: string;
  /** With all rights there. */
  client: Client;
  endpoint: string;
  authorityPem: string;
  /** How many workers it is to have. */
  workers: number;
}

/** Who knows where tenants live. Nobody: all of them live on the host. */
export interface TenantHomes {
  of(tenant: string): TenantHome | undefined;
  /** Its cluster sleeps, or is gone: nothing runs in it. */
  isStill(tenant: string): boolean;
  /** @returns how to stop listening */
  onChange(listener: (tenant: string) => void): () => void;
}

export const NO_HOMES: TenantHomes = { of: () => undefined, isStill: () => false, onChange: () => () => {} };
