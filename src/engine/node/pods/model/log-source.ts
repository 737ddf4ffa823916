import type { ContainerStatus } from '../../../../kube/generated/core-v1.ts';
import { quote } from '../../../../kube/go-text.ts';
import { badRequestError } from '../../../../kube/status.ts';

/**
 * Which run's log is meant, as the id of its container.
 * @throws StatusError in the kubelet's words when there is none
 */
export function loggedRun(status: ContainerStatus | undefined, podName: string, container: string, previous: boolean): string {
  const where = `container ${quote(container)} in pod ${quote(podName)}`;
  if (!status) throw badRequestError(`${where} is not available`);
  const { state, lastState } = status;
  const last = lastState?.terminated?.containerID;
  if (previous) {
    if (!last) throw badRequestError(`previous terminated ${where} not found`);
    return idOf(last);
  }
  if (state?.running) return idOf(status.containerID!);
  if (state?.terminated) {
    const id = state.terminated.containerID ?? last;
    if (!id) throw badRequestError(`${where} is terminated`);
    return idOf(id);
  }
  if (last) return idOf(last);
  const reason = state?.waiting?.reason;
  switch (reason) {
    case undefined:
      throw badRequestError(`${where} is waiting to start - no logs yet`);
    case 'ErrImagePull':
      throw badRequestError(`${where} is waiting to start: image can't be pulled`);
    case 'ImagePullBackOff':
      throw badRequestError(`${where} is waiting to start: trying and failing to pull image`);
    default:
      throw badRequestError(`${where} is waiting to start: ${reason}`);
  }
}

function idOf(containerId: string): string {
  return containerId.slice(containerId.indexOf('://') + 3);
}
