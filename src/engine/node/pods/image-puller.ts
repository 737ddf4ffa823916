import type { Container } from '../../../kube/generated/core-v1.ts';
import { quote } from '../../../kube/go-text.ts';
import type { Clock } from '../../../lib/clock.ts';
import { errorText } from '../../../lib/log.ts';
import { ImageError, type Image, type Images, type RegistryCredential } from '../images/images.ts';
import { BackOff, durationText, IMAGE_BACK_OFF } from './model/back-off.ts';
import type { PodObject } from './model/pod-object.ts';
import type { PodEvents } from './pod-events.ts';
import { StartFailure } from './start-failure.ts';

export interface ImagePullerOptions {
  images: Images;
  events: PodEvents;
  clock: Clock;
  /** From the Pod's imagePullSecrets. */
  credentials(pod: PodObject): Promise<RegistryCredential[]>;
}

/** Errors that are remembered for the message of a back-off. */
const MANY = 1000;

/** Images for containers, with the events and the back-off of a kubelet. */
export class ImagePuller {
  #options: ImagePullerOptions;
  #backOff = new BackOff(IMAGE_BACK_OFF);
  #lastError = new Map<string, string>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
  }

  /** @throws StartFailure */
  async image(pod: PodObject, container: Container, signal: AbortSignal): Promise<Image> {
    const { images, events, clock } = this.#options;
    const { image: reference = '', name, imagePullPolicy: policy = 'IfNotPresent' } = container;
    const say = (type: 'Normal' | 'Warning', reason: string, message: string) => events.record(pod, type, reason, message, name);
    if (policy !== 'Always') {
      const present = await this.#present(pod, container, signal);
      if (present) {
        say('Normal', 'Pulled', `Container image ${quote(reference)} already present on machine and can be accessed by the pod`);
        return present;
      }
    }
    const key = `${pod.metadata.uid}_${reference}`;
    const left = this.#backOff.left(key, this.#backOff.updatedAt(key) ?? 0, clock.now());
    if (left > 0) {
      const message = `Back-off pulling image ${quote(reference)}`;
      say('Normal', 'BackOff', message);
      const last = this.#lastError.get(key);
      throw new StartFailure('ImagePullBackOff', last === undefined ? message : `${message}: ${last}`, { retryAfterMs: left });
    }
    this.#lastError.delete(key);
    say('Normal', 'Pulling', `Pulling image ${quote(reference)}`);
    const began = clock.monotonic();
    try {
      const credentials = await this.#options.credentials(pod);
      const image = await images.ensure({ reference, policy, credentials, signal });
      const took = durationText(Math.round(clock.monotonic() - began));
      const size = await this.#sizeOf(image);
      const text = `Successfully pulled image ${quote(reference)} in ${took} (${took} including waiting). Image size: ${size} bytes.`;
      say('Normal', 'Pulled', text);
      this.#backOff.forget(key);
      return image;
    } catch (error) {
      if (signal.aborted) throw error;
      const { reason, message } = described(reference, error);
      say('Warning', 'Failed', `Failed to pull image ${quote(reference)}: ${errorText(error)}`);
      this.#backOff.advance(key, clock.now(), clock.now());
      this.#lastError.set(key, `${reason}: ${message}`);
      if (this.#lastError.size > MANY) this.#lastError.delete(this.#lastError.keys().next().value!);
      // A kubelet looks again soon, and then says that it waits.
      throw new StartFailure(reason, message, { retryAfterMs: 1000, cause: error });
    }
  }

  async #present(pod: PodObject, container: Container, signal: AbortSignal): Promise<Image | undefined> {
    const { images, events } = this.#options;
    const { image: reference = '', name, imagePullPolicy: policy } = container;
    try {
      const credentials = await this.#options.credentials(pod);
      return await images.ensure({ reference, policy: 'Never', credentials, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = error instanceof ImageError ? error.reason : 'ImageInspectError';
      if (reason === 'InvalidImageName') {
        events.record(pod, 'Warning', 'InspectFailed', errorText(error), name);
        throw new StartFailure(reason, errorText(error), { cause: error });
      }
      if (reason !== 'ErrImageNeverPull') {
        const message = `Failed to inspect image ${quote(reference)}: ${errorText(error)}`;
        events.record(pod, 'Warning', 'InspectFailed', message, name);
        throw new StartFailure('ImageInspectError', message, { cause: error });
      }
      if (policy !== 'Never') return undefined;
      const message = `Container image ${quote(reference)} is not present with pull policy of Never`;
      events.record(pod, 'Warning', 'ErrImageNeverPull', message, name);
      throw new StartFailure('ErrImageNeverPull', message, { cause: error });
    }
  }

  async #sizeOf(image: Image): Promise<number> {
    const digest = image.id.slice(image.id.lastIndexOf('@') + 1);
    return (await this.#options.images.list()).find((stored) => stored.digest === digest)?.sizeBytes ?? 0;
  }
}

function described(reference: string, error: unknown): { reason: string; message: string } {
  const text = errorText(error);
  if (!(error instanceof ImageError)) return { reason: 'ErrImagePull', message: text };
  if (error.reason === 'RegistryUnavailable') {
    return { reason: error.reason, message: `image pull failed for ${reference} because the registry is unavailable: ${text}` };
  }
  return { reason: error.reason, message: text };
}
