import type { PodProcessors } from '../driver.ts';
import type { Cgroups } from './cgroups.ts';

/** What the kernel assumes of a cgroup that nobody gave any. */
const USUAL_SHARES = 1024;

/** Turns of Pods at the processors, where each has a cgroup, all below the same one. */
export function podProcessors(cgroups: Cgroups, cgroupOf: (podUid: string) => string): PodProcessors {
  return {
    used: (podUid) => cgroups.cpuNanoseconds(cgroupOf(podUid)),
    giveWay: ({ pod, limits }, gives) => cgroups.giveWay(cgroupOf(pod.uid), gives, limits.cpuShares ?? USUAL_SHARES),
  };
}
