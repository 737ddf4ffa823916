import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { customResourceDefinitions } from '../../src/api/custom-resource-definitions.ts';

const DOCUMENT = new URL('../../src/engine/apiserver/builtin/generated/openapi/v3/api_v1.json.gz', import.meta.url);

/** The CRDs of our Kinds, as the build makes them. */
export function ownCustomResourceDefinitions() {
  return customResourceDefinitions(JSON.parse(gunzipSync(readFileSync(DOCUMENT)).toString()).components.schemas);
}
