import type { RegistryConfig } from '../lib/oci/registry-config.ts';

/** Those that everybody expects: a resolver is never told a port. */
export const SERVICE_PORTS = { names: 53, images: 5000 } as const;

export interface ServeMessage {
  type: 'serve';
  addresses: string[];
  /** Without what is not for tenants. */
  registries: RegistryConfig;
}

export interface ServedMessage {
  type: 'served';
  /** Addresses, and why not. */
  failed: [string, string][];
}
