import { ContainerError } from '../../driver.ts';

/** The last complaint in the log of a runtime: one JSON object per line, `{"level":"error","msg":"..."}`. */
export function lastComplaint(log: string): string | undefined {
  for (const line of log.trim().split('\n').reverse()) {
    try {
      const { level, msg } = JSON.parse(line) as { level?: string; msg?: string };
      if (msg && (level === 'error' || level === 'fatal')) return msg;
    } catch {
      // crun writes plain text before it has read its options.
      if (line.trim() !== '') return line.trim();
    }
  }
  return undefined;
}

/**
 * What Kubernetes shows of a container that could not be started: terminated with StartError and 128, whatever the cause. The words
 * are those of containerd, after the part that names containerd itself.
 */
export function startFailure(runtime: string, complaint: string): ContainerError {
  const cause = complaint.replace(/^\w+ (run|create) failed: /, '');
  return new ContainerError('StartError', `OCI runtime create failed: ${runtime} create failed: ${cause}: unknown`);
}

/** What `kubectl exec` shows of a command that could not be started. */
export function execFailure(complaint: string): ContainerError {
  const cause = complaint.replace(/^exec failed: /, '');
  return new ContainerError('StartError', `OCI runtime exec failed: exec failed: ${cause}: unknown`);
}
