import type { Json } from '../../src/kube/object.ts';
import type { Server } from './server.ts';

export interface OpenApiDocuments {
  v2: Json;
  /** By path below /openapi/v3: `api/v1`, `apis/apps/v1`, `version` ... */
  v3: Record<string, Json>;
}

/** The documents as the server publishes them, descriptions included. */
export async function readOpenApi(server: Server): Promise<OpenApiDocuments> {
  const v2 = await server.get('/openapi/v2');
  const v3: Record<string, Json> = {};
  const { paths } = await server.get('/openapi/v3');
  for (const path of Object.keys(paths).sort()) v3[path] = await server.get(paths[path].serverRelativeURL);
  return { v2, v3 };
}
