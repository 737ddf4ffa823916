const TEXTS: Record<number, string> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};
const MAX_SHOWN = 2048;

/** What client-go makes of an answer that is not a success: the message of a Status if it is one, else a sentence for the code. */
export function serverStatusText(code: number, body: string): string {
  const status = parsedStatus(body);
  if (status !== undefined) return status;
  const shown = body.trim().slice(0, MAX_SHOWN);
  if (code === 403 || code === 406 || code === 415) return shown || 'unknown';
  if (TEXTS[code]) return TEXTS[code];
  if (code >= 500) return `an error on the server (${JSON.stringify(shown || 'unknown')}) has prevented the request from succeeding`;
  return `the server responded with the status code ${code} but did not return more details`;
}

function parsedStatus(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    const { kind, message } = value as { kind?: string; message?: string };
    return kind === 'Status' ? message : undefined;
  } catch {
    return undefined;
  }
}
