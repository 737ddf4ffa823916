export const GROUP = 'hnc.x-k8s.io';
export const VERSION = 'v1alpha2';
export const API_VERSION = `${GROUP}/${VERSION}`;
