/** What the administrator decided about copies; HNC has these as flags of its manager. */
export interface PropagationSettings {
  /** Keys of annotations and labels that stay on the source. */
  unpropagatedAnnotations: readonly string[];
  unpropagatedLabels: readonly string[];
  /** Objects with one of these labels are never copied. */
  noPropagationLabels: readonly { key: string; value: string }[];
}

export const DEFAULT_PROPAGATION_SETTINGS: PropagationSettings = {
  unpropagatedAnnotations: [],
  unpropagatedLabels: [],
  // Rancher makes these in every namespace itself.
  noPropagationLabels: [{ key: 'cattle.io/creator', value: 'norman' }],
};
