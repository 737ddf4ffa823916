import { join } from 'node:path';

/** Images that the operator has given to tenants, for workers of their clusters. */
export function sharedImagesFolder(data: string): string {
  return join(data, 'clusters', 'shared-images');
}
