/** In the folder of the Runs: written by the Runtime Server, read by runtimed, out of sight of Runs in `process` isolation. */
export const KEY_FILE = '.runtime-key';
/** The header that carries it. */
export const KEY_HEADER = 'x-runtime-key';
