import { parentPort } from 'node:worker_threads';
import { isStatusError } from '../kube/status.ts';
import { parseYamlText } from '../engine/apiserver/verbs/yaml-body.ts';

/** The thread that reads YAML for the API server; see yaml-thread.ts. Answers with JSON text: strings cross threads cheaply, objects do not. */
const MAX_JSON_LENGTH = 3 * 1024 * 1024;

parentPort!.on('message', ({ id, text }: { id: number; text: string }) => {
  try {
    const { value, duplicates } = parseYamlText(text);
    const json = JSON.stringify(value ?? null);
    if (json.length > MAX_JSON_LENGTH) parentPort!.postMessage({ id, problem: 'error converting YAML to JSON: it becomes too large' });
    else parentPort!.postMessage({ id, json, duplicates });
  } catch (error) {
    if (!isStatusError(error)) throw error;
    parentPort!.postMessage({ id, problem: error.message });
  }
});
