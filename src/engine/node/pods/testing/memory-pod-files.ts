import type { Mount } from '../../drivers/driver.ts';
import type { PodReference } from '../../pod-reference.ts';
import type { PodFiles } from '../pod-files.ts';

/** Files that are not there, so that a test can move time as it likes. */
export class MemoryPodFiles implements PodFiles {
  /** Last words, by the path that the container writes them to. */
  readonly messages = new Map<string, string>();
  readonly sandboxes = new Set<string>();
  readonly removedLogs: string[] = [];

  logPath({ uid }: PodReference, container: string, attempt: number): string {
    return `/logs/${uid}/${container}/${attempt}.log`;
  }

  async attempts(): Promise<number[]> {
    return [];
  }

  async removeLogs(_pod: PodReference, container: string, attempt: number): Promise<void> {
    this.removedLogs.push(`${container}.${attempt}`);
  }

  async removeAllLogs(): Promise<void> {
    this.removedLogs.push('all');
  }

  async removeForeignLogs(): Promise<void> {}

  async known(): Promise<string[]> {
    return [...this.sandboxes];
  }

  async markSandbox(uid: string): Promise<void> {
    this.sandboxes.add(uid);
  }

  async hasSandbox(uid: string): Promise<boolean> {
    return this.sandboxes.has(uid);
  }

  async writeNetworkFiles(): Promise<void> {}

  networkMounts(): Mount[] {
    return [];
  }

  async terminationMount(uid: string, container: string, attempt: number, target: string): Promise<Mount> {
    const source = `/messages/${uid}/${container}.${attempt}`;
    this.messages.set(source, '');
    return { source, target, readOnly: false };
  }

  async terminationMessage(uid: string, container: string, attempt: number): Promise<string> {
    return this.messages.get(`/messages/${uid}/${container}.${attempt}`) ?? '';
  }

  async removeMessage(uid: string, container: string, attempt: number): Promise<void> {
    this.messages.delete(`/messages/${uid}/${container}.${attempt}`);
  }

  async remove(uid: string): Promise<void> {
    this.sandboxes.delete(uid);
  }
}
