import { TransportError } from '../../client/transport-error.ts';
import { StatusError } from '../../kube/status.ts';

/** The sentence for a failure: what could not be done, why, and what to do about it. */
export function explain(doing: string, error: unknown, where: { server: string; namespace: string }): Error {
  if (error instanceof StatusError) return new Error(`Cannot ${doing}: ${refusalText(error, where)}`, { cause: error });
  if (error instanceof TransportError) return new Error(transportText(doing, error), { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

function refusalText(error: StatusError, { namespace, server }: { server: string; namespace: string }): string {
  if (error.reason === 'NotFound') {
    const { name, kind } = error.status.details ?? {};
    if (kind === 'namespaces') return `there is no namespace "${name}"; create it, or name another with -n`;
    if (!name)
      return `"${server}" does not know such objects; install Tenantry's custom resource definitions there, or name another cluster`;
    if (kind === 'tenants') return 'there is none of that name; `tenantry tenant list` shows what there is';
    const list = kind === 'runtimes' ? 'krt runtime list' : 'krt list';
    return `there is none in namespace "${namespace}"; \`${list} -A\` shows what there is`;
  }
  if (error.reason === 'Forbidden') return error.message + forbiddenHint(error.message);
  if (error.reason === 'Unauthorized') return `"${server}" does not accept who you are; check the credentials of your kubeconfig`;
  return error.message;
}

/** Refusals of rules say themselves what to do. */
function forbiddenHint(message: string): string {
  if (/ cannot \w+ resource /.test(message)) return '; ask for the right, or be somebody else with --as, --token or --context';
  return /exceeded (hierarchical )?quota/.test(message) ? '; use less, or have the limit raised' : '';
}

function transportText(doing: string, error: TransportError): string {
  if (error.code === 'Unreachable')
    return `${error.message.replace('is the server running?', 'is it running?')} \`tenantry up\` starts an instance here`;
  // The others are whole sentences, or speak of what the user asked for.
  return error.message.startsWith('Cannot ') ? error.message : `Cannot ${doing}: ${error.message}`;
}

/** Runs what a command does and says what failed, if something does. */
export async function attempting<T>(doing: string, where: { server: string; namespace: string }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explain(doing, error, where);
  }
}
