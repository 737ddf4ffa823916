import { readReference, type ImageReference } from '../../../../lib/oci/reference.ts';
import { ImageError } from '../images.ts';

/** Reads a reference by Docker's rules. @throws ImageError InvalidImageName, in the words of the kubelet */
export function parseReference(text: string): ImageReference {
  const parsed = readReference(text);
  if (typeof parsed !== 'string') return parsed;
  const quoted = JSON.stringify(text);
  throw new ImageError('InvalidImageName', `Failed to apply default image tag ${quoted}: couldn't parse image name ${quoted}: ${parsed}`);
}
