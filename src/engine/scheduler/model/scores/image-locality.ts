import { MAX_SCORE, type Score } from '../score.ts';

const MEBIBYTE = 1024 * 1024;
const LEAST = 23 * MEBIBYTE;
const MOST_PER_CONTAINER = 1000 * MEBIBYTE;

/** Nodes that have the images already; an image that few nodes have counts less, so that they do not get every Pod. */
export const imageLocality: Score = {
  name: 'ImageLocality',
  weight: 1,
  rate(pod, nodes, cluster) {
    if (nodes.every(({ images }) => images.size === 0)) return undefined;
    const images = pod.images.map(normalized);
    const spread = images.map((image) => cluster.nodes.filter((node) => node.images.has(image)).length / cluster.nodes.length);
    if (spread.every((part) => part === 0)) return undefined;
    const most = MOST_PER_CONTAINER * images.length;
    return nodes.map((node) => {
      let sum = 0;
      images.forEach((image, i) => (sum += Math.floor((node.images.get(image) ?? 0) * spread[i])));
      return Math.floor((MAX_SCORE * (Math.min(Math.max(sum, LEAST), most) - LEAST)) / (most - LEAST));
    });
  },
};

/** Nodes report images with their tag. */
function normalized(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
