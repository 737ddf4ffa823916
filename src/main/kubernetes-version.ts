/** The Kubernetes that we speak. */
export const KUBERNETES_VERSION = '1.35.4';
