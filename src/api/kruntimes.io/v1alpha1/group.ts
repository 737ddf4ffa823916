export const GROUP = 'kruntimes.io';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** A label value that is also a name: what a Runtime may be called. */
export const LABEL_NAME = '^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
export const DNS_SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
