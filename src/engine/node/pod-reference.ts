/** Which Pod something belongs to. The uid names it on disk and in the kernel: a Pod made again under the same name is another. */
export interface PodReference {
  namespace: string;
  name: string;
  uid: string;
}
