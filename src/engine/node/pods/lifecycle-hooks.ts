import type { Container, LifecycleHandler } from '../../../kube/generated/core-v1.ts';
import { quote } from '../../../kube/go-text.ts';
import { sleep } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { errorText } from '../../../lib/log.ts';
import { podText, type PodObject } from './model/pod-object.ts';

export interface HookPorts {
  clock: Clock;
  /** Runs a command in the container and waits for its end. */
  exec(runId: string, command: string[], signal: AbortSignal): Promise<{ exitCode: number; output: string }>;
  /** Any answer will do. */
  httpGet(action: NonNullable<LifecycleHandler['httpGet']>, container: Container, podIp: string, signal: AbortSignal): Promise<void>;
}

export interface HookTarget {
  pod: PodObject;
  container: Container;
  runId: string;
  podIp: string;
}

/** postStart or preStop. Rejects with the message that a waiting container shows. */
export async function runHook(ports: HookPorts, target: HookTarget, handler: LifecycleHandler, signal: AbortSignal): Promise<void> {
  const where = `for Container ${quote(target.container.name)} in Pod ${quote(podText(target.pod))} failed`;
  if (handler.exec) {
    const command = handler.exec.command ?? [];
    const title = `Exec lifecycle hook ([${command.join(' ')}]) ${where}`;
    const { exitCode, output } = await ports.exec(target.runId, command, signal).catch((error: unknown) => {
      throw new Error(`${title} - error: ${errorText(error)}, message: ""`, { cause: error });
    });
    if (exitCode !== 0) {
      throw new Error(`${title} - error: command '${command.join(' ')}' exited with ${exitCode}: ${output}, message: ${quote(output)}`);
    }
  } else if (handler.httpGet) {
    const { path = '' } = handler.httpGet;
    await ports.httpGet(handler.httpGet, target.container, target.podIp, signal).catch((error: unknown) => {
      throw new Error(`HTTP lifecycle hook (${path}) ${where} - error: ${errorText(error)}`, { cause: error });
    });
  } else if (handler.sleep) {
    await sleep(ports.clock, handler.sleep.seconds * 1000, signal).catch((error: unknown) => {
      throw new Error(
        `Sleep lifecycle hook (${handler.sleep!.seconds}) ${where} - error: container terminated before sleep hook finished`,
        { cause: error },
      );
    });
  } else throw new Error('Cannot run handler: invalid handler');
}
