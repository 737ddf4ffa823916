import { parentPort } from 'node:worker_threads';
import { isStatusError } from '../kube/status.ts';
import { parseYamlText } from '../engine/apiserver/verbs/yaml-body.ts';

/** The thread that reads YAML for the API server; see yaml-thread.ts. Answers with JSON text: strings cross threads cheaply, objects do not. */
const MAX_JSON_LENGTH = 3 * 1024 * 1024;

/** What goes back: the text, or what is wrong with it. */
function convert(text: string): { json: string; duplicates: string[] } | { problem: string } {
  try {
    const { value, duplicates } = parseYamlText(text);
    const json = JSON.stringify(value ?? null);
    return json.length > MAX_JSON_LENGTH ? { problem: 'error converting YAML to JSON: it becomes too large' } : { json, duplicates };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { problem: error.message };
  }
}

parentPort!.on('message', ({ id, text }: { id: number; text: string }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort!.postMessage({ id, ...convert(text) });
});
