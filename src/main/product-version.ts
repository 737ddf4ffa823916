declare const TENANTRY_VERSION: string | undefined;

/** The version of this package; the build writes it in. */
export function productVersion(): string {
  return typeof TENANTRY_VERSION === 'string' ? TENANTRY_VERSION : '0.0.0-source';
}
