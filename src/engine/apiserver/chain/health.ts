import { textResponse, type ApiResponse } from './request.ts';

export interface HealthCheck {
  name: string;
  /** Undefined when healthy; else what is wrong. */
  check(): string | undefined;
}

/** `/livez`, `/readyz`, `/healthz` and their single checks, in the text form that kubectl and probes know. */
export function healthResponse(endpoint: string, path: string, query: URLSearchParams, checks: readonly HealthCheck[]): ApiResponse {
  const single = path.slice(endpoint.length + 1);
  const excluded = new Set(query.getAll('exclude'));
  const asked = single === '' ? checks.filter((check) => !excluded.has(check.name)) : checks.filter((check) => check.name === single);
  if (asked.length === 0 && single !== '') return textResponse(404, '404 page not found\n');
  const lines: string[] = [];
  let failed = false;
  for (const check of asked) {
    const problem = check.check();
    failed ||= problem !== undefined;
    lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${problem}`);
  }
  const name = endpoint.slice(1);
  if (failed) return textResponse(500, `${lines.join('\n')}\n${name} check failed\n`);
  return query.has('verbose') ? textResponse(200, `${lines.join('\n')}\n${name} check passed\n`) : textResponse(200, 'ok');
}
